"""Daemon threads for work that may outlive its deadline.

An executor's threads are joined when the interpreter or the event loop ends: a server that drips for an hour would hold
the program for an hour. A daemon thread is left behind.
"""

import sys
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

_Queue: TypeAlias = "SimpleQueue[Callable[[], None] | None]"


class Worker:
    """A thread that does one piece of work after the other, until it is told to end or nobody knows it any more."""

    def __init__(self) -> None:
        self._queue: _Queue = SimpleQueue()
        Thread(target=_run, args=(self._queue,), daemon=True, name="gategrammar-gate").start()
        self._end = weakref.finalize(self, self._queue.put, None)
        self._end.atexit = False

    def end(self) -> None:
        """Let the thread end when it has done what it was given; from then on it takes nothing any more."""
        self._end()

    def do(self, work: Callable[[], T]) -> "Future[T]":
        """Do *work* when what came before is done, in the caller's context, and return its future.

        Raises:
            RuntimeError: the interpreter is ending, so the thread does not run any more.
        """
        if sys.is_finalizing():
            raise RuntimeError("no thread works while the interpreter ends")
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # from here on it cannot be cancelled, so setting its result cannot fail
        context = copy_context()

        def settle() -> None:
            try:
                future.set_result(context.run(work))
            except BaseException as error:  # noqa: BLE001 - it is the waiting thread's to handle, whatever it is
                future.set_exception(error)

        self._queue.put(settle)
        return future


def _run(queue: _Queue) -> None:
    while (work := queue.get()) is not None:
        work()
        del work  # while this waits, it must not be what keeps the worker known


def in_thread(work: Callable[[], T]) -> "Future[T]":
    """Start *work* in a thread of its own, in the caller's context, and return its future."""
    return Worker().do(work)
