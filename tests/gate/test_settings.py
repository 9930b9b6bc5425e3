"""Settings are checked when they are built, each with an error that names what is wrong."""

from typing import Any

import pytest

from gate.ways import page
from gategrammar.gate import CRITERIA, LEVELS, Candidate, GateSettings, build_request
from gategrammar.gate.questions import cut, well_formed


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"endpoint": "ftp://h/"}, "endpoint must start with http"),
        ({"endpoint": "api.typesafe.ai"}, "endpoint must start with http"),
        ({"endpoint": "https://"}, "endpoint is not a valid URL"),
        ({"endpoint": "https://h:99999/"}, "endpoint is not a valid URL"),
        ({"endpoint": "https://h:0/"}, "endpoint is not a valid URL"),
        ({"endpoint": "https://[::1/"}, "endpoint is not a valid URL"),
        ({"endpoint": "https://h/a b"}, "endpoint is not a valid URL"),
        ({"endpoint": "https://h/\n"}, "endpoint is not a valid URL"),
        ({"endpoint": "https://münchen.de/"}, "xn--"),
        ({"endpoint": "https://h/#part"}, "endpoint is not a valid URL"),
        ({"endpoint": r"https://localhost\@evil.example/"}, "endpoint"),
        ({"endpoint": "https://user:hunter2@h/"}, "endpoint must not hold a user name or password"),
        ({"endpoint": "http://example.org/"}, "endpoint must be https"),
        ({"endpoint": "HTTP://example.org/"}, "endpoint must be https"),
        ({"endpoint": "http://127.0.0.1.example.org/"}, "endpoint must be https"),
        ({"endpoint": "http://localhost.example.org/"}, "endpoint must be https"),
        ({"endpoint": 7}, "endpoint must be a str, not int"),
        ({"endpoint": None}, "endpoint must be a str, not NoneType"),
        ({"model": " "}, "model must not be blank"),
        ({"mode": "Noul"}, "mode must be one of noul, score, not 'Noul'"),
        ({"mode": None}, "mode must be one of"),
        ({"threshold": 1.1}, "threshold must be from 0 to 1"),
        ({"threshold": float("nan")}, "threshold must be a finite number"),
        ({"threshold": True}, "threshold must be a finite number"),
        ({"threshold": "0.5"}, "threshold must be a finite number"),
        ({"score_min": 4.1}, "score_min must be from 0 to 4, the highest level"),
        ({"score_min": -1}, "score_min must be from 0 to 4"),
        ({"levels": ["a", "b"]}, "score_min must be from 0 to 1, the highest level, not 2.0"),
        ({"levels": ["a"]}, "levels must be 2 to 10"),
        ({"levels": ["a"] * 11}, "levels must be 2 to 10"),
        ({"levels": ["a", " ", "c"]}, "levels must be 2 to 10 non-blank"),
        ({"levels": "abc"}, "levels must be a list or tuple of str"),
        ({"min_keep": 0}, "min_keep must be a whole number from 1 to 1073741824, not 0"),
        ({"max_candidates": 0}, "max_candidates must be a whole number"),
        ({"max_candidates": 2.0}, "max_candidates must be a whole number"),
        ({"max_task_chars": 0}, "max_task_chars must be"),
        ({"max_keywords": -1}, "max_keywords must be"),
        ({"retries": True}, "retries must be a whole number"),
        ({"timeout": 0}, "timeout must be more than 0 and at most"),
        ({"timeout": 1e10}, "timeout must be more than 0 and at most 86400 seconds"),
        ({"max_response_bytes": 1 << 40}, "max_response_bytes must be a whole number from 1 to"),
        ({"timeout": float("inf")}, "timeout must be a finite number"),
        ({"question": ""}, "question must not be blank"),
        ({"criteria": {"true": "a"}}, "criteria must be a mapping with the two keys"),
        ({"criteria": {"true": "a", "false": ""}}, "criteria must give a non-blank"),
        ({"criteria": "yes"}, "criteria must be a mapping"),
        ({"api_key": 7}, "api_key must be a str or None, not int"),
        ({"api_key_env": None}, "api_key_env must be a str"),
        ({"enabled": 1}, "enabled must be True or False, not int"),
        ({"allow_http": "no"}, "allow_http must be True or False"),
    ],
)
def test_refused(given: dict[str, Any], message: str) -> None:
    """Each wrong setting is a ValueError that names it and says what fits; no password is quoted."""
    with pytest.raises(ValueError, match=message) as caught:
        GateSettings(**given)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"endpoint": ""},
        {"endpoint": "http://localhost:8080/v1"},
        {"endpoint": "http://judge.localhost/"},
        {"endpoint": "http://127.9.9.9/"},
        {"endpoint": "http://[::1]:1/"},
        {"endpoint": "http://example.org/", "allow_http": True},
        {"endpoint": "https://xn--mnchen-3ya.de/judge?tenant=1"},
        {"threshold": 0, "score_min": 4, "min_keep": 10**6},
        {"api_key": ""},
        {"levels": ["low", "high"], "score_min": 1},
    ],
)
def test_accepted(given: dict[str, Any]) -> None:
    """What is right at its edges is accepted."""
    assert GateSettings(**given)


def test_repr_hides_what_is_secret() -> None:
    """Neither the key nor the query of the endpoint is shown."""
    shown = repr(GateSettings(endpoint="https://h/v1?token=hunter2", api_key="hunter2"))
    assert "hunter2" not in shown
    assert "https://h/v1" in shown
    assert "api_key=<hidden>" in shown
    assert "api_key=None" in repr(GateSettings())


def test_criteria_are_copied() -> None:
    """Changing the host's mapping afterwards does not change checked settings."""
    mine = dict(CRITERIA)
    settings = GateSettings(criteria=mine)
    mine["true"] = ""
    assert settings.criteria["true"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hash": ""}, "hash must not be blank"),
        ({"hash": 7}, "hash must be a str"),
        ({"hash": "a", "title": None}, "title must be a str, not NoneType"),
        ({"hash": "a", "keywords": "abc"}, "keywords must be a list or tuple of str"),
        ({"hash": "a", "keywords": ["a", 1]}, "keywords must be a list or tuple of str"),
    ],
)
def test_candidate_refused(given: dict[str, Any], message: str) -> None:
    """A candidate of wrong types is refused when it is made, not when it is judged."""
    with pytest.raises(ValueError, match=message):
        Candidate(**given)


def test_request() -> None:
    """The request is the one of the contract: ids by position, no hash, page order, both modes."""
    candidates = [Candidate(hash="secret-hash", title="T", summary="S", keywords=["k"], kind="fact"), *page(2)]
    request = build_request(" fix \n\t it ", candidates, GateSettings(max_candidates=2, question="Q?"))
    assert request == {
        "model": "jev-latest",
        "state": {"task": "fix it"},
        "questions": {
            "m0": {
                "type": "noul",
                "instructions": {
                    "question": "Q?",
                    "candidate": {"title": "T", "summary": "S", "keywords": ["k"], "kind": "fact"},
                },
                "criteria": dict(CRITERIA),
            },
            "m1": {
                "type": "noul",
                "instructions": {
                    "question": "Q?",
                    "candidate": {"title": "Title 0", "summary": "…", "keywords": ["a", "b"], "kind": ""},
                },
                "criteria": dict(CRITERIA),
            },
        },
    }
    assert list(request["questions"]) == ["m0", "m1"]
    score = build_request("t", candidates, GateSettings(mode="score"))
    assert score["questions"]["m0"]["type"] == "score"
    assert score["questions"]["m0"]["criteria"] == list(LEVELS)


def test_limits() -> None:
    """Texts are cut to their limit, the ellipsis included; keywords in number and length."""
    long = Candidate(hash="a", title="t" * 301, summary="s" * 1201, keywords=("k" * 101,) * 40)
    shown = build_request("x" * 2001, [long], GateSettings())["questions"]["m0"]["instructions"]["candidate"]
    assert shown["title"] == "t" * 299 + "…"
    assert shown["summary"] == "s" * 1199 + "…"
    assert shown["keywords"] == ["k" * 99 + "…"] * 32
    assert build_request("x" * 2001, [long], GateSettings())["state"]["task"] == "x" * 1999 + "…"
    assert build_request("x" * 2000, [long], GateSettings())["state"]["task"] == "x" * 2000


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("end\ud83d", "end\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("\ufeffbom", "\ufeffbom"),
        ("汉😀", "汉😀"),
    ],
)
def test_well_formed(text: str, sent: str) -> None:
    """Lone surrogates are replaced, two that make a pair are joined, all else is left."""
    assert well_formed(text) == sent


def test_cut_counts_code_points() -> None:
    """A cut never splits a character beyond the BMP, even one that came as two surrogates."""
    assert cut("😀😀😀", 2) == "😀…"
    assert cut("\ud83d\ude00" * 2, 2) == "😀😀"
