"""The examples in spec/vectors/cdr: types, values, and their streams."""

import json
import pathlib
from typing import NamedTuple

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "spec" / "vectors" / "cdr"


class Vector(NamedTuple):
    name: str
    signature: str
    value: object
    """As JSON; a variant as its number and its value, a map as its entries."""
    streams: dict


def read(path):
    signature = value = None
    streams = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# type "):
            signature = line[len("# type ") :]
        elif line.startswith("# value "):
            value = json.loads(line[len("# value ") :])
        elif line in ("little", "big"):
            order = line
            streams[order] = b""
        elif line and not line.startswith("#"):
            streams[order] += bytes.fromhex(line)
    return Vector(path.stem, signature, value, streams)


VECTORS = [read(path) for path in sorted(FOLDER.glob("*.hex"))]
