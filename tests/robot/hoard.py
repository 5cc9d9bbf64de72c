"""Is to fill memory: one gives blobs as fast as the memory that it may have lets it, the other one keeps all that it can get, and now and then lets go of half.

Usage: hoard.py give|take
"""

import random
import sys
import time

import sinew
from night_messages import Blob

BUDGET = 64 << 20
BLOB = 1 << 20


def give():
    with sinew.Node("blobs") as node:
        blobs = node.create_publisher("hoard/blobs", Blob, memory_budget=BUDGET, when_full="refuse")
        refused = published = 0
        told = time.monotonic()
        while True:
            try:
                with blobs.loan(data=BLOB) as blob:
                    blob.data[:] = 7
                published += 1
            except sinew.NoMemory:
                refused += 1
            if time.monotonic() > told + 2:
                print(f"given {published} refused {refused}", flush=True)
                refused = published = 0
                told = time.monotonic()
            time.sleep(0.02)


def take():
    kept = []

    def keep(blob):
        if blob.data[0] != 7 or blob.data[-1] != 7:
            print("WRONG: a blob has other bytes than were published", flush=True)
        kept.append(blob)
        if len(kept) > 400 or random.random() < 0.005:
            del kept[: len(kept) // 2]

    with sinew.Node("hoarder") as node:
        # Each may hold a quarter of the memory.
        for _ in range(5):
            node.subscribe("hoard/blobs", Blob, keep)
        # Images, too: the camera's memory is to be short as well.
        node.subscribe("camera/image", "sensor_msgs/msg/Image", lambda image: kept.append(image))
        node.spin()


{"give": give, "take": take}[sys.argv[1]]()
