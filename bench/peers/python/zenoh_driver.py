#!/usr/bin/env python3
"""Zenoh in Python, by shared memory: what is sent is copied into its memory, and what is received out of it, as its Python has no other way."""
import sys
import time

import driver
import zenoh

DEPTH = 8


def session_of(run, listen, connect):
    config = zenoh.Config()
    config.insert_json5("mode", '"peer"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("scouting/gossip/enabled", "false")
    config.insert_json5("transport/shared_memory/enabled", "true")
    # What goes by sockets is small then, as this transport wants it; it does without priorities.
    config.insert_json5("transport/unicast/lowlatency", "true")
    config.insert_json5("transport/unicast/qos/enabled", "false")
    for key, sockets in (("listen/endpoints", listen), ("connect/endpoints", connect)):
        config.insert_json5(key, "[" + ", ".join(f'"unixsock-stream/{socket}"' for socket in sockets) + "]")
    config.insert_json5("connect/exit_on_failure", "true")
    return zenoh.open(config)


def socket_of(run, publisher):
    return run.folder / f"zenoh-{publisher}.sock"


def listening(run, publisher):
    """What is there when its session is open."""
    return run.folder / f"zenoh-{publisher}"


def publish(run):
    with session_of(run, [socket_of(run, run.index)], []) as session:
        provider = zenoh.shm.ShmProvider.default_backend(2 * DEPTH * (run.largest + 4096))
        publisher = session.declare_publisher(run.topic, congestion_control=zenoh.CongestionControl.BLOCK)
        # A subscriber declares itself alive after its subscription, and both come by the same link, in this order.
        there = set()
        watcher = session.liveliness().declare_subscriber(f"there/{run.topic}/*", lambda sample: there.add(str(sample.key_expr)), history=True)
        listening(run, run.index).touch()
        driver.connect(lambda: len(there) == run.subscribers)
        watcher.undeclare()

        def send(began, number):
            payload = bytearray([driver.value_of(number)]) * run.size_of(number)
            # What all have read is used again before it leaves the cache.
            provider.garbage_collect()
            memory = provider.alloc(driver.HEADER.size + len(payload), zenoh.shm.BlockOn(zenoh.shm.GarbageCollect()))
            memory[driver.HEADER.size:] = payload
            sent = time.monotonic_ns()
            memory[:driver.HEADER.size] = driver.HEADER.pack(began, sent, number, run.index)
            publisher.put(memory)
            return sent

        driver.publish_all(run, send)


def subscribe(run, arrivals):
    def received(sample):
        whole = memoryview(sample.payload.to_bytes())
        arrivals.add(*driver.HEADER.unpack_from(whole), whole[driver.HEADER.size:])

    for publisher in range(run.publishers):
        while not listening(run, publisher).exists():
            time.sleep(0.001)
    with session_of(run, [], [socket_of(run, publisher) for publisher in range(run.publishers)]) as session:
        subscriber = session.declare_subscriber(run.topic, received)
        token = session.liveliness().declare_token(f"there/{run.topic}/{run.index}")
        driver.connect(lambda: len(session.info.peers_zid()) == run.publishers)
        arrivals.wait()
        token.undeclare()
        subscriber.undeclare()


if __name__ == "__main__":
    sys.exit(driver.drive(publish, subscribe, {"publish": "shm", "subscribe": "shm"}))
