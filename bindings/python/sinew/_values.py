"""Comparing messages whose fields are NumPy arrays, which dataclasses cannot."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


def equal(one: Any, other: Any) -> Any:
    """`__eq__` of a dataclass."""
    if type(one) is not type(other):
        return NotImplemented
    return all(_same(getattr(one, each.name), getattr(other, each.name)) for each in dataclasses.fields(one))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
