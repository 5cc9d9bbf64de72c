#!/usr/bin/env python3
"""Compiles a snippet that must be refused: with the sentence its first line expects, said once, in few lines.

Usage: refused.py COMPILER INCLUDE_DIRECTORY SNIPPET
"""
import re
import subprocess
import sys

MOST_LINES = 60

compiler, include, snippet = sys.argv[1:]
with open(snippet, encoding="utf-8") as file:
    expected = file.readline().removeprefix("// expects: ").strip()
run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", include, snippet], capture_output=True, text=True)
errors = [line for line in run.stderr.splitlines() if re.search(r"\berror: ", line)]
said = [line for line in errors if expected in line]
own = [line for line in errors if "sinew: " in line]
complaints = []
if run.returncode == 0:
    complaints.append("it compiled")
elif not said:
    complaints.append(f"no error says {expected!r}")
if len(own) > 1:
    complaints.append(f"{len(own)} sentences instead of one")
if (lines := len(run.stderr.splitlines())) >= MOST_LINES:
    complaints.append(f"{lines} lines of errors")
if complaints:
    sys.exit(f"{snippet}: {'; '.join(complaints)}\n{run.stderr}")
