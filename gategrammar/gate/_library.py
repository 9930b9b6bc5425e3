"""httpx or httpx2: which one a caller's client or request is of, told from its class.

The two have one interface, but unrelated classes, so exceptions and replies must come from the module that the
client is of. That one is loaded already; nothing is imported here.
"""

import ssl
import sys
from typing import Any, Final

from gategrammar.gate import reasons

_NAMES: Final = ("httpx", "httpx2")


def library_of(thing: object) -> Any:
    """Return the module, httpx or httpx2, whose class the object *thing* is of, or None."""
    for class_ in type(thing).__mro__:
        name = class_.__module__.partition(".")[0]
        if name in _NAMES:
            return sys.modules[name]
    return None


def is_client(thing: object, kind: str) -> bool:
    """Tell whether *thing* is a client of the *kind* ``Client`` or ``AsyncClient``, of httpx or httpx2."""
    library = library_of(thing)
    return library is not None and isinstance(thing, getattr(library, kind))


def is_connect_error(library: Any, error: Exception) -> bool:
    """Tell whether *error* says that no connection was made, so that nothing can have been sent."""
    return isinstance(error, library.ConnectError)


def reason_for(library: Any, error: Exception, seconds: float) -> str:
    """Return the reason for *error*, raised by *library* (or by anything below it) while a page was sent.

    Args:
        library: httpx or httpx2.
        error: what was raised.
        seconds: the page's deadline. Each single operation is given what is left of it, so one that ran out of time
            means that the page did.
    """
    if isinstance(error, library.TimeoutException):
        return reasons.timed_out(seconds)
    if is_tls_error(error):
        return reasons.TLS_FAILED
    if isinstance(error, library.TransportError):
        return reasons.CONNECTION_FAILED
    return reasons.REQUEST_FAILED


def is_tls_error(error: BaseException | None) -> bool:
    """Tell whether *error* or one behind it is about TLS: trying again will not help then."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
