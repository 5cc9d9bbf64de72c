"""Sees to it that whatever is lost of these topics was counted: that the numbers of a publisher's messages have no gap but that which MessageInfo.missed tells.

Usage: witness.py TOPIC...
Every two seconds a line for each topic of which something came: "witnessed TOPIC RECEIVED MISSED LIVES". Of `beat`, which says itself how many there were, also "way RECEIVED GAPS BROKEN": what did not come although the connection was there, and what
did not because somebody on the way had gone. What is not as it should be is a line that begins with WRONG.
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
        self.beat, self.on_the_way = None, [0, 0, 0]
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
            before = None
        else:
            before = self.beat
        self.last = info.sequence
        if self.topic == "beat":
            self.follow(message, before, info.missed)

    def follow(self, message, before, missed):
        """`before`: the beat before, if it came by the same publisher."""
        if self.beat is not None and self.beat[0] == message.life:
            gap = message.number - self.beat[1] - 1
            if gap < 0:
                print(f"WRONG: beat {message.number} comes after {self.beat[1]}", flush=True)
            self.on_the_way[1 if before else 2] += max(0, gap - missed)
        self.on_the_way[0] += 1
        self.beat = (message.life, message.number)

    def tell(self):
        with self.lock:
            self.tell_counts()

    def tell_counts(self):
        if self.received or self.missed:
            print(f"witnessed {self.topic} {self.received} {self.missed} {self.lives}", flush=True)
        if self.topic == "beat":
            print("way {} {} {}".format(*self.on_the_way), flush=True)
        self.received = self.missed = self.lives = 0
        self.on_the_way = [0, 0, 0]


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
