#!/usr/bin/env python3
"""Compiles a snippet that must be refused: with the sentence its first line expects, said once, in few lines; where lines end in
"// refused", on each of them.

Usage: refused.py COMPILER INCLUDE_DIRECTORY SNIPPET
"""
import re
import subprocess
import sys

MOST_LINES = 60

compiler, include, snippet = sys.argv[1:]
with open(snippet, encoding="utf-8") as file:
    lines_of_snippet = file.read().splitlines()
expected = lines_of_snippet[0].removeprefix("// expects: ").strip()
marked = {number for number, line in enumerate(lines_of_snippet, 1) if line.endswith("// refused")}
run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", include, snippet], capture_output=True, text=True)
errors = [line for line in run.stderr.splitlines() if re.search(r"\berror: ", line)]
said = [line for line in errors if expected in line]
said_at = {int(place[1]) for line in said if (place := re.match(re.escape(snippet) + r":(\d+):", line))}
own = [line for line in errors if "sinew: " in line]
complaints = []
if run.returncode == 0:
    complaints.append("it compiled")
elif not said:
    complaints.append(f"no error says {expected!r}")
if missing := sorted(marked - said_at):
    complaints.append(f"nothing is said about lines {missing}")
if len(own) > 1:
    complaints.append(f"{len(own)} sentences instead of one")
if (lines := len(run.stderr.splitlines())) >= MOST_LINES:
    complaints.append(f"{lines} lines of errors")
if complaints:
    sys.exit(f"{snippet}: {'; '.join(complaints)}\n{run.stderr}")
