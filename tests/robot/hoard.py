"""Is to fill memory: one gives blobs as fast as the memory that it may have lets it, the other one holds all that it can get, and now and then lets go of some.

Usage: hoard.py give|take
"""

import random
import sys
import threading
import time

import sinew
from night_messages import Blob

BUDGET = 64 << 20
BLOB = 1 << 20
# When memory is full, and how many hold what they get. Each may have a quarter of the memory, so that all of the one is held and its new blobs are refused; of the other one the oldest are withdrawn where who is stopped has not taken them.
TOPICS = {"hoard/blobs": ("refuse", 6), "hoard/others": ("withdraw", 3)}


def give():
    with sinew.Node("blobs") as node:
        publishers = {topic: node.create_publisher(topic, Blob, memory_budget=BUDGET, when_full=when_full) for topic, (when_full, _) in TOPICS.items()}
        counts = dict.fromkeys(TOPICS, (0, 0))
        told = time.monotonic()
        while True:
            for topic, blobs in publishers.items():
                given, refused = counts[topic]
                try:
                    with blobs.loan(data=BLOB) as blob:
                        blob.data[:] = 7
                    counts[topic] = given + 1, refused
                except sinew.NoMemory:
                    counts[topic] = given, refused + 1
            if time.monotonic() > told + 2:
                for topic, (given, refused) in counts.items():
                    print(f"gave {topic} {given} refused {refused}", flush=True)
                counts = dict.fromkeys(TOPICS, (0, 0))
                told = time.monotonic()
            time.sleep(0.02)


class Holder:
    """One of several: each holds messages that no other one does."""

    def __init__(self, node, topic, which, holders):
        self.which, self.holders, self.kept, self.lock = which, holders, [], threading.Lock()
        self.subscriber = node.subscribe(topic, Blob, self.keep)

    def keep(self, blob, info):
        if blob.data[0] != 7 or blob.data[-1] != 7:
            print("WRONG: a blob has other bytes than were published", flush=True)
        if info.sequence % self.holders == self.which and info.delivery != "copy":
            with self.lock:
                self.kept.append(blob)

    def let_go(self):
        with self.lock:
            for blob in self.kept:
                if blob.data[0] != 7 or blob.data[-1] != 7:
                    print("WRONG: a blob that is held has other bytes than were published", flush=True)
            del self.kept[: random.randrange(len(self.kept) + 1)]


def take():
    with sinew.Node("hoarder") as node:
        holders = [Holder(node, topic, which, holders) for topic, (_, holders) in TOPICS.items() for which in range(holders)]
        while True:
            time.sleep(random.uniform(1, 6))
            for holder in holders:
                holder.let_go()


{"give": give, "take": take}[sys.argv[1]]()
