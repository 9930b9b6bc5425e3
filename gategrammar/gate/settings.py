"""What a host can set about the gate, checked when it is built (docs/gate.md)."""

import ipaddress
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from attrs import field, frozen

from gategrammar.gate._checks import are_texts, as_tuple, finite, is_filled, is_flag, is_text, need, whole

Mode: TypeAlias = Literal["noul", "score"]
MODES: Final[tuple[Mode, ...]] = ("noul", "score")

DEFAULT_ENDPOINT: Final = "https://api.typesafe.ai/v1/systemone"

#: What the judge is asked about each candidate; backticks name the data fields beside it.
QUESTION: Final = "Would the stored memory in `candidate` help somebody who is working on `task`?"
#: What the two ends of a ``noul`` answer mean.
CRITERIA: Final = {
    "true": "The memory states facts, decisions, steps or pitfalls that bear on the task itself.",
    "false": "The memory is about something else, or only happens to share words with the task.",
}
#: What the levels of a ``score`` answer mean, from 0 up.
LEVELS: Final = (
    "Unrelated: nothing in the memory bears on the task.",
    "Same field only: the subject is near, but the memory would not be used for the task.",
    "Background: reading the memory may save some time on the task.",
    "Useful: the memory answers a part of the task or warns of a mistake in it.",
    "Decisive: the task should not be started without this memory.",
)

#: Printable ASCII without spaces, backslashes (some readers take one for a slash) and fragments.
_URL_TEXT: Final = re.compile(r"[!-\"$-\[\]-~]+")
_USABLE_KEY: Final = re.compile(r"[!-~]+")
_FEWEST_LEVELS, _MOST_LEVELS = 2, 10
_LONGEST: Final = 86_400


def is_usable_key(key: str) -> bool:
    """Tell whether *key* can stand in a header: printable ASCII without spaces."""
    return _USABLE_KEY.fullmatch(key) is not None


@lru_cache(maxsize=64)
def is_loopback(endpoint: str) -> bool:
    """Tell whether the host of the URL *endpoint* is this machine."""
    host = urlsplit(endpoint).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _endpoint_fault(endpoint: str) -> str | None:
    """Say what is wrong with *endpoint*, never quoting it: it may hold a password."""
    try:
        parts = urlsplit(endpoint)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        return "is not a valid URL"
    if parts.scheme not in {"http", "https"}:
        return "must start with http:// or https://"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or password; give the key as api_key, resolve_key or in the environment"
    if not parts.hostname or not port_is_valid or not _URL_TEXT.fullmatch(endpoint):
        return "is not a valid URL (a host name beyond ASCII is written in its xn-- form)"
    return None


def _shown_endpoint(endpoint: str) -> str:
    """Show an endpoint without its query, in which some gateways take a token."""
    return repr(endpoint.partition("?")[0])


def is_mode(_: object, field: Any, value: object) -> None:
    """Refuse what is no mode."""
    need(value in MODES, f"{field.name} must be one of {', '.join(MODES)}, not {value!r}")


def _own_copy(criteria: object) -> object:
    """Copy a mapping, so that a later change of the host's does not reach the settings unchecked."""
    return dict(criteria) if isinstance(criteria, Mapping) else criteria


def _shown_key(key: str | None) -> str:
    return repr(key) if key is None else "<hidden>"


@frozen(kw_only=True)
class GateSettings:
    """The settings of a gate; every fault is a ValueError that names the setting (docs/gate.md).

    Args:
        endpoint: URL of the decision server, http only for this machine; an empty one turns the gate off.
        model: the model asked for.
        mode: ``noul`` asks for P(yes) from 0 to 1, ``score`` for a level from 0 to ``len(levels) - 1``.
        threshold: in noul mode a candidate stays from this value on.
        score_min: in score mode a candidate stays from this value on.
        min_keep: how many stay when none passes.
        max_candidates: how many of a page are asked about; the rest stays unjudged.
        max_task_chars: the task is cut to this many code points.
        max_summary_chars: as ``max_task_chars``, for a summary.
        max_title_chars: as ``max_task_chars``, for a title.
        max_keywords: so many keywords are sent.
        question: the judge's question, in both modes.
        criteria: what true and false mean in noul mode.
        levels: what each level means in score mode, lowest first, 2 to 10.
        timeout: seconds, up to a day, for a whole page: key look-up, connect, all tries, last byte.
        retries: how often a busy server (429, 503, 529) or a failed connect is tried again.
        max_response_bytes: a reply longer than this, decompressed, is refused.
        api_key: the key itself; in no repr.
        api_key_env: the environment variable that holds the key, and the reference given to ``resolve_key``.
        enabled: False turns the gate off.
        allow_http: allow plain http to other machines.
    """

    endpoint: str = field(default=DEFAULT_ENDPOINT, repr=_shown_endpoint)
    model: str = field(default="jev-latest", validator=is_filled)
    mode: Mode = field(default="noul", validator=is_mode)
    threshold: float = field(default=0.5, validator=finite)
    score_min: float = field(default=2.0, validator=finite)
    min_keep: int = field(default=1, validator=whole(1))
    max_candidates: int = field(default=20, validator=whole(1))
    max_task_chars: int = field(default=2000, validator=whole(1))
    max_summary_chars: int = field(default=1200, validator=whole(1))
    max_title_chars: int = field(default=300, validator=whole(1))
    max_keywords: int = field(default=32, validator=whole(0))
    question: str = field(default=QUESTION, validator=is_filled)
    criteria: Mapping[str, str] = field(default=CRITERIA, converter=_own_copy, hash=False)
    levels: tuple[str, ...] = field(default=LEVELS, converter=as_tuple, validator=are_texts)
    timeout: float = field(default=8.0, validator=finite)
    retries: int = field(default=1, validator=whole(0))
    max_response_bytes: int = field(default=1 << 20, validator=whole(1))
    api_key: str | None = field(default=None, repr=_shown_key)
    api_key_env: str = field(default="TYPESAFE_API_KEY", validator=is_text)
    enabled: bool = field(default=True, validator=is_flag)
    allow_http: bool = field(default=False, validator=is_flag)

    @endpoint.validator
    def _check_endpoint(self, field: Any, endpoint: object) -> None:
        is_text(self, field, endpoint)
        fault = _endpoint_fault(str(endpoint)) if endpoint else None
        need(fault is None, f"endpoint {fault}")

    @criteria.validator
    def _check_criteria(self, _: Any, criteria: object) -> None:
        fits = isinstance(criteria, dict) and set(criteria) == set(CRITERIA)
        need(fits, "criteria must be a mapping with the two keys true and false")
        filled = isinstance(criteria, dict) and all(
            isinstance(text, str) and text.strip() for text in criteria.values()
        )
        need(filled, "criteria must give a non-blank str for true and for false")

    @api_key.validator
    def _check_key(self, _: Any, key: object) -> None:
        need(key is None or isinstance(key, str), f"api_key must be a str or None, not {type(key).__name__}")
        fits = not isinstance(key, str) or not key.strip() or is_usable_key(key)
        need(fits, "api_key must be printable ASCII without spaces")

    def __attrs_post_init__(self) -> None:
        """Check what depends on two settings, and the ranges."""
        need(0 <= self.threshold <= 1, f"threshold must be from 0 to 1, not {self.threshold!r}")
        count = len(self.levels)
        fits = _FEWEST_LEVELS <= count <= _MOST_LEVELS and all(level.strip() for level in self.levels)
        need(fits, f"levels must be {_FEWEST_LEVELS} to {_MOST_LEVELS} non-blank descriptions")
        fits = 0 <= self.score_min <= count - 1
        need(fits, f"score_min must be from 0 to {count - 1}, the highest level, not {self.score_min!r}")
        fits = 0 < self.timeout <= _LONGEST
        need(fits, f"timeout must be more than 0 and at most {_LONGEST} seconds, not {self.timeout!r}")
        private = urlsplit(self.endpoint).scheme != "http" or is_loopback(self.endpoint) or self.allow_http
        need(private, "endpoint must be https: plain http to another machine needs allow_http=True")

    @property
    def highest(self) -> int:
        """The highest value an answer can have in this mode."""
        return 1 if self.mode == "noul" else len(self.levels) - 1

    @property
    def bar(self) -> float:
        """The value from which on a candidate stays in this mode."""
        return self.threshold if self.mode == "noul" else self.score_min
