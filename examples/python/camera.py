"""A moving pattern in full HD, thirty times a second, drawn straight into shared memory: publishing costs the same as for one pixel."""

import contextlib
import itertools
import time

import numpy as np
from numpy.typing import NDArray

import sinew

WIDTH, HEIGHT = 1920, 1080


@sinew.message
class Picture:
    width: sinew.uint32
    height: sinew.uint32
    encoding: str
    pixels: NDArray[np.uint8]


columns = np.arange(WIDTH, dtype=np.uint8)
rows = np.arange(HEIGHT, dtype=np.uint8)[:, np.newaxis]
with sinew.Node("pattern_camera") as node, contextlib.suppress(KeyboardInterrupt):
    publisher = node.create_publisher("pattern/image", Picture, qos=sinew.Qos(depth=4))
    for shift in itertools.count(0, 8):
        # What is in `pixels` lies where the subscribers will read it; it is published at the end of the block.
        with publisher.loan(pixels=(HEIGHT, WIDTH)) as picture:
            picture.width, picture.height, picture.encoding = WIDTH, HEIGHT, "mono8"
            np.bitwise_xor(columns + np.uint8(shift % 256), rows, out=picture.pixels)
        time.sleep(1 / 30)
