"""Messages of litellm's own types, which drop the fields that are null; run by hand, not by pytest.

    python -m venv lit && lit/bin/pip install . litellm
    lit/bin/python tests/integration/litellm_messages.py

litellm is 380 MB with what it needs. The tests use objects with attributes in its place, made after these.
"""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"  # importing litellm fetches a price list otherwise

from importlib.metadata import version

from litellm.types.utils import Choices, Message, ModelResponse

from gategrammar import GateParseError, parse, parse_message

ANSWER = "<check>yes</check><update>b</update><next>end</next>"
GOOD = f"<think>a</think>{ANSWER}"


def failure(message: object) -> str:
    """Return what is wrong with *message*."""
    try:
        parse_message(message)
    except GateParseError as error:
        return str(error)
    raise AssertionError("it parses")


if __name__ == "__main__":
    plain, apart = Message(content=GOOD), Message(content=ANSWER, reasoning_content=" a ")
    for message in (plain, apart):
        whole = ModelResponse(choices=[Choices(message=message, finish_reason="stop")])
        for shape in (whole, whole.choices[0], message):
            assert parse_message(shape) == parse(GOOD)
    cut = ModelResponse(choices=[Choices(message=Message(content=GOOD[:40]), finish_reason="length")])
    assert "max_tokens" in failure(cut)
    assert "called a tool" in failure(
        Message(
            content=None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
        )
    )
    assert "no content" in failure(Message(content=None))
    print(f"litellm {version('litellm')}: all right")
