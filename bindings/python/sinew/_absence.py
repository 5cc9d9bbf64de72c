"""Why no message comes: looked for when somebody has waited in vain, for the text of the exception."""

from __future__ import annotations

import atexit
import concurrent.futures
import contextlib
import difflib
import threading
from typing import Any, Dict, Tuple

from . import _native

# By the name of the policy, as the domain says it: "reliability: the publisher offers ...; durability: ...".
_REMEDIES = {
    "reliability": "give the publisher reliable=True, or the subscriber reliable=False",
    "durability": "give the publisher transient_local=True, or the subscriber transient_local=False",
    "deadline": "give the publisher a deadline that is no longer than the subscriber's, or the subscriber a longer one or none",
    "liveliness": "give the publisher the manual_by_topic and lease that the subscriber asks for, or let the subscriber ask for less",
}


# Who waited for a message does not wait for a manager as well: that would be for seconds where there is none, or it hangs.
_SOON_S = 0.1

# By the id of the node, which its thread keeps: classes of nodes may have no hash.
_asking: Dict[int, Tuple[threading.Thread, concurrent.futures.Future[Any]]] = {}
_lock = threading.Lock()


def no_message(node: _native.Node, topic: str, connected: int) -> str:
    """What is added to `no message came on 'topic' in time`."""
    if connected:
        return f", though {'a publisher is' if connected == 1 else f'{connected} publishers are'} connected"
    state = _domain(node)
    return _not_connected(node, state, topic) if state is not None else ""


def _domain(node: _native.Node) -> Any:
    """None where nobody says it soon."""
    with _lock:
        if id(node) not in _asking:
            told: concurrent.futures.Future[Any] = concurrent.futures.Future()
            asking = threading.Thread(target=_ask, args=(node, told), name="sinew-absence", daemon=True)
            try:
                asking.start()
            except RuntimeError:  # there is none to be had, or the interpreter ends
                return None
            _asking[id(node)] = asking, told
        told = _asking[id(node)][1]
    with contextlib.suppress(concurrent.futures.TimeoutError):
        return told.result(_SOON_S)
    return None


def _ask(node: _native.Node, told: concurrent.futures.Future[Any]) -> None:
    state = None
    with contextlib.suppress(Exception):  # nobody knows, as for want of a manager
        state = _native.Node.domain(node)
    with _lock:
        del _asking[id(node)]
    told.set_result(state)


@atexit.register
def _end() -> None:
    """When the program ends, no thread is left in the middle of something. Where the manager hangs that takes as long as it is waited for."""
    for asking, _ in list(_asking.values()):
        asking.join()


def is_hidden(topic: str) -> bool:
    """Topics of services and actions, which programs do not subscribe to: "add@request"."""
    return "@" in topic


def _not_connected(node: _native.Node, state: Any, topic: str) -> str:
    names = {each.id: each.name for each in state.topics}
    node_of = {each.id: each.name for each in state.nodes}
    publishers = {each.id: node_of.get(each.node, "") for each in state.endpoints if each.publishes and names.get(each.topic) == topic}
    if not publishers:
        published = {names[each.topic] for each in state.endpoints if each.publishes and each.topic in names}
        near = difflib.get_close_matches(topic, sorted(name for name in published if not is_hidden(name)), 1)
        return ": nobody publishes it" + (f". Did you mean '{near[0]}'?" if near else "")
    mine = {each.id for each in state.endpoints if not each.publishes and names.get(each.topic) == topic and node_of.get(each.node) == node.name}
    # A node may have several subscribers of a topic, some of which are connected.
    waiting = mine - {pair.subscriber for pair in state.pairs if pair.connected}
    for pair in state.pairs:
        if pair.subscriber in waiting and pair.publisher in publishers and pair.why:
            remedies = [_REMEDIES[policy] for policy in (each.split(":")[0] for each in pair.why.split("; ")) if policy in _REMEDIES]
            return f": node '{publishers[pair.publisher]}' publishes it, but is not connected: {pair.why}" + (f". In the qos, {', and '.join(remedies)}" if remedies else "")
    return f": node '{next(iter(publishers.values()))}' publishes it, but is not connected yet"
