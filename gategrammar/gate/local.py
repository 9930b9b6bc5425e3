"""A decision server in this process (docs/gate.md): the same requests and replies, with no network and no key."""

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import httpx
from attrs import frozen

from gategrammar.gate import lexical
from gategrammar.gate._library import library_of
from gategrammar.gate._threads import in_thread
from gategrammar.gate.contract import Judge, answer, faults

#: Turns texts into vectors, one each; a numpy array will do, and so will lists of floats.
Embed: TypeAlias = Callable[[list[str]], Iterable[Iterable[float]]]

_QUESTIONS_PATH: Final = "/v1/systemone"
_MODELS_PATH: Final = "/v1/models"
_STEEPNESS: Final = 12.0


@frozen
class LocalReply:
    """What the judge would send: a status and a JSON body."""

    status: int
    body: dict[str, Any]

    def encode(self) -> bytes:
        """Return the body as it goes over a wire."""
        return json.dumps(self.body, ensure_ascii=False).encode("utf-8", "replace")


class LocalSystemOne(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A judge behind the contract of a decision server, as a transport for clients of httpx and httpx2.

    Give it to a gate as ``judge=``, or to a client as ``transport=``. The default judge compares words
    (:mod:`gategrammar.gate.lexical`). It answers noul, score and choice; the model's name in a request is ignored.

    Args:
        embed: judge by the cosine of these vectors instead. It is called once for each request, in a worker thread
            where the client is asynchronous.
        midpoint: the cosine that counts as 0.5. Embedding models differ: try some pairs.
    """

    #: Where it answers, whatever the host: for clients that need an address.
    endpoint: Final = f"http://localhost{_QUESTIONS_PATH}"

    def __init__(self, embed: Embed | None = None, *, midpoint: float = 0.3) -> None:
        self.model = "local-lexical" if embed is None else "local-embedding"
        self._judge: Judge = _lexical_judge if embed is None else _embedding_judge(embed, midpoint)

    def respond(self, method: str, path: str, body: bytes) -> LocalReply:
        """Answer one request; nothing is raised, whatever it holds.

        Args:
            method: of HTTP.
            path: without a query.
            body: as sent.
        """
        if path == _MODELS_PATH and method == "GET":
            described = {"name": self.model, "description": "A judge in this process.", "release_date": "2026-01-01"}
            return LocalReply(HTTPStatus.OK, {"models": [described]})
        if path != _QUESTIONS_PATH:
            return _error(HTTPStatus.NOT_FOUND, "not_found", f"The judge answers POST {_QUESTIONS_PATH}.")
        if method != "POST":
            return _error(HTTPStatus.METHOD_NOT_ALLOWED, "invalid_request_error", "Questions are sent by POST.")
        try:
            request = json.loads(body.decode())
        except (ValueError, RecursionError):
            wrong = [{"loc": ["body"], "msg": "JSON decode error", "type": "json_invalid"}]
        else:
            wrong = faults(request)
        if wrong:
            return LocalReply(HTTPStatus.UNPROCESSABLE_ENTITY, {"detail": wrong})
        try:
            answers = answer(request, self._judge)
        except Exception:  # noqa: BLE001 - embed is the host's code; its failure is this server's
            return _error(HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", "The embed function failed.")
        usage = {"input_tokens": 0, "output_tokens": 0}
        return LocalReply(HTTPStatus.OK, {"model": self.model, "answers": answers, "usage": usage})

    def handle_request(self, request: Any) -> Any:
        """Answer a request of httpx's or httpx2's; httpx calls this."""
        return self._response(request, self.respond(request.method, request.url.path, request.read()))

    async def handle_async_request(self, request: Any) -> Any:
        """Answer a request of httpx's or httpx2's; httpx calls this."""
        body = await request.aread()
        # In a thread, so that a slow embedding neither blocks the event loop nor outlives the deadline.
        reply = in_thread(lambda: self.respond(request.method, request.url.path, body))
        return self._response(request, await asyncio.wrap_future(reply))

    @staticmethod
    def _response(request: Any, reply: LocalReply) -> Any:
        headers = {"Content-Type": "application/json"}
        return library_of(request).Response(reply.status, headers=headers, content=reply.encode())


def _error(status: HTTPStatus, error_type: str, message: str) -> LocalReply:
    return LocalReply(status, {"detail": {"error_type": error_type, "message": message}})


def _lexical_judge(pairs: Sequence[tuple[str, str]]) -> list[float]:
    terms = {text: lexical.terms(text) for pair in pairs for text in pair}
    return [lexical.relevance(terms[left], terms[right]) for left, right in pairs]


def _embedding_judge(embed: Embed, midpoint: float) -> Judge:
    def judge(pairs: Sequence[tuple[str, str]]) -> list[float]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = [[float(number) for number in vector] for vector in embed(texts)]
        of = dict(zip(texts, vectors, strict=True))
        return [lexical.squash(_cosine(of[left], of[right]), midpoint, _STEEPNESS) for left, right in pairs]

    return judge


def _cosine(left: list[float], right: list[float]) -> float:
    lengths = math.hypot(*left) * math.hypot(*right)
    product = sum(a * b for a, b in zip(left, right, strict=True))
    if not math.isfinite(product) or not math.isfinite(lengths):
        raise ValueError("embed returned a number that is not finite")
    return product / lengths if lengths else 0.0
