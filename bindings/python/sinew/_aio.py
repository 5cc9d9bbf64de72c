"""asyncio: `async for message, info in subscriber`, and `await client.call_async(...)`.

What waits for a message of a subscriber is one thread, which takes none: it has the loop woken when there is one. Messages that nobody asked for yet wait in the subscriber, as they do for everybody else: the newest ones, as many as its
depth, and `info.missed` tells of the others.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import queue
import threading
import typing
import weakref
from typing import Any, Generator, Optional, Set, Tuple

from . import _native


# Whoever takes without asyncio waits for this to pass, after a wait that was cancelled.
LOOK_AFTER_S = 0.1


class Answer(concurrent.futures.Future):  # type: ignore[type-arg]  # of Any, in all versions of Python
    """What call_async() gives: a future for threads that can be awaited, too. Cancelling who awaits it cancels the call."""

    def __init__(self, client: Any):
        super().__init__()
        self._client = client  # without it there is no answer

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self).__await__()


class _Coming(concurrent.futures.Future):  # type: ignore[type-arg]  # as above
    """That a subscriber may have a message. Nobody who awaits it cancels it, and who no longer does leaves nothing in it, as asyncio.wrap_future() would: it may be long in coming."""

    def __init__(self) -> None:
        super().__init__()
        self.awaiting: Set[asyncio.Future[None]] = set()
        self.set_running_or_notify_cancel()
        self.add_done_callback(_wake)

    async def wait(self, until: Optional[float]) -> bool:
        """Whether it is done, at the latest at this time of the loop."""
        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        late = None if until is None else loop.call_at(until, _set, woken)
        self.awaiting.add(woken)
        try:
            if not self.done():
                await woken
        finally:
            self.awaiting.discard(woken)
            if late is not None:
                late.cancel()
        return self.done()


def _wake(coming: Any) -> None:
    for woken in list(coming.awaiting):
        with contextlib.suppress(RuntimeError):  # its loop was closed
            woken.get_loop().call_soon_threadsafe(_set, woken)


def _set(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


class _Waiter:
    """Waits for messages of one subscriber when it is asked to, on a thread of its own, which is there from the first time on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # for loops of several threads
        self._coming: Optional[_Coming] = None
        self._wanted: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None

    def waits(self) -> bool:
        """Meanwhile the subscriber's take() would wait for it."""
        is_there = self._thread is not None and self._thread.is_alive()  # as it is not in a forked child
        return is_there and self._coming is not None and not self._coming.done()

    def ask(self, subscriber: Any) -> _Coming:
        """Who asks before a message has come gets the same one."""
        with self._lock:
            if self._coming is None or self._coming.done():
                self._coming = _Coming()
                self._wanted.put((self._coming, weakref.ref(subscriber)))
                if self._thread is None:
                    self._thread = threading.Thread(target=_wait, args=(self._wanted,), name="sinew-asyncio", daemon=True)
                    _threads.add(self._thread)
                    self._thread.start()
            return self._coming

    def end(self) -> None:
        self._wanted.put(None)

    def __del__(self) -> None:
        self.end()


def _wait(wanted: queue.SimpleQueue[Any]) -> None:
    for coming, subscriber in iter(wanted.get, None):
        with contextlib.suppress(Exception):  # take() says what is wrong
            while not _has_news(subscriber) and coming.awaiting:
                pass
        coming.set_result(None)
        del coming, subscriber  # not kept while this waits to be asked


def _has_news(subscriber: weakref.ref[Any]) -> bool:
    """Waits without keeping the subscriber for long: somebody else is to keep it."""
    there = subscriber()
    return there is None or there._wait(LOOK_AFTER_S)


def _tell_why(told: Answer, subscriber: Any) -> None:
    """That nothing came, and why, for which the manager is asked."""
    if told.set_running_or_notify_cancel():
        try:
            subscriber._raise_in_vain()
        except Exception as error:
            told.set_exception(error)


_waiters: weakref.WeakKeyDictionary[Any, _Waiter] = weakref.WeakKeyDictionary()
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """When the program ends, no thread is left in the middle of something."""
    threads = list(_threads)
    for subscriber, waiter in list(_waiters.items()):
        subscriber.close()
        waiter.end()  # which a loop that was interrupted may keep
    _waiters.clear()
    for thread in threads:
        thread.join()


class Messages:
    """An asynchronous iterator over the messages of a subscriber. Several of them share what comes."""

    def __init__(self, subscriber: Any):
        self._subscriber = subscriber
        if subscriber not in _waiters:
            _waiters[subscriber] = _Waiter()
        self._waiter = _waiters[subscriber]

    def __aiter__(self) -> Messages:
        return self

    async def __anext__(self) -> Tuple[Any, Any]:
        loop, timeout = asyncio.get_running_loop(), self._subscriber.timeout
        until = None if timeout is None else loop.time() + timeout
        # Others get their turn, also when messages come faster than they are looked at.
        await asyncio.sleep(0)
        while True:
            if not self._waiter.waits():
                try:
                    return typing.cast(Tuple[Any, Any], self._subscriber.take(0.0))
                except _native.Timeout:
                    pass
                except _native.Closed:
                    raise StopAsyncIteration from None
            if not await self._waiter.ask(self._subscriber).wait(until):
                told = Answer(self._subscriber)  # not of the loop's executor, whose threads may all be busy
                threading.Thread(target=_tell_why, args=(told, self._subscriber), name="sinew-asyncio-why", daemon=True).start()
                await told
