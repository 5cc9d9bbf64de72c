"""What a check says of units of compilation, asked again only about those that have changed since they passed.

A unit has not changed when its compile command, the check, and every file of this repository that it includes are the same. What has passed is
remembered for all clones, in sinew-checks of the user's cache folder.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCANNER = "clang-scan-deps-19"


def cache():
    """What is remembered for all clones. It may be deleted at any time."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "sinew-checks")


def includes_of(units, jobs):
    """Of each unit, the files that its compilation reads. `units`: of a compile_commands.json, whose folder has the headers that are generated."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        json.dump(units, listed)
        listed.flush()
        command = [SCANNER, "-compilation-database", listed.name, "-j", str(jobs), "-format=make"]
        rules = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.replace("\\\n", " ")
    # A rule of make each. A source may be compiled for several targets, with other flags.
    read_for = dict(rule.split(": ", 1) for rule in rules.splitlines() if rule)
    return [read_for[output_of(unit)].split() for unit in units]


def output_of(unit):
    words = shlex.split(unit["command"])
    return words[words.index("-o") + 1]


def fingerprint(unit, includes, check):
    """Changes whenever what the check says of this unit could change."""
    digest = hashlib.sha256(check)
    digest.update(unit["command"].replace(str(ROOT), "").encode())
    for name in sorted(set(includes)):
        file = pathlib.Path(unit["directory"], name).resolve()
        if file.is_relative_to(ROOT):
            digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def examine(units, complaints, check, jobs):
    """Whether nothing is wrong with any unit; prints what is. `complaints`: of a unit, empty when there are none. `check`: bytes that change with what it would say."""
    passed = cache()
    passed.mkdir(parents=True, exist_ok=True)
    due = [(unit, passed / fingerprint(unit, includes, check)) for unit, includes in zip(units, includes_of(units, jobs))]
    due = [(unit, mark) for unit, mark in due if not mark.exists()]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        examined = {pool.submit(complaints, unit): (unit, mark) for unit, mark in due}
        for each in concurrent.futures.as_completed(examined):
            unit, mark = examined[each]
            if said := each.result():
                wrong += 1
                print(f"--- {os.path.relpath(unit['file'], ROOT)}\n{said}", flush=True)
            else:
                mark.touch()
    print(f"{len(units)} units, {len(units) - len(due)} unchanged since they passed, {wrong} with findings")
    return bool(units) and wrong == 0
