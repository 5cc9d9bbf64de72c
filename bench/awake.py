"""Keeps the machine awake while something is measured."""
import contextlib
import os
import struct


@contextlib.contextmanager
def awake():
    """Keeps idle cores from deep sleep meanwhile, as awake.hpp does; gives whether the kernel granted it."""
    try:
        descriptor = os.open("/dev/cpu_dma_latency", os.O_RDWR)
    except OSError:
        yield False
        return
    try:
        os.write(descriptor, struct.pack("i", 0))
        yield True
    finally:
        os.close(descriptor)
