"""Measures all cells in interleaved rounds, and keeps a row for each in a file as it comes, so that a run that was interrupted can go on."""
import json
import random
import statistics
import sys
import time

from awake import awake
from compare import cells, figures
from compare.processes import Failed
from report import size_name


def name_of(cell):
    """What is particular to it, as people read it."""
    words = [f"{cell['publishers']}p{cell['subscribers']}s", size_name(cell["size"])]
    words += [f"{key.replace('_', ' ')} {cell[key]}" for key, usual in cells.DEFAULTS.items() if key not in ("publishers", "subscribers", "size", "count") and cell[key] != usual]
    return " ".join(words)


def where(row):
    return f"{row['cell']['experiment']}, {row['system']}, {name_of(row['cell'])}, round {row['round'] + 1}"


def key_of(cell, system, number):
    return json.dumps([cell["experiment"], {name: cell[name] for name in cells.DEFAULTS}, system, number], sort_keys=True)


class Rows:
    """All that has been measured, or could not be."""

    def __init__(self, path):
        self.path = path
        self.all = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def done(self):
        return {key_of(row["cell"], row["system"], row["round"]) for row in self.all if "cell" in row}

    def add(self, row):
        self.all.append(row)
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")


def plan(experiments, systems, rounds, quick=False, count=None):
    """Round for round a list of (cell, systems of it), in random order; the systems of a cell right after each other, in random order, too. `count`: of messages, where it does not grow."""
    for number in range(rounds):
        chosen = []
        for experiment in experiments:
            if experiment.rounds and number >= experiment.rounds:
                continue
            for cell in experiment.cells():
                if count and not cell["rate_step"] and not cell["size_step"]:
                    cell |= {"count": count}
                if quick:
                    cell |= {"count": min(cell["count"], 5), "rate": max(cell["rate"], 500)}
                these = [system for system in systems if system.name in experiment.systems and not system.missing and system.takes(cell)]
                chosen.append((cell, random.sample(these, len(these))))
        yield number, random.sample(chosen, len(chosen))


def seconds_of(experiments, systems, rounds):
    """About how long it takes."""
    return sum(len(these) * (cells.seconds_of(cell) + 0.5 + bool(cell["load"])) for _, chosen in plan(experiments, systems, rounds) for cell, these in chosen)


def run(experiments, systems, rounds, quick, count, rows, raw):
    """Adds a row for each cell, system and round that has none yet."""
    done = rows.done()
    left = [(number, cell, system) for number, chosen in plan(experiments, systems, rounds, quick, count) for cell, these in chosen for system in these
            if key_of(cell, system.name, number) not in done]
    begin = time.monotonic()
    with awake() as granted:
        for at, (number, cell, system) in enumerate(left):
            spent = time.monotonic() - begin
            rest = f", {spent / at * (len(left) - at) / 60:.0f} min left" if at > 20 else ""
            print(f"{at + 1} of {len(left)}{rest}: {cell['experiment']}, {system.name}, {name_of(cell)}", file=sys.stderr, flush=True)
            row = {"cell": cell, "system": system.name, "round": number, "awake": granted}
            keep = raw / cell["experiment"] / name_of(cell).replace(" ", "-") / f"{system.name}-{number}" if raw else None
            try:
                measured = cells.measure(system, cell, keep)
                row |= figures.row_of(measured)
                if cell["rate_step"] or cell["size_step"]:
                    row["steps"] = figures.steps_of(measured, cell)
                if cell["work"] == "light" and (seen := figures.seen_of(measured)):
                    row |= {"seen_mean_ms": statistics.fmean(seen), "seen_max_ms": max(seen)}
            except Failed as why:
                row["failed"] = str(why)
            rows.add(row)
