#!/usr/bin/env python3
"""Repeats the experiments of the papers with sinew, with what a user would pick instead, and with the floors of this machine, in interleaved rounds. Writes tables, plots, one page of HTML and all samples.

Examples:
  bench/peers.py                                 all experiments, three rounds, about two hours; leave the machine alone meanwhile
  bench/peers.py --list                          which there are, after which figures, and how long they take
  bench/peers.py --only lot_latency --rounds 9   one of them, with narrower intervals
  bench/peers.py --systems sinew floor ros1-tcp  only these
  bench/peers.py --resume                        go on with a run that was interrupted
  bench/peers.py --report                        only write the report again
  bench/peers.py --agree OTHER/rows.jsonl        whether another run found the same
  bench/peers.py --quick                         one short round: shows that all of it works

What it needs: tools/setup peers installs Debian's packages, cargo fetches crates, tools/python_env.py the packages of Python (make bench-peers does all). What cannot be had is left out, and the report says why.
"""
import argparse
import importlib.util
import json
import pathlib
import shutil
import signal
import subprocess
import sys

import report
from compare import agree, extras, rounds, systems, tables, workload

ROOT = pathlib.Path(__file__).resolve().parent.parent


def facts():
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    return {**report.machine_facts(), "sinew": commit or "unknown"}


def write_report(experiments, further, chosen, rows, output):
    from compare import page, plots  # what they need is there only where reports are written

    titles = {system.name: system.title for system in chosen}
    colors = plots.colors_of(chosen)
    all_results = [tables.Results(experiment, rows.all, titles) for experiment in experiments]
    (output / "plots").mkdir(exist_ok=True)
    for results in all_results:
        plots.draw(results, colors, output / "plots")
    peers = {system.name for system in chosen if not system.ours and not system.floor}
    held = all(row.get("awake", True) for row in rows.all)
    counts = {row["round"] for row in rows.all}
    how = [f"rounds: {len(counts)}, interleaved, in random order; subscribers sleep until a message comes, unless said otherwise; every process has a core of its own where there are enough",
           "/dev/cpu_dma_latency: " + ("held at 0 while measuring" if held else "**not** held (needs root): waking an idle core may drown everything")]
    text = page.in_markdown(all_results, peers, chosen, facts(), how)
    text += page.of_extras(further, rows.all)
    (output / "report.md").write_text(text)
    (output / "report.html").write_text(page.in_html(text, output))
    print(f"written to {output}: report.html, report.md, plots/, rows.jsonl, and all samples in raw/")


def list_experiments(experiments, further, chosen, programs, count):
    for experiment in experiments:
        minutes = rounds.seconds_of([experiment], chosen, count) / 60
        print(f"{experiment.name:20} {len(experiment.cells()):3} cells, {minutes:5.0f} min: {experiment.title} ({experiment.source})")
    for extra in further:
        print(f"{extra.name:20} {len(extra.commands(programs, False)):3} runs,  {min(count, extra.rounds) * extra.seconds / 60:5.0f} min: {extra.title} ({extra.source})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often every cell is measured (default 3; 1 with --quick)")
    parser.add_argument("--count", type=int, help="messages of a cell, in place of what the experiments say: 50,000 tell p99.99")
    parser.add_argument("--only", nargs="+", metavar="EXPERIMENT", help="only these")
    parser.add_argument("--systems", nargs="+", metavar="SYSTEM", help="only these")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--resume", action="store_true", help="go on where a run was interrupted")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--report", action="store_true", help="only write the report of what was measured")
    parser.add_argument("--no-report", action="store_true", help="only measure")
    parser.add_argument("--agree", type=pathlib.Path, metavar="ROWS", help="compare with the rows of another run")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bin", help="where the drivers are; default: %(default)s")
    parser.add_argument("--python", type=pathlib.Path, default=ROOT / "build/bench-python/bin/python", help="interpreter for the drivers in Python; default: %(default)s")
    parser.add_argument("--rust", type=pathlib.Path, default=ROOT / "build/bench-peers-rust", help="where cargo has built its drivers; default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "bench/results", help="folder; default: %(default)s")
    options = parser.parse_args()
    if not (options.programs / "sinew-peer-sinew").exists():
        parser.error(f"{options.programs}/sinew-peer-sinew is not there: build it first (make bench-peers does)")
    experiments, further = workload.all_experiments(), list(extras.ALL)
    if options.only:
        names = [experiment.name for experiment in (*experiments, *further)]
        if unknown := set(options.only) - set(names):
            parser.error(f"there is no experiment '{min(unknown)}'; there are {', '.join(names)}")
        experiments, further = ([experiment for experiment in some if experiment.name in options.only] for some in (experiments, further))
    # So that everything is ended and removed then, too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    output = options.output.absolute()
    every = systems.all_systems(options.programs.resolve(), options.python.absolute(), options.rust.resolve())
    if options.systems and (unknown := set(options.systems) - {system.name for system in every}):
        parser.error(f"there is no system '{min(unknown)}'; there are {', '.join(system.name for system in every)}")
    chosen = [system for system in every if not options.systems or system.name in options.systems]
    count = options.rounds or (1 if options.quick else 3)
    if options.list:
        list_experiments(experiments, further, chosen, options.programs, count)
        return 0
    if not options.no_report and (missing := [name for name in ("markdown", "matplotlib") if importlib.util.find_spec(name) is None]):
        parser.error(f"the report needs {' and '.join(missing)}, which {sys.executable} has not: Debian's python3-markdown and python3-matplotlib belong to /usr/bin/python3; or --no-report")
    if not options.resume and not options.report and not options.agree:
        for name in ("raw", "plots"):
            shutil.rmtree(output / name, ignore_errors=True)
        (output / "rows.jsonl").unlink(missing_ok=True)
    output.mkdir(parents=True, exist_ok=True)
    rows = rounds.Rows(output / "rows.jsonl")
    if options.agree:
        same, of, by_chance, lines = agree.compare(rows.all, [json.loads(line) for line in options.agree.read_text().splitlines()])
        print("\n".join([*lines, f"{same} of {of} medians agree within their intervals; of so few rounds {by_chance:.0f} would differ by chance"]))
        return 0
    if not options.report:
        for system in chosen:
            if system.missing:
                print(f"{system.name} is left out: {system.missing}", file=sys.stderr)
        rounds.run(experiments, chosen, count, options.quick, options.count, rows, output / "raw")
        for number in range(count):
            for extra in further:
                extras.run(extra, options.programs.resolve(), number, options.quick, rows)
    if not options.no_report:
        write_report(experiments, further, chosen, rows, output)
    failed = [row for row in rows.all if "failed" in row]
    for row in failed:
        print(f"failed: {row['command'] if 'extra' in row else rounds.where(row)}: {row['failed']}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
