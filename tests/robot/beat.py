"""Says fifty times a second, as `beat`, how often it has said so in this life of its own."""

import itertools
import os
import time

import sinew
from night_messages import Beat

with sinew.Node("beat") as node:
    beats = node.create_publisher("beat", Beat)
    life = int.from_bytes(os.urandom(8), "little")
    for number in itertools.count():
        beats.publish(Beat(life, number))
        time.sleep(0.02)
