"""A reader of gate responses as it is often written, and wrong: it shows that the conformance kit can fail a program.

    gategrammar conformance --command 'python examples/naive_regex.py'
    gategrammar conformance --command 'python examples/naive_regex.py --first-match'

The first way is one anchored pattern with DOTALL and lazy groups: a group may run over the end of its element, so a
second response in the text becomes memory. The second way looks for each element by itself and takes the first match:
what is quoted in the reasoning counts as the answer, and neither order nor number matters.
"""

import json
import re
import sys

ELEMENTS = {"think": ".*?", "check": "yes|no", "update": ".*?", "next": "continue|end"}
WHOLE = re.compile(
    r"\s*" + r"\s*".join(rf"<{name}>\s*({value})\s*</{name}>" for name, value in ELEMENTS.items()) + r"\s*", re.DOTALL
)
EACH = [re.compile(rf"<{name}>\s*(.*?)\s*</{name}>", re.DOTALL) for name in ELEMENTS]


def anchored(text: str) -> list[str] | None:
    """Match the whole text at once."""
    match = WHOLE.fullmatch(text)
    return list(match.groups()) if match else None


def first_match(text: str) -> list[str] | None:
    """Match each element wherever it comes first."""
    matches = [pattern.search(text) for pattern in EACH]
    return [match[1] for match in matches if match] if all(matches) else None


def main() -> None:
    """Read one response, print the verdict; what is missing is a guess, since the pattern does not say."""
    text = sys.stdin.buffer.read().decode()
    contents = first_match(text) if "--first-match" in sys.argv else anchored(text)
    if contents is None:
        error = {"kind": "missing", "tag": "think", "offset": 0}
        print(json.dumps({"result": None, "error": error}))
        return
    think, check, update, next_ = contents
    result = {"think": think, "update_gate": check == "yes", "candidate": update, "exit_gate": next_ == "end"}
    print(json.dumps({"result": result, "error": None}))


if __name__ == "__main__":
    main()
