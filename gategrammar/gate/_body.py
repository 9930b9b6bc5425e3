"""The body of a reply, piece by piece, never longer than the cap: compressed or not (SPEC §13)."""

import zlib

from gategrammar.gate import reasons
from gategrammar.gate.answers import Refused

#: What the gate asks for and can undo. The HTTP libraries decompress without a limit: a piece of 64 kB can become
#: 64 MB there, so the gate takes the raw bytes and does it itself.
ACCEPT_ENCODING = "gzip"
_GZIP = frozenset({"gzip", "x-gzip"})
_PLAIN = frozenset({"", "identity"})
_GZIP_WINDOW = 31


class Body:
    """Collects one reply.

    Args:
        encoding: the reply's Content-Encoding, empty when it has none.
        limit: the most bytes that the body may have, decompressed.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        encoding = encoding.strip().lower()
        self._limit = limit
        self._content = bytearray()
        self._refused: Refused | None = None
        self._gzip = zlib.decompressobj(_GZIP_WINDOW) if encoding in _GZIP else None
        if self._gzip is None and encoding not in _PLAIN:
            self._refused = Refused(reasons.NOT_DECODABLE)

    def feed(self, piece: bytes) -> bool:
        """Take the next piece as it came over the wire; False when there is no use in reading on."""
        if self._refused is None:
            self._content += self._plain(piece)
            if len(self._content) > self._limit:
                self._refused = Refused(reasons.too_large(self._limit))
        return self._refused is None

    def close(self) -> bytes | Refused:
        """Return the whole body, or why there is none."""
        if self._refused is None and self._gzip is not None and (not self._gzip.eof or self._gzip.unused_data):
            self._refused = Refused(reasons.NOT_DECODABLE)
        return self._refused or bytes(self._content)

    def _plain(self, piece: bytes) -> bytes:
        if self._gzip is None:
            return piece
        room = self._limit - len(self._content) + 1
        try:
            return self._gzip.decompress(piece, room)
        except zlib.error:
            self._refused = Refused(reasons.NOT_DECODABLE)
            return b""
