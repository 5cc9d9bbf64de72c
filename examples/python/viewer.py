"""Shows how bright the pictures of the pattern camera are. Their pixels are arrays in the camera's memory: they are not copied, and stay valid as long as the array lives."""

import collections
import contextlib
from typing import Any

import sinew

newest: collections.deque[Any] = collections.deque(maxlen=2)  # stay readable, also when their camera is gone
with sinew.Node("viewer") as node, contextlib.suppress(KeyboardInterrupt):
    for picture, info in node.subscribe("pattern/image"):
        pixels = picture.pixels.reshape(picture.height, picture.width)
        newest.append(pixels)
        print(f"{picture.width} x {picture.height}, mean {pixels.mean():.1f}, sequence {info.sequence}, delivery {info.delivery}, missed {info.missed}", flush=True)
