#!/usr/bin/env python3
"""Builds the fuzzers and runs each for a while, side by side as far as there are jobs. Each starts from the seeds in tests/fuzz/corpus/NAME and from what it has found in
earlier runs, which it keeps in build-fuzz/corpus/NAME. All run, also after one has failed.

Usage: fuzz.py [--jobs N] [--seconds S] [NAME...]        names: those of the folders in tests/fuzz/corpus
The exit status is 0 when nothing was found. What was found is in build-fuzz/crashes; what a fuzzer says while it runs, in build-fuzz/logs.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import bounded
import crates
import rust

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = ROOT / "tests/fuzz/corpus"
BUILD = ROOT / "build-fuzz"
BUILD_SECONDS = 1500
# Those of the gateway are in Rust: counted by the same passes of LLVM as the others, without a sanitizer, which only nightly Rust has.
OF_GATEWAY = ROOT / "rust/sinew-gateway/fuzz"
PASSES = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table -Ccodegen-units=1"
# What one input may take before it counts as endless, and a fuzzer longer than it should run: a machine may stand still for a while.
INPUT_SECONDS = 120
GRACE_SECONDS = 300
ENVIRONMENT = {"LD_LIBRARY_PATH": str(rust.PREFIX / "lib"), "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
# What says first what is wrong, in the words of the fuzzers, the sanitizers and libFuzzer.
WRONG = re.compile(r"NOT TRUE: |panicked at |runtime error: |ERROR: |error while loading")


def names():
    return sorted(folder.name for folder in SEEDS.iterdir())


def build(jobs):
    """True when all fuzzers are there."""
    configure = ["cmake", "--log-level=WARNING", "--preset", "fuzz"]
    compile_all = ["cmake", "--build", "--preset", "fuzz", "--parallel", str(jobs)]
    return all(bounded.run(command, seconds=BUILD_SECONDS, cwd=ROOT)[0] == 0 for command in (configure, compile_all)) and build_in_rust(jobs)


def build_in_rust(jobs):
    if not rust.install(jobs):
        return False
    environment = rust.environment("fuzz") | {"RUSTFLAGS": PASSES}
    told = bounded.run(["rustc", "-vV"], seconds=60, capture=True)[1]
    # Named, so that the flags are not for what runs while it is built.
    target = re.search(r"^host: (.+)$", told, re.MULTILINE).group(1)
    command = ["cargo", "build", "--locked", "--quiet", "--target", target, "--jobs", str(jobs)]
    with crates.shared(environment, OF_GATEWAY):
        if bounded.run(command, seconds=BUILD_SECONDS, env=environment, cwd=OF_GATEWAY)[0] != 0:
            return False
    for name in ("fuzz_gateway_attachments", "fuzz_gateway_config", "fuzz_gateway_ros1", "fuzz_gateway_wire"):
        shutil.copy(pathlib.Path(environment["CARGO_TARGET_DIR"]) / target / "debug" / name, BUILD / "bin" / name)
    return True


def command_of(name, seconds):
    corpus = BUILD / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    (BUILD / "crashes").mkdir(exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-timeout={INPUT_SECONDS}", f"-artifact_prefix={BUILD}/crashes/{name}-", "-print_final_stats=1"]
    return [BUILD / "bin" / f"fuzz_{name}", *options, corpus, SEEDS / name]


def progress(said):
    """How many inputs were tried, and in words how much of the program they reached."""
    tried = re.findall(r"^stat::number_of_executed_units:\s*(\d+)", said, re.MULTILINE) or re.findall(r"^#(\d+)\s", said, re.MULTILINE)
    reached = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", said)
    cov, ft, corpus = reached[-1] if reached else ("0", "0", "0")
    count = int(tried[-1]) if tried else 0
    return count, f"{count:>10} inputs, {cov:>5} edges, {ft:>6} features, {corpus:>5} kept"


def failure(name, status, said, log):
    """What a fuzzer found, in a few lines: what is wrong, and how to see it again; nothing when all is well."""
    if status == 0 and "stat::number_of_executed_units" in said:
        return None
    wrong = next((line for line in said.splitlines() if WRONG.search(line)), "it says nothing about why")
    written = re.findall(r"Test unit written to (.+)$", said, re.MULTILINE)
    again = f"to see it again: {BUILD}/bin/fuzz_{name} {written[-1]}" if written else "no input was kept"
    return f"failed: {name} ended with status {status}: {wrong.strip()}\n    {again}\n    what it said: {log}"


def stop(process):
    os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def run(wanted, *, seconds, jobs, command_of=command_of):
    """What is to be told of those that failed. Says of each how far it came."""
    logs = BUILD / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    waiting, running, failures, all_tried = list(wanted), {}, [], 0
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                name = waiting.pop(0)
                with open(logs / f"{name}.log", "wb") as log:
                    process = subprocess.Popen(
                        command_of(name, seconds),
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        env=os.environ | ENVIRONMENT,
                        cwd=ROOT,
                        start_new_session=True,
                    )
                running[name] = (process, time.monotonic() + seconds + GRACE_SECONDS)
            time.sleep(0.1)
            for name, (process, deadline) in list(running.items()):
                if process.poll() is None and time.monotonic() < deadline:
                    continue
                status = bounded.TIMED_OUT if process.poll() is None and stop(process) else process.returncode
                del running[name]
                log = logs / f"{name}.log"
                said = log.read_text(errors="replace")
                found = failure(name, status, said, log)
                tried, reached = progress(said)
                all_tried += tried
                print(f"  {name:<14} {reached}   {'FAILED' if found else 'ok'}", flush=True)
                failures += [found] if found else []
    finally:
        for process, _ in running.values():
            stop(process)
    print(f"  {'together':<14} {all_tried:>10} inputs", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(epilog="names: " + " ".join(names()))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in names()]:
        parser.error(f"no such fuzzer: {', '.join(unknown)}")
    if not build(arguments.jobs):
        print("the fuzzers do not build")
        return 1
    wanted = arguments.names or names()
    print(f"=== fuzz: {len(wanted)} fuzzers, {arguments.seconds} s each, {arguments.jobs} at a time; they speak in {BUILD}/logs", flush=True)
    try:
        failures = run(wanted, seconds=arguments.seconds, jobs=arguments.jobs)
    except KeyboardInterrupt:
        print("stopped; what was found so far is kept")
        return 130
    print("\n".join(["=== fuzz: " + ("nothing was found" if not failures else f"{len(failures)} FAILED"), *failures]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
