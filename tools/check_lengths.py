#!/usr/bin/env python3
"""A file is one idea: refuses source files of more than 500 lines that do not say near their top why they are `Long because: ...`.

Usage: check_lengths.py FILE...
"""

import pathlib
import sys

LIMIT = 500
HEAD = 20

too_long = []
for name in sys.argv[1:]:
    lines = pathlib.Path(name).read_text(encoding="utf-8").splitlines()
    if len(lines) > LIMIT and not any("Long because:" in line for line in lines[:HEAD]):
        too_long.append(f"{name}:1: {len(lines)} lines: split it, or say `Long because: ...` within its first {HEAD} lines")
print("\n".join(too_long) or f"{len(sys.argv) - 1} files, none over {LIMIT} lines without a reason")
sys.exit(1 if too_long else 0)
