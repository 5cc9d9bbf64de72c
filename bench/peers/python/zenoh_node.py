#!/usr/bin/env python3
"""The ends of Zenoh for bench/gateway.py, and its routers: by TCP, a router on each machine, nodes that find each other through it, as rmw_zenoh_cpp sets them up.

`--tuned` is what its users are told to do on bad networks: commands have the highest priority and are not gathered, images the lowest, and of these the first one waits for room
where the default drops what finds none (without it hardly an image arrives whole); and no more than needed waits in queues and in the kernel.
"""
import argparse
import array
import pathlib
import struct
import sys
import time

import zenoh

ROUTER = "tcp/127.0.0.1:7447"
COMMAND = "command"
PATIENCE_S = 30
STAMP = struct.Struct("<Q")
SMALL_BUFFERS = "#so_sndbuf=65536;so_rcvbuf=262144"


def opened(mode, listen, connect, tuned):
    config = zenoh.Config()
    config.insert_json5("mode", f'"{mode}"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("listen/endpoints", f'["{listen}"]')
    config.insert_json5("connect/endpoints", f'["{connect}"]' if connect else "[]")
    if mode == "router":
        # Routers of two machines have none in common, other than those of two namespaces.
        config.insert_json5("transport/shared_memory/enabled", "false")
    if tuned:
        config.insert_json5("transport/link/tx/queue/size/data_low", "1")
    return zenoh.open(config)


def node(tuned):
    return opened("peer", "tcp/127.0.0.1:0", ROUTER, tuned)


def ready():
    print("ready", flush=True)


def until_told():
    sys.stdin.read()


def route(asked):
    buffers = SMALL_BUFFERS if asked.tuned else ""
    with opened("router", f"tcp/0.0.0.0:7447{buffers}", asked.connect and f"{asked.connect}{buffers}", asked.tuned):
        ready()
        until_told()


def qos(asked):
    if not asked.tuned:
        return {}
    if asked.topic == COMMAND:
        return {"priority": zenoh.Priority.REAL_TIME, "express": True}
    return {"priority": zenoh.Priority.DATA_LOW, "congestion_control": zenoh.CongestionControl.BLOCK_FIRST}


def publish(asked):
    with node(asked.tuned) as session:
        publisher = session.declare_publisher(asked.topic, **qos(asked))
        until = time.monotonic() + PATIENCE_S
        while asked.readers and not publisher.matching_status.matching:
            if time.monotonic() > until:
                sys.exit(f"{asked.topic} has no subscribers")
            time.sleep(0.005)
        ready()
        times = array.array("Q")
        begin = time.monotonic()
        number = 0
        while number / asked.hz < asked.seconds:
            time.sleep(max(begin + number / asked.hz - time.monotonic(), 0))
            payload = bytearray([number % 256]) * (STAMP.size + asked.size)
            before = time.monotonic_ns()
            STAMP.pack_into(payload, 0, before)
            publisher.put(payload)
            times.extend((before, time.monotonic_ns() - before))
            number += 1
        asked.out.write_bytes(times.tobytes())


def subscribe(asked):
    times = array.array("Q")

    def received(sample):
        # Where it lies in pieces, putting them together is what reading it takes.
        payload = sample.payload.to_bytes()
        times.extend((*STAMP.unpack_from(payload), time.monotonic_ns()))

    with node(asked.tuned) as session:
        subscriber = session.declare_subscriber(asked.topic, received)
        ready()
        until_told()
        subscriber.undeclare()
    asked.out.write_bytes(times.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuned", action="store_true")
    roles = parser.add_subparsers(required=True)
    router = roles.add_parser("route")
    router.add_argument("--connect")
    router.set_defaults(play=route)
    subscriber = roles.add_parser("subscribe")
    subscriber.set_defaults(play=subscribe)
    publisher = roles.add_parser("publish")
    publisher.set_defaults(play=publish)
    for role in (subscriber, publisher):
        role.add_argument("--topic", required=True)
        role.add_argument("--out", required=True, type=pathlib.Path)
    publisher.add_argument("--hz", required=True, type=float)
    publisher.add_argument("--size", required=True, type=int)
    publisher.add_argument("--seconds", required=True, type=float)
    publisher.add_argument("--readers", required=True, type=int)
    asked = parser.parse_args()
    asked.play(asked)


if __name__ == "__main__":
    main()
