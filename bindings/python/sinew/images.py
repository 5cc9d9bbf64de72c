"""Images as NumPy arrays, without a copy."""

from __future__ import annotations

import re
from typing import Any, Tuple

import numpy as np

__all__ = ["image_array"]

# The type of a channel, and how many there are.
_ENCODINGS = {
    "mono8": ("u1", 1),
    "mono16": ("u2", 1),
    "rgb8": ("u1", 3),
    "bgr8": ("u1", 3),
    "rgba8": ("u1", 4),
    "bgra8": ("u1", 4),
    "rgb16": ("u2", 3),
    "bgr16": ("u2", 3),
    "rgba16": ("u2", 4),
    "bgra16": ("u2", 4),
    # The colour of a pixel of these is that of its place.
    **{f"bayer_{order}{bits}": (f"u{bits // 8}", 1) for order in ("rggb", "bggr", "gbrg", "grbg") for bits in (8, 16)},
    # Two pixels share two of their four bytes.
    **{name: ("u1", 2) for name in ("yuv422", "uyvy", "yuv422_yuy2", "yuyv")},
}
_BY_NUMBERS = re.compile(r"(8|16|32|64)([USF])C([1-9]\d{0,2})?")


def image_array(image: Any) -> np.ndarray[Any, Any]:
    """The pixels of an image, of whatever type has `height`, `width`, `encoding` and `data`: rows x columns x channels, or rows x columns where there is one channel.

    A view on `image.data`: nothing is copied, what that may not be written may not be written here, and the array keeps it, as long as it lives. `step`, the bytes from one row to the next, and `is_bigendian` are
    heeded where there are such fields. Colours stay in their order: `[..., ::-1]` turns those of `bgr8` around.

    Raises ValueError for encodings whose pixels are not one beside the other (`nv21`, `jpeg`), and for images whose data are too short.
    """
    kind, channels = _pixel(image.encoding)
    dtype = np.dtype((">" if getattr(image, "is_bigendian", False) else "<") + kind)
    data = image.data if isinstance(image.data, np.ndarray) else np.frombuffer(image.data, np.uint8)
    height, width = int(image.height), int(image.width)
    row = width * channels * dtype.itemsize
    step = int(getattr(image, "step", None) or row)  # None where a draft has it not set
    if step < row:
        raise ValueError(f"an image of {width} columns in {image.encoding!r} has rows of {row} bytes, but its step is {step}")
    needed = (height - 1) * step + row if height and width else 0
    if data.nbytes < needed:
        raise ValueError(f"an image of {height} x {width} in {image.encoding!r} has {needed} bytes, but its data are {data.nbytes}")
    shape: Tuple[int, ...] = (height, width, channels)
    strides: Tuple[int, ...] = (step, channels * dtype.itemsize, dtype.itemsize)
    if channels == 1:
        shape, strides = shape[:2], strides[:2]
    return np.ndarray(shape, dtype, buffer=data, strides=strides)


def _pixel(encoding: str) -> Tuple[str, int]:
    if encoding in _ENCODINGS:
        return _ENCODINGS[encoding]
    numbers = _BY_NUMBERS.fullmatch(encoding)
    kind = numbers and f"{ {'U': 'u', 'S': 'i', 'F': 'f'}[numbers[2]]}{int(numbers[1]) // 8}"
    if not numbers or kind == "f1":
        raise ValueError(f"{encoding!r} is no encoding of pixels that lie one beside the other; those are {', '.join(_ENCODINGS)}, and by numbers, as 16UC1 and 32FC3")
    return str(kind), int(numbers[3] or 1)
