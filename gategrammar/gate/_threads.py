"""A daemon thread for one piece of work that may outlive its deadline."""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def in_thread(work: Callable[[], T]) -> "Future[T]":
    """Start *work* in a thread of its own, in the caller's context, and return its future.

    An executor's threads are joined when the interpreter or the event loop ends: a server that drips for an hour
    would hold the program for an hour. A daemon thread is left behind.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # from here on it cannot be cancelled, so setting its result cannot fail
    context = copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - it is the waiting thread's to handle, whatever it is
            future.set_exception(error)

    Thread(target=run, daemon=True, name="gategrammar-gate").start()
    return future
