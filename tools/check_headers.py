#!/usr/bin/env python3
"""Compiles every installed header alone, twice included, with nothing but the installed headers in sight, and with words taken that Qt makes macros, by each compiler.

Usage: check_headers.py [--include FOLDER] COMPILER...
Prints what a compiler said about a header that fails; exits with 1 when there is one.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-Dsignals=public", "-Dslots=", "-Demit=", "-Dforeach=for", "-Dforever=for(;;)", "-xc++", "-"]


def compile_alone(compiler, include, header):
    """What `compiler` says about `header`; empty when it compiles."""
    text = f"#include <{header}>\n#include <{header}>\n"
    done = subprocess.run([compiler, f"-I{include}", f"-I{include}/sinew/messages", *FLAGS], input=text, capture_output=True, text=True, timeout=120)
    return "" if done.returncode == 0 else f"{compiler}: {header} does not compile alone:\n{done.stderr}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "include")
    parser.add_argument("compilers", nargs="+")
    arguments = parser.parse_args()
    headers = sorted(path.relative_to(arguments.include).as_posix() for path in arguments.include.glob("sinew/**/*.hpp"))
    if not headers:
        sys.exit(f"no headers below {arguments.include}/sinew")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(compile_alone, compiler, arguments.include, header) for compiler in arguments.compilers for header in headers]
        complaints = [job.result() for job in jobs if job.result()]
    print("\n".join(complaints) or f"{len(headers)} headers, each alone, by {', '.join(arguments.compilers)}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
