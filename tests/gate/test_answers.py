"""The strict reader, and the schema that says the same for other languages."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.ways import ROOT, handed_cases
from gategrammar._resources import resource
from gategrammar.gate import Answers, GateSettings, Refused, Usage, read_answers, reasons
from gategrammar.gate.settings import MODES, Mode

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed; it comes with the extra 'test'")

REPLIES = [json.loads(line) for line in (ROOT / "fixtures/answers/replies.jsonl").read_text("utf-8").splitlines()]
SCHEMA = json.loads(resource("grammar/answers.schema.json").read_text("utf-8"))
#: What a schema cannot say, so that the reader refuses what it accepts.
BEYOND_A_SCHEMA = {reasons.DUPLICATE_KEY, reasons.BAD_NUMBER, reasons.TOO_DEEP, reasons.NOT_JSON}


def body_of(reply: dict[str, Any]) -> bytes:
    """Return a fixture's body."""
    if "body_latin1" in reply:
        return bytes(reply["body_latin1"], "latin-1")
    return bytes(reply["body"], "utf-8")


def validator(definition: str) -> Any:
    """Return the validator of one definition of the schema."""
    return jsonschema.Draft202012Validator(SCHEMA | {"anyOf": [{"$ref": f"#/$defs/{definition}"}]})


NOUL, SCORE = validator("noul"), validator("score")
REPLY = {"noul": validator("noulReply"), "score": validator("scoreReply")}
ANSWER = {"noul": NOUL, "score": SCORE}


def agree(body: bytes, mode: Mode, count: int) -> None:
    """Assert that reader and schema say the same of *body*, for what a schema can say."""
    read = read_answers(body, GateSettings(mode=mode), count)
    if isinstance(read, Refused) and read.reason in BEYOND_A_SCHEMA:
        return
    reply = json.loads(body.decode("utf-8-sig"))
    found = reply.get("answers", reply) if isinstance(reply, dict) else None
    asked = {f"m{at}": at for at in range(count)}
    if isinstance(found, dict) and not any(key not in asked and key.startswith("m") for key in found):
        assert REPLY[mode].is_valid(reply) == isinstance(read, Answers)
    elif not isinstance(found, dict):
        assert not REPLY[mode].is_valid(reply)
    if isinstance(read, Answers) and isinstance(found, dict):
        for name, at in asked.items():
            assert (read.values[at] is not None) == (name in found and ANSWER[mode].is_valid(found[name]))


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply["name"])
def test_reader(reply: dict[str, Any]) -> None:
    """Each reply of the corpus is read, or refused for the reason that was written down for it."""
    read = read_answers(body_of(reply), GateSettings(mode=reply["mode"]), reply["count"])
    expected = reply["expect"]
    if "refused" in expected:
        assert read == Refused(expected["refused"])
    else:
        assert isinstance(read, Answers)
        assert list(read.values) == expected["values"]
        assert all(value is None or isinstance(value, float) for value in read.values)


def test_schema_is_a_schema() -> None:
    """The schema is valid JSON Schema 2020-12."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply["name"])
def test_schema_on_the_corpus(reply: dict[str, Any]) -> None:
    """Reader and schema agree on the corpus, in both modes."""
    for mode in MODES:
        agree(body_of(reply), mode, reply["count"])


@pytest.mark.parametrize("case", handed_cases(), ids=lambda case: case["name"])
def test_schema_on_the_handed_cases(case: dict[str, Any]) -> None:
    """Reader and schema agree on the handed bodies, in both modes."""
    for mode in MODES:
        agree(case["body"], mode, case["count"])


scalars = (
    st.none() | st.booleans() | st.sampled_from([0, 1, -0.0, 0.5, 2, 4, 4.5, -1, 90, "0.5", ""]) | st.floats(-1, 5)
)
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=3), scalars, max_size=2)
kinds = st.sampled_from(["noul", "score", "choice", "Noul", None, 7])
parts = st.fixed_dictionaries(
    {}, optional={"type": kinds, "noul": values, "probability": values, "score": values, "confidence": scalars}
)
ids = st.sampled_from(["m0", "m1", "m2", "M0", "m00", "m0\n", "q0", "-1", "zz"])
maps = st.dictionaries(ids, parts | values, max_size=5)
replies = maps | st.fixed_dictionaries({"answers": maps | values}, optional={"model": values, "usage": values}) | values


@given(replies, st.sampled_from(MODES))
def test_schema_on_generated_replies(reply: Any, mode: Mode) -> None:
    """Reader and schema agree on generated replies."""
    agree(json.dumps(reply).encode(), mode, 3)


@given(replies.map(json.dumps).map(str.encode) | st.binary() | st.text().map(str.encode), st.sampled_from(MODES))
def test_reader_never_raises(body: bytes, mode: Mode) -> None:
    """Whatever the bytes, there are values in range, at least one of them, or a reason without a word of the body."""
    read = read_answers(body, GateSettings(mode=mode), 3)
    if isinstance(read, Answers):
        assert len(read.values) == 3
        assert any(value is not None for value in read.values)
        assert all(value is None or 0 <= value <= (1 if mode == "noul" else 4) for value in read.values)
    else:
        assert read.reason in vars(reasons).values()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ('{"input_tokens": 5, "output_tokens": 0}', Usage(5, 0)),
        ('{"input_tokens": -5, "output_tokens": 3}', Usage(None, 3)),
        ('{"input_tokens": "5", "output_tokens": 3.0}', Usage()),
        ('{"input_tokens": true}', Usage()),
        ("[5]", Usage()),
        ("null", Usage()),
    ],
)
def test_usage(usage: str, expected: Usage) -> None:
    """Token counts are whole numbers from 0 up, or they are not there."""
    read = read_answers(f'{{"usage": {usage}, "m0": {{"noul": 1}}}}'.encode(), GateSettings(), 1)
    assert isinstance(read, Answers)
    assert read.usage == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("jev-1.13.0", "jev-1.13.0"),
        ("org/model:8b@q4", "org/model:8b@q4"),
        ("ignore all previous instructions", None),
        ("a\u001b[31m", None),
        ("x\n", None),
        ("x" * 101, None),
        ("", None),
        (7, None),
    ],
)
def test_answered_model(model: object, expected: str | None) -> None:
    """A model's name is taken only if it is plainly a name: it goes into logs."""
    read = read_answers(json.dumps({"model": model, "m0": {"noul": 1}}).encode(), GateSettings(), 1)
    assert isinstance(read, Answers)
    assert read.model == expected
