#!/usr/bin/env python3
"""Compiles every public header as C++17, which Debian's g++ takes unless it is told otherwise: it must say first that it needs C++20, and little else.

Usage: older_language.py COMPILER INCLUDE_DIRECTORY
"""
import pathlib
import re
import subprocess
import sys

SENTENCE = "sinew needs C++20: compile with -std=c++20"
MOST_LINES = 16

compiler, include = sys.argv[1:]
headers = sorted(path.relative_to(include).as_posix() for path in pathlib.Path(include).glob("sinew/**/*.hpp"))
complaints = [] if headers else [f"no headers below {include}/sinew"]
for header in headers:
    command = [compiler, "-std=c++17", "-fsyntax-only", "-I", include, "-xc++", "-"]
    run = subprocess.run(command, input=f"#include <{header}>\nint main() {{}}\n", capture_output=True, text=True, timeout=60)
    lines = run.stderr.splitlines()
    first = next((line for line in lines if re.search(r"\berror: ", line)), "nothing")
    if run.returncode == 0:
        complaints.append(f"{header} compiles")
    elif SENTENCE not in first:
        complaints.append(f"{header} says first: {first}")
    elif len(lines) > MOST_LINES:
        complaints.append(f"{header} says {len(lines)} lines:\n{run.stderr}")
if complaints:
    sys.exit("\n".join(complaints))
