"""Why a decision is not a plain verdict: every reason the gate can give, spelled here and nowhere else (docs/gate.md).

A reason goes into logs and into a model's context. So each is fixed wording: of what a server sent, only the status
number gets in, and an error type that is on the list below. ``docs/gate.md`` explains each; a test holds them equal.
"""

import json
from typing import Final

# The page was not judged, and says so (degraded).
CONNECTION_FAILED: Final = "connection failed"
TLS_FAILED: Final = "TLS handshake failed"
REQUEST_FAILED: Final = "request failed"
REDIRECT: Final = "redirect refused"
NOT_DECODABLE: Final = "reply could not be decoded"
NOT_JSON: Final = "reply is not valid JSON"
NOT_AN_OBJECT: Final = "reply is not a JSON object"
TOO_DEEP: Final = "reply is nested too deeply"
DUPLICATE_KEY: Final = "reply has a duplicate key"
BAD_NUMBER: Final = "reply has a number outside JSON or double range"
ANSWERS_NOT_AN_OBJECT: Final = "answers is not a JSON object"
NO_READABLE_ANSWER: Final = "no readable answer"
NO_TASK: Final = "no task to judge by"
SETTINGS_UNAVAILABLE: Final = "settings unavailable"
CLOSED: Final = "gate is closed"

# The gate is off (inactive).
DISABLED: Final = "disabled in the settings"
NO_ENDPOINT: Final = "no endpoint in the settings"
NO_KEY: Final = "no API key"
UNUSABLE_KEY: Final = "the API key is not printable ASCII without spaces"

#: The error types that compatible servers are known to send. Any other is foreign text and stays out.
ERROR_TYPES: Final = frozenset(
    {
        "api_usage_error",
        "authentication_error",
        "internal_error",
        "invalid_request_error",
        "max_tokens_exceeded",
        "not_found",
        "overloaded_error",
        "permission_error",
        "rate_limit_error",
        "validation_error",
    }
)


def timed_out(seconds: float) -> str:
    """Return the reason of a page whose deadline, *seconds* long, passed."""
    return f"timed out after {seconds:g} s"


def too_large(limit: int) -> str:
    """Return the reason of a page whose reply, once decompressed, went over *limit* bytes."""
    return f"reply is larger than {limit} bytes"


def floor_kept(count: int) -> str:
    """Return the note of a page of which only the floor of *count* candidates stayed."""
    return f"no candidate reached the threshold; kept the best {count}"


def http_status(status: int, body: bytes) -> str:
    """Return the reason of a page answered with *status*; the error type in *body* only if it is on the list."""
    try:
        error_type = json.loads(body)["detail"]["error_type"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        error_type = None
    known = isinstance(error_type, str) and error_type in ERROR_TYPES
    return f"HTTP {status} ({error_type})" if known else f"HTTP {status}"
