#!/usr/bin/env python3
"""Builds and runs every test suite: the whole suite as developers build it, the same under the address and undefined-behaviour
sanitizers, the same under the thread sanitizer, each fuzzer for half a minute, the models of the protocols, the Rust workspace, the Python package, the three languages
beside each other, a small robot, a session with the command beside the demo, the tests of an installed sinew, and the site of the pages.
All suites run, also after one has failed.

Usage: test.py [--jobs N] [SUITE...]        suites: dev asan tsan fuzz models rust python interop robot command install site; and, only when it is named, aarch64
The last line is "N passed, N failed"; a suite that does not build counts as one failed test. The exit status is 0 when none failed.
"""

import argparse
import os
import pathlib
import re
import signal
import sys
import time
import xml.etree.ElementTree

import bounded
import crates
import fuzz
import models
import orders
import python_env
import python_package
import rust

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD_SECONDS = 1500
RUN_SECONDS = 900
FUZZ_SECONDS = 30
# Tests wait for half of their time: for processes to start and to end, and for deadlines.
TESTS_PER_JOB = 2
# What is repeated of a failed test above the last table, thousands of lines after it was printed.
LINES_OF_A_FAILURE = 12

# A sanitizer's finding must end the program that it found it in, with a status that no test takes for success.
ENVIRONMENT = {
    "asan": {
        "ASAN_OPTIONS": "halt_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1:exitcode=86",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=86",
    },
    "tsan": {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:exitcode=66"},
}
# The thread sanitizer of GCC 12 does not start when the kernel randomizes addresses by more bits than this.
TSAN_RANDOM_BITS = 28
# Not under qemu-user, and why. It lacks what they are about, and what is left says nothing of the processor.
NOT_EMULATED = {
    "Log.lines_that_a_terminal_has_no_room_for_are_left_out_and_counted_where_nobody_may_wait": "it opens no terminal, as its pages are larger than the machine's",
    "Log.a_terminal_that_was_stopped_holds_nobody_up_who_may_not_wait": "likewise",
    "Mapping.of_a_large_file_it_has_huge_pages_where_the_kernel_gives_them": "huge pages are the machine's",
    "Mapping.S8_S9_every_kind_of_mapping_is_kept_from_children_and_from_core_files": "its madvise() does nothing",
    "Mapping.S8_a_forked_child_has_it_not_and_cannot_harm_its_parent": "likewise",
    "Sealed.M1_nobody_cuts_it_lengthens_it_punches_holes_or_lifts_the_seals": "likewise: MADV_REMOVE",
    "Sessions.memory_and_descriptors_do_not_grow_with_reconnecting_nodes": "the memory that grows is its own",
    "Timers.A_loop_without_timers_and_one_whose_timers_are_over_are_never_woken": "it sleeps and wakes for reasons of its own",
}


def fixed_addresses():
    """What to put before a command so that its processes can be thread-sanitized; nothing where the kernel allows it as it is."""
    try:
        bits = int(pathlib.Path("/proc/sys/vm/mmap_rnd_bits").read_text())
    except (OSError, ValueError):
        return []
    return ["setarch", "-R"] if bits > TSAN_RANDOM_BITS else []


def failure(case):
    """A failed test in a few lines: its name, and what it said first that is wrong, or else last."""
    said = (case.findtext("system-out") or "").splitlines()
    wrong = next((at for at, line in enumerate(said) if re.search(r": Failure$|ERROR: |WARNING: ThreadSanitizer|runtime error: ", line)), -LINES_OF_A_FAILURE)
    return "\n".join([f"failed: {case.get('name')}", *("    " + line for line in said[wrong:][:LINES_OF_A_FAILURE])])


def ctest_suite(preset, jobs):
    """(passed, failed, skipped, what failed) of the suite built by a preset."""
    prefix = fixed_addresses() if preset == "tsan" else []
    environment = ENVIRONMENT.get(preset, {})
    # Building runs the test programs too: they are asked for their cases.
    for command in (
        ["cmake", "--log-level=WARNING", "--preset", preset],
        [*prefix, "cmake", "--build", "--preset", preset, "--parallel", str(jobs)],
    ):
        if bounded.run(command, seconds=BUILD_SECONDS, env=environment, cwd=ROOT)[0] != 0:
            return 0, 1, 0, [f"failed: {preset} does not build"]
    results = ROOT / f"build-{preset}" / "results.xml"
    results.unlink(missing_ok=True)
    command = [*prefix, "ctest", "--test-dir", str(results.parent), "--parallel", str(TESTS_PER_JOB * jobs), "--output-on-failure"]
    if preset == "aarch64":
        command += ["--exclude-regex", "|".join(re.escape(name) + "$" for name in NOT_EMULATED)]
    status, _ = bounded.run([*command, "--no-tests=error", "--output-junit", results], seconds=RUN_SECONDS, env=environment, cwd=ROOT)
    if not results.exists():
        return 0, 1, 0, [f"failed: ctest ended with status {status} and without results"]
    passed = skipped = 0
    failures = []
    for case in xml.etree.ElementTree.parse(results).getroot().iter("testcase"):
        reason = case.find("skipped")
        if case.get("status") == "run":
            passed += 1
        # A test that asked to be skipped, unlike one that could not be started.
        elif case.get("status") == "disabled" or (reason is not None and reason.get("message", "").startswith("SKIP_")):
            skipped += 1
        else:
            failures.append(failure(case))
    if status != 0 and not failures:
        failures.append(f"failed: ctest ended with status {status}")
    return passed, len(failures), skipped, failures


def unittest_suite(name, jobs):
    """(passed, failed, skipped, what failed) of the tests in Python in a folder, which build what they need."""
    command = ["python3", "-m", "unittest", "discover", "--start-directory", f"tests/{name}"]
    status, output = bounded.run(command, seconds=BUILD_SECONDS + RUN_SECONDS, capture=True, env={"JOBS": str(jobs)}, cwd=ROOT)
    return unittest_results(status, output)


def unittest_results(status, output):
    """(passed, failed, skipped, what failed) of a run of unittest, whose output is printed."""
    print(output)
    ran = re.search(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    last = output.splitlines()[-1] if ran else ""
    failed = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", last))
    skipped = sum(int(number) for number in re.findall(r"skipped=(\d+)", last))
    if status != 0:
        failed = max(failed, 1)
    failures = ["failed: " + line for line in re.findall(r"^(?:FAIL|ERROR): .*", output, re.MULTILINE)]
    return max(int(ran.group(1)) - failed - skipped, 0) if ran else 0, failed, skipped, failures


def fuzz_suite(_, jobs):
    """(passed, failed, skipped, what failed) of the fuzzers."""
    if not fuzz.build(jobs):
        return 0, 1, 0, ["failed: the fuzzers do not build"]
    failures = fuzz.run(fuzz.names(), seconds=FUZZ_SECONDS, jobs=jobs)
    return len(fuzz.names()) - len(failures), len(failures), 0, failures


def models_suite(_, jobs):
    """(passed, failed, skipped, what failed) of the models of the protocols, and of the memory orders of the real ones."""
    passed, failures = models.run(models.names(), jobs)
    in_order, out_of_order = orders.run()
    return passed + in_order, len(failures) + len(out_of_order), 0, failures + out_of_order


def rust_suite(_, jobs):
    """(passed, failed, skipped, what failed) of the Rust workspace, with the library and the manager as developers build them."""
    if not rust.install(jobs):
        return 0, 1, 0, ["failed: the library for Rust does not build"]
    environment = rust.environment("test") | {"RUST_TEST_THREADS": str(TESTS_PER_JOB * jobs)}
    # Tests that read what sinew writes with the tools of others skip that without it.
    interpreter = python_env.make()
    if interpreter:
        environment["SINEW_TEST_PYTHON"] = str(interpreter)
    command = ["cargo", "test", "--workspace", "--all-features", "--locked", "--no-fail-fast", "--jobs", str(jobs)]
    with crates.shared(environment, rust.WORKSPACE):
        status, output = bounded.run(command, seconds=BUILD_SECONDS + RUN_SECONDS, capture=True, env=environment, cwd=rust.WORKSPACE)
    print(output)
    results = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", output, re.MULTILINE)
    passed, failed, ignored = (sum(int(one[n]) for one in results) for n in range(3))
    failures = ["failed: " + name for name in re.findall(r"^test (.+) \.\.\. FAILED$", output, re.MULTILINE)]
    if status != 0 and failed == 0:
        failed, failures = 1, [f"failed: cargo test ended with status {status}"]
    if not interpreter:
        failed, failures = failed + 1, [*failures, "failed: tools/python_env.py could not install the tools of others, so nothing was compared with them"]
    return passed, failed, ignored, failures


def python_suite(_, jobs):
    """(passed, failed, skipped, what failed) of the Python package, as pip installs it, and of what generates messages."""
    interpreter = python_package.install(jobs)
    if not interpreter:
        return 0, 1, 0, ["failed: the Python package does not build"]
    results = [unittest_results(*python_package.run_tests(interpreter, folder)) for folder in python_package.TESTS]
    passed, failed, skipped, failures = zip(*results)
    return sum(passed), sum(failed), sum(skipped), [each for of_folder in failures for each in of_folder]


SUITES = {
    "dev": (ctest_suite, "as developers build it"),
    "asan": (ctest_suite, "under the address and undefined-behaviour sanitizers"),
    "tsan": (ctest_suite, "under the thread sanitizer"),
    "aarch64": (ctest_suite, "for 64-bit ARM, under qemu-user"),
    "fuzz": (fuzz_suite, f"each fuzzer for {FUZZ_SECONDS} s"),
    "models": (models_suite, "the models of the protocols and their memory orders, and mutations of them"),
    "rust": (rust_suite, "the Rust workspace"),
    "python": (python_suite, "the Python package as pip builds it, and the generator of messages"),
    "interop": (unittest_suite, "programs in C++, Rust and Python beside each other"),
    "robot": (unittest_suite, "a small robot of C++, Python and ROS 2, launched, killed, recorded, and driven over a bad link"),
    "command": (unittest_suite, "a session in a terminal with every verb of the command, beside the demo"),
    "install": (unittest_suite, "an installed sinew, as a stranger uses it"),
    "site": (unittest_suite, "the site of the pages in docs/"),
}


def main():
    parser = argparse.ArgumentParser(epilog="suites: " + "; ".join(f"{name}: {what}" for name, (_, what) in SUITES.items()))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.suites if name not in SUITES]:
        parser.error(f"no such suite: {', '.join(unknown)}")
    # Started in the background, as by `make test &`, it ignores interrupts, and what it starts would, too; some tests interrupt what they test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    lines, all_failures, all_passed, all_failed = [], [], 0, 0
    for name in arguments.suites or [name for name in SUITES if name != "aarch64"]:
        function, title = SUITES[name]
        print(f"\n=== test {name}: {title}", flush=True)
        start = time.monotonic()
        passed, failed, skipped, failures = function(name, arguments.jobs)
        lines.append(f"  {name:<8} {passed:5} passed {failed:5} failed {skipped:5} skipped   {time.monotonic() - start:6.0f} s")
        all_passed, all_failed = all_passed + passed, all_failed + failed
        all_failures += [f"{name} {what}" for what in failures]
    # The names last, a line each: whoever sees only the end of the output sees what to run again.
    names = [failure.splitlines()[0] for failure in all_failures]
    print("\n=== test: all suites\n" + "\n".join(all_failures + lines + names))
    print(f"{all_passed} passed, {all_failed} failed")
    return 1 if all_failed else 0


if __name__ == "__main__":
    sys.exit(main())
