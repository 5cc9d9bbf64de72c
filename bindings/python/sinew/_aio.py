"""asyncio: `async for message, info in subscriber`, and `await client.call_async(...)`.

What waits for a message of a subscriber is one thread, which sleeps in `take()`; it has the loop woken when there is one. Messages that nobody asked for yet wait in the subscriber, as they do for everybody else: the newest ones, as many as its
depth, and `info.missed` tells of the others.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import math
import queue
import threading
import time
import typing
import weakref
from typing import Any, Generator, Optional, Set, Tuple

from . import _native


LOOK_AFTER_S = 1.0


class Answer(concurrent.futures.Future):  # type: ignore[type-arg]  # of Any, in all versions of Python
    """What call_async() gives: a future for threads that can be awaited, too. Cancelling who awaits it cancels the call."""

    def __init__(self, client: Any):
        super().__init__()
        self._client = client  # without it there is no answer

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self).__await__()


class _Coming(concurrent.futures.Future):  # type: ignore[type-arg]  # as above
    """The next message of a subscriber. Nobody who awaits it cancels it, and who no longer does leaves nothing in it, as asyncio.wrap_future() would: it may be long in coming."""

    def __init__(self) -> None:
        super().__init__()
        self.awaiting: Set[asyncio.Future[None]] = set()
        self.set_running_or_notify_cancel()
        self.add_done_callback(_wake)

    async def wait(self) -> None:
        """Until it is done."""
        woken = asyncio.get_running_loop().create_future()
        self.awaiting.add(woken)
        try:
            if not self.done():
                await woken
        finally:
            self.awaiting.discard(woken)


def _wake(coming: Any) -> None:
    for woken in list(coming.awaiting):
        with contextlib.suppress(RuntimeError):  # its loop was closed
            woken.get_loop().call_soon_threadsafe(_set, woken)


def _set(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


class _Waiter:
    """Takes messages of one subscriber when it is asked to, on a thread of its own, which is there from the first time on."""

    def __init__(self) -> None:
        self.coming: Optional[_Coming] = None
        self._wanted: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None

    def ask(self, subscriber: Any) -> _Coming:
        """The next message. Who asks before it has come gets the same one."""
        if self.coming is None:
            self.coming = _Coming()
            self._wanted.put((self.coming, weakref.ref(subscriber)))
            if self._thread is None:
                self._thread = threading.Thread(target=_take, args=(self._wanted,), name="sinew-asyncio", daemon=True)
                _threads.add(self._thread)
                self._thread.start()
        return self.coming

    def taken(self, coming: _Coming) -> bool:
        """Whether a message that has come is the caller's."""
        mine = self.coming is coming
        if mine:
            self.coming = None
        return mine

    def end(self) -> None:
        self._wanted.put(None)

    def __del__(self) -> None:
        self.end()


def _take(wanted: queue.SimpleQueue[Any]) -> None:
    for coming, subscriber in iter(wanted.get, None):
        try:
            coming.set_result(_next(subscriber))
        except BaseException as error:
            coming.set_exception(error)
        del coming, subscriber  # not kept while this waits to be asked


def _next(subscriber: weakref.ref[Any]) -> Tuple[Any, Any]:
    """Waits without keeping the subscriber: it looks now and then whether somebody else does."""
    since = time.monotonic()
    while (there := subscriber()) is not None:
        left = math.inf if there.timeout is None else since + there.timeout - time.monotonic()
        try:
            return typing.cast(Tuple[Any, Any], there._take(max(0.0, min(LOOK_AFTER_S, left)), there.timeout if left <= LOOK_AFTER_S else 0.0))
        except _native.Timeout:
            if left <= LOOK_AFTER_S:
                raise
        except _native.Closed:
            break
        finally:
            del there  # also not by the traceback of what is raised
    raise StopAsyncIteration


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
        # Others get their turn, also when messages come faster than they are looked at.
        await asyncio.sleep(0)
        while True:
            if self._waiter.coming is None:
                try:
                    return typing.cast(Tuple[Any, Any], self._subscriber.take(0.0))
                except _native.Timeout:
                    pass
                except _native.Closed:
                    raise StopAsyncIteration from None
            coming = self._waiter.ask(self._subscriber)
            await coming.wait()
            # Where all of them were cancelled, it is the next one's.
            if self._waiter.taken(coming):
                return typing.cast(Tuple[Any, Any], coming.result())
