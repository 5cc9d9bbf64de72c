#!/usr/bin/env python3
"""Takes out one safety measure after the other (tests/seeded/faults.toml) in a copy of the sources, and expects of the tests named there that each of them fails.

Usage: seeded.py [--check] [--jobs N] [--only F3]...
A run over all of them takes an hour and a half or more, mostly spent waiting for what then never comes. It writes docs/hazards.md, with how many there were and at which version, when each test failed without its measure and passed
with it; the exit status is 0 when they did.
--check runs nothing: it says whether each fault can still be applied and whether its tests are there.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import bounded
import rust
import soak
import test

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests/seeded/faults.toml"
TABLE = ROOT / "docs/hazards.md"
COPY = ROOT / "build-seeded/tree"
BUILD_SECONDS = 3000
RUN_SECONDS = 300
SCRIPT_SECONDS = 1800
# F1 to F8, S1 to S16 and M1 to M9: what a design review found to be in the way of shared-memory messaging. G1: between machines.
FINDINGS = [f"{kind}{number}" for kind, last in (("F", 8), ("S", 16), ("M", 9), ("G", 1)) for number in range(1, last + 1)]
# A line of the page.
LAST_RUN = re.compile(r"^The last run over all .*$", re.MULTILINE)
OPTIONAL = {"preset": "dev", "root": False, "tries": 1}
KEYS = {"mend", "file", "where", "old", "new", "program", "tests"}

HEAD = """# Hazards of messages in shared memory

Written by [tools/seeded.py](../tools/seeded.py), from [tests/seeded/faults.toml](../tests/seeded/faults.toml). What can go wrong when processes share memory, what sinew does about it, and the test that fails when just that is taken out of the code: {count} measures.
{last_run}
How each is taken out is in that file; how to add one, in [CONTRIBUTING.md](../CONTRIBUTING.md).
F is what would corrupt memory or crash a correct program, S what is serious, M what is minor; G is what goes on between machines. *Open* says what nothing is done about, or what no test shows.

| no. | hazard | mend | place | test |
| --- | --- | --- | --- | --- |
"""


def load(path=FAULTS):
    """What faults.toml says: of each finding its hazard, its faults and what is open; each fault knows its finding and has all keys."""
    findings = tomllib.loads(path.read_text())
    for number, finding in findings.items():
        finding["faults"] = [{**OPTIONAL, "finding": number, **fault} for fault in finding.get("faults", [])]
    return findings


def faults_of(findings):
    return [fault for finding in findings.values() for fault in finding["faults"]]


# --- what can be said without running anything ---------------------------------------------------------------------------------------------


def names_of_tests(root):
    """Suite.name of all tests of C++ sources, Class.name of those of Python's, and the names of those of Rust's and of the trials of memory orders."""
    names = set()
    for source in (root / "models/orders").glob("*_trials.cpp"):
        names |= set(re.findall(r"\{\"(\w+)\", run<", source.read_text()))
    for folder in ("src", "manager", "tests"):
        for source in (root / folder).rglob("*_test.cpp"):
            names |= {f"{suite}.{name}" for suite, name in re.findall(r"\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", source.read_text())}
    for source in (root / "rust").glob("*/tests/*.rs"):
        names |= set(re.findall(r"#\[(?:tokio::)?test\b[^\n]*\]\n(?:async )?fn (\w+)", source.read_text()))
    for source in (root / "tests").rglob("test_*.py"):
        suite = ""
        for line in source.read_text().splitlines():
            if started := re.match(r"class (\w+)", line):
                suite = started[1]
            elif found := re.match(r" +def (test_\w+)", line):
                names.add(f"{suite}.{found[1]}")
    return names


def without_parameter(test_name):
    """Suite.name as the sources have it, of Prefix/Suite.name/parameter; a name without a suite as it is."""
    suite, dot, name = test_name.partition(".")
    return f"{suite.split('/')[-1]}{dot}{name.split('/')[0]}"


def complaints(findings, root):
    """What is wrong with the list, a sentence each."""
    said = []
    if list(findings) != FINDINGS:
        said.append(f"the findings must be {FINDINGS[0]} to {FINDINGS[-1]}, in this order")
    known = names_of_tests(root)
    for number, finding in findings.items():
        if strange := finding.keys() - {"hazard", "open", "faults"} or not finding.get("hazard"):
            said.append(f"{number}: strange keys, or no hazard: {strange}")
        if not finding["faults"] and not finding.get("open"):
            said.append(f"{number}: neither a fault nor a word about what is open")
        for fault in finding["faults"]:
            about = f"{number}, {fault.get('mend', 'without a mend')}:"
            if missing := KEYS - fault.keys():
                said.append(f"{about} lacks {', '.join(sorted(missing))}")
                continue
            if strange := fault.keys() - KEYS - OPTIONAL.keys() - {"finding"}:
                said.append(f"{about} strange keys {', '.join(sorted(strange))}")
            source = root / fault["file"]
            text = source.read_text() if source.is_file() else ""
            if (count := text.count(fault["old"])) != 1:
                said.append(f"{about} what it replaces stands {count} times in {fault['file']}, and not once")
            if fault["old"] == fault["new"]:
                said.append(f"{about} replaces something by itself")
            if not re.search(rf"(?<!\w){re.escape(fault['where'].split('::')[-1])}(?!\w)", text):
                said.append(f"{about} there is no {fault['where']} in {fault['file']}")
            if not fault["tests"]:
                said.append(f"{about} names no test")
            said += [f"{about} there is no test {name}" for name in fault["tests"] if without_parameter(name) not in known]
    return said


# --- running -----------------------------------------------------------------------------------------------------------------------------------


def synchronise(root, copy):
    """Makes `copy` the same as the checkout; files that are the same already stay untouched, so that builds in it go on."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, text=True, check=True)
    wanted = {name for name in listing.stdout.split("\0") if name and (root / name).is_file()}
    for name in wanted:
        source, target = root / name, copy / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        target.chmod(source.stat().st_mode)
    for folder, folders, names in os.walk(copy):
        folders[:] = [each for each in folders if not each.startswith("build")]
        for path in (pathlib.Path(folder) / name for name in names):
            if str(path.relative_to(copy)) not in wanted:
                path.unlink()


def is_script(program):
    """It builds what it needs itself."""
    return program.endswith(".py")


def is_of_rust(program):
    """The tests of a crate, as the path of their source."""
    return program.endswith(".rs")


def cargo_test(program, *words, seconds):
    """(status, what was said) of `cargo test` of one such program. With all features, as the tests of the workspace."""
    path = pathlib.PurePath(program)
    command = ["cargo", "test", "--package", path.parts[1], "--all-features", "--locked", "--test", path.stem, *words]
    return bounded.run(command, seconds=seconds, capture=True, env=rust.environment("test", COPY), cwd=COPY / rust.WORKSPACE.relative_to(ROOT), kill_rest=True)


def prefix_of(preset):
    return test.fixed_addresses() if preset == "tsan" else []


def build(preset, program, jobs):
    """(whether it is built, what was said)"""
    if is_script(program):
        return True, ""
    if is_of_rust(program):
        if not rust.install(jobs, COPY):
            return False, "the library for Rust does not build"
        status, said = cargo_test(program, "--jobs", str(jobs), "--no-run", seconds=BUILD_SECONDS)
        return status == 0, said
    said = ""
    for command in (
        ["cmake", "--log-level=WARNING", "--preset", preset],
        ["cmake", "--build", "--preset", preset, "--parallel", str(jobs), "--target", program],
    ):
        status, said = bounded.run(
            [*prefix_of(preset), *command], seconds=BUILD_SECONDS, capture=True, env=test.ENVIRONMENT.get(preset), cwd=COPY
        )
        if status != 0:
            return False, said
    return True, said


def verdict(status, said, name):
    """passed, failed, or in words why it is neither."""
    if status == bounded.TIMED_OUT:
        return "failed"
    if re.search(r"^\[  SKIPPED \] |\(skipped=\d+\)$|^test \S+ \.\.\. ignored", said, re.MULTILINE):
        return f"{name} was skipped here"
    if re.search(r"^[Rr]unning 0 tests|0 tests? from 0 test suites ran|^Ran 0 tests", said, re.MULTILINE):
        return f"there is no {name}"
    return "failed" if status != 0 else "passed"


def run(preset, program, name, tries=1):
    """passed when it passed each time, failed as soon as it failed, or in words why it is neither."""
    result = "passed"
    for _ in range(tries):
        # A test that fails may leave children behind that nobody tells to end.
        if is_of_rust(program):
            status, said = cargo_test(program, "--", "--exact", name, seconds=RUN_SECONDS)
        else:
            if is_script(program):
                command, seconds = ["python3", program, name], SCRIPT_SECONDS
            else:
                command, seconds = [*prefix_of(preset), COPY / f"build-{preset}" / "bin" / program, f"--gtest_filter={name}"], RUN_SECONDS
            status, said = bounded.run(command, seconds=seconds, capture=True, env=test.ENVIRONMENT.get(preset), cwd=COPY, kill_rest=True)
        result = verdict(status, said, name)
        if result != "passed":
            break
    return result


def passes_as_it_is(group, preset, program, jobs):
    """What fails although nothing was taken out, a sentence each: such a test would prove nothing."""
    built, said = build(preset, program, jobs)
    if not built:
        return [f"{program} does not build:\n{said[-2000:]}"]
    names = dict.fromkeys(name for fault in group for name in fault["tests"])
    return [f"{name}, with nothing taken out: {result}" for name in names if (result := run(preset, program, name)) != "passed"]


def try_out(fault, jobs):
    """What is wrong when this is taken out, a sentence each; nothing when each test fails."""
    source = COPY / fault["file"]
    whole = source.read_text()
    try:
        source.write_text(whole.replace(fault["old"], fault["new"]))
        built, said = build(fault["preset"], fault["program"], jobs)
        if not built:
            return [f"does not build:\n{said[-2000:]}"]
        results = {name: run(fault["preset"], fault["program"], name, fault["tries"]) for name in fault["tests"]}
    finally:
        source.write_text(whole)
    return [f"{name} {result} without it" for name, result in results.items() if result != "failed"]


def run_all(faults, jobs):
    """What is to be told of those that were not caught."""
    failures = []
    groups = {}
    for fault in faults:
        groups.setdefault((fault["preset"], fault["program"]), []).append(fault)
    for (preset, program), group in groups.items():
        print(f"=== seeded: {program} ({preset}), {len(group)} faults", flush=True)
        failures += (wrong := passes_as_it_is(group, preset, program, jobs))
        for sentence in wrong:
            print(f"  {sentence}", flush=True)
        for fault in group:
            if fault["root"] and os.geteuid() != 0:
                found = ["only root can try it"]
            else:
                found = try_out(fault, jobs)
            print(f"  {fault['finding']:<4} {'caught' if not found else 'NOT CAUGHT'}: {fault['mend']}", flush=True)
            for sentence in found:
                print(f"       {sentence}", flush=True)
            failures += [f"{fault['finding']}, {fault['mend']}: {sentence}" for sentence in found]
    return failures


# --- the table ---------------------------------------------------------------------------------------------------------------------------------


def told(count, commit):
    """The line about a run over all of them that found nothing wrong."""
    return f"The last run over all took out {count} measures, at {commit}: without its measure each test that is named failed, with it they all passed. Who adds a row, or changes one, tries that by itself."


def table(findings, last_run=None):
    """The page. What it says of the last run over all stays, unless there was another."""
    if last_run is None:
        last_run = LAST_RUN.search(TABLE.read_text())[0]
    lines = []
    for number, finding in findings.items():
        first = f"{number} | {finding['hazard']}"
        for fault in finding["faults"]:
            place = f"[{fault['file']}](../{fault['file']}): `{fault['where']}`"
            tests = "<br>".join(f"`{fault['program'].split('/')[-1]}: {name}`" for name in fault["tests"])
            remark = " (as root)" if fault["root"] else " (thread sanitizer)" if fault["preset"] == "tsan" else ""
            lines.append(f"| {first} | {fault['mend']} | {place} | {tests}{remark} |")
            first = f"{number} | "
        if finding.get("open"):
            lines.append(f"| {first} | *Open:* {finding['open']} | | |")
    return HEAD.format(count=len(faults_of(findings)), last_run=last_run) + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", action="append", default=[], metavar="FINDING")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    findings = load()
    said = complaints(findings, ROOT)
    if arguments.check or said:
        count = len(faults_of(findings))
        print("\n".join(said) or f"{count} faults can be applied, and their tests are there")
        return 1 if said else 0
    if unknown := [number for number in arguments.only if number not in findings]:
        parser.error(f"no such finding: {', '.join(unknown)}")
    faults = [fault for fault in faults_of(findings) if not arguments.only or fault["finding"] in arguments.only]
    synchronise(ROOT, COPY)
    failures = run_all(faults, arguments.jobs)
    print("\n".join([f"=== seeded: {len(faults)} faults, " + ("all caught" if not failures else f"{len(failures)} things wrong"), *failures]))
    if not failures and not arguments.only:
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(table(findings, told(len(faults), soak.commit())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
