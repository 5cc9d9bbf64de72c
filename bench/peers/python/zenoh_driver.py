#!/usr/bin/env python3
"""Zenoh in Python, by shared memory: what is sent is copied into its memory, and what is received out of it, as its Python has no other way."""
import sys
import time

import driver
import zenoh


def session_of(run):
    config = zenoh.Config()
    endpoint = f'["unixsock-stream/{run.folder}/zenoh.sock"]'
    config.insert_json5("mode", '"peer"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("transport/shared_memory/enabled", "true")
    config.insert_json5("listen/endpoints" if run.role == "publish" else "connect/endpoints", endpoint)
    return zenoh.open(config)


def publish(run):
    with session_of(run) as session:
        provider = zenoh.shm.ShmProvider.default_backend(16 * (run.size + 4096))
        publisher = session.declare_publisher(run.topic, congestion_control=zenoh.CongestionControl.BLOCK)
        driver.connect(lambda: publisher.matching_status.matching)

        def send(number):
            began = time.monotonic_ns()
            payload = bytearray([driver.value_of(number)]) * run.size
            memory = provider.alloc(driver.HEADER.size + run.size, zenoh.shm.BlockOn(zenoh.shm.GarbageCollect()))
            memory[driver.HEADER.size:] = payload
            memory[:driver.HEADER.size] = driver.HEADER.pack(began, time.monotonic_ns(), number)
            publisher.put(memory)

        driver.publish_all(run, send)


def subscribe(run, arrivals):
    until = time.monotonic() + driver.PATIENCE_S
    while not (run.folder / "zenoh.sock").exists() and time.monotonic() < until:
        time.sleep(0.01)
    with session_of(run) as session:

        def received(sample):
            whole = memoryview(sample.payload.to_bytes())
            arrivals.add(*driver.HEADER.unpack_from(whole), whole[driver.HEADER.size:])

        subscriber = session.declare_subscriber(run.topic, received)
        driver.connect(lambda: True)
        arrivals.complete.wait()
        subscriber.undeclare()


if __name__ == "__main__":
    sys.exit(driver.drive(publish, subscribe))
