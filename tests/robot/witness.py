"""Sees to it that whatever is lost of these topics was counted: that the numbers of a publisher's messages have no gap but that which MessageInfo.missed tells.

Usage: witness.py TOPIC...
Every two seconds a line for each topic of which something came: "witnessed TOPIC RECEIVED MISSED LIVES". Of `beat`, which says itself how many there were, also "gap NUMBER FROM TO" for those that did not come this far, with when those before and behind them came (on the
clock that all processes have in common, in seconds). What is not as it should be is a line that begins with WRONG.
"""

import sys
import threading
import time

import sinew
from night_messages import Beat


class Witness:
    def __init__(self, node, topic):
        self.topic, self.last, self.is_new, self.lock = topic, None, True, threading.Lock()
        self.received = self.missed = self.lives = 0
        self.beat, self.came = None, 0
        self.subscriber = node.subscribe(topic, Beat if topic == "beat" else None, self.take, on_event=self.hear, timeout=0.2)

    def hear(self, event):
        # Somebody has come or gone: what follows may be another life of the same publisher.
        self.is_new |= event.kind == "matched"

    def take(self, message, info):
        with self.lock:
            self.count(message, info)

    def count(self, message, info):
        self.received += 1
        self.missed += info.missed
        if not self.is_new and self.last is not None and info.sequence > self.last and info.sequence != self.last + 1 + info.missed:
            print(f"WRONG: {self.topic}: message {info.sequence} follows {self.last}, and {info.missed} were counted as missed", flush=True)
        if self.is_new or self.last is None or info.sequence <= self.last:
            self.lives += 1
            self.is_new = False
        self.last = info.sequence
        if self.topic == "beat":
            self.follow(message, info.missed)

    def follow(self, beat, missed):
        now = time.monotonic()
        if self.beat is not None and self.beat.life == beat.life:
            gap = beat.number - self.beat.number - 1
            if gap < 0:
                print(f"WRONG: beat {beat.number} comes after {self.beat.number}", flush=True)
            elif gap > missed:
                print(f"gap {gap - missed} {self.came:.3f} {now:.3f}", flush=True)
        self.beat, self.came = Beat(beat.life, beat.number), now

    def tell(self):
        with self.lock:
            self.tell_counts()

    def tell_counts(self):
        if self.received or self.missed:
            print(f"witnessed {self.topic} {self.received} {self.missed} {self.lives}", flush=True)
        self.received = self.missed = self.lives = 0


def main(*topics):
    with sinew.Node("witness") as node:
        witnesses = []
        waiting = list(topics)
        told = time.monotonic()
        while True:
            for topic in list(waiting):
                try:
                    # Else the type comes from the topic, which may not be there yet.
                    witnesses.append(Witness(node, topic))
                    waiting.remove(topic)
                except sinew.Timeout:
                    pass
            time.sleep(0.2)
            if time.monotonic() > told + 2:
                told = time.monotonic()
                for witness in witnesses:
                    witness.tell()


main(*sys.argv[1:])
