"""Tables of rows, in Markdown: what was measured, beside sinew in the same round, and where sinew is ahead."""
import itertools
import statistics

from compare import figures
from report import size_name

# What is compared: name, key of a row ({} is what the experiment measures), unit.
COMPARED = (("p50", "{}_p50_us", "us"), ("p99", "{}_p99_us", "us"), ("processor time a message", "cpu_us", "us"), ("memory", "pss_mib", "MiB"))
# From here on sinew is to be ahead of all peers, below it level.
LARGE = 4096


def value_name(name, value):
    """A value of an axis, as people read it."""
    if isinstance(value, dict):
        if set(value) == {"publishers", "subscribers"}:
            return f"{counted(value['publishers'], 'publisher')}, {counted(value['subscribers'], 'subscriber')}"
        return ", ".join(value_name(*item) for item in value.items())
    if name == "size":
        return size_name(value)
    if name in ("publishers", "subscribers"):
        return counted(value, name[:-1])
    if name == "containers":
        return {"none": "on the host", "one": "in one container", "each": "in a container each"}[value]
    if name == "pinned":
        return "a core for each process" if value else "as the scheduler likes"
    return f"{value} % load" if name == "load" else f"{name} {value}"


IN_ONE_PROCESS = "sinew-process"

# What drives towards the red light, in m/s: TZC's robot, and its car.
SPEEDS = {"robot at 60 cm/s": 0.6, "car at 60 km/h": 60 / 3.6}


def counted(count, word):
    return f"{count} {word}{'' if count == 1 else 's'}"


def is_large(cell):
    return cell["size"] > LARGE or cell["size_step"] > 0  # which grows to megabytes


def belongs(row, wanted):
    """Whether its cell has all these values of axes."""
    for name, value in wanted.items():
        if any(row["cell"][key] != one for key, one in (value if isinstance(value, dict) else {name: value}).items()):
            return False
    return True


class Results:
    """The rows of one experiment that were measured."""

    def __init__(self, experiment, rows, titles):
        self.experiment = experiment
        these = [row for row in rows if "cell" in row and row["cell"]["experiment"] == experiment.name]
        self.rows = [row for row in these if "failed" not in row]
        self.failed = [row for row in these if "failed" in row]
        self.titles = titles
        measured = {row["system"] for row in self.rows}
        self.systems = [name for name in experiment.systems if name in measured]

    @property
    def first(self):
        """What others are held against."""
        return self.experiment.systems[0]

    def ours_for(self, system):
        """The same for this one: what runs in one process is held against sinew in one process, where that is measured."""
        return IN_ONE_PROCESS if system.endswith("-process") and IN_ONE_PROCESS in self.systems and system != IN_ONE_PROCESS else self.first

    def panels(self):
        """Combinations of values of the axes that have a plot of their own."""
        return self.combinations(self.experiment.panels)

    def cells(self):
        """(panel, column) of all tables."""
        return itertools.product(self.table_panels(), self.columns())

    def table_panels(self):
        """The same of those that have a table of their own: what are its columns is none of them."""
        return self.combinations([name for name in self.experiment.panels if name != self.experiment.x])

    def combinations(self, names):
        return [dict(zip(names, values)) for values in itertools.product(*(self.experiment.axes[name] for name in names))]

    def columns(self):
        return self.experiment.axes[self.experiment.x]

    def by_round(self, key, system, wanted):
        """{round: value}."""
        key = key.format(self.experiment.measure)
        return {row["round"]: row[key] for row in self.rows if row["system"] == system and row.get(key) is not None and belongs(row, wanted)}

    def ratios(self, key, system, wanted):
        """How many times as much as sinew's, in each round that has both."""
        ours = self.by_round(key, self.ours_for(system), wanted)
        return [value / ours[number] for number, value in self.by_round(key, system, wanted).items() if ours.get(number)]

    def table(self, panel, show):
        columns = self.columns()
        lines = ["| |" + "".join(f" {value_name(self.experiment.x, value)} |" for value in columns), "|---|" + "---|" * len(columns)]
        for system in self.systems:
            shown = [show(system, panel | {self.experiment.x: value}) for value in columns]
            if any(shown):
                lines.append(f"| {self.titles.get(system, system)} | " + " | ".join(shown) + " |")
        return lines if len(lines) > 2 else []

    def spread_of(self, *keys):
        def show(system, wanted):
            found = [list(self.by_round(key, system, wanted).values()) for key in keys]
            return " / ".join(figures.spread(values) for values in found) if all(found) else ""
        return show

    def ratio_of(self, *keys):
        def show(system, wanted):
            found = [self.ratios(key, system, wanted) for key in keys]
            return " / ".join(figures.spread(values) for values in found) if system != self.first and all(found) else ""
        return show

    def lost(self, system, wanted):
        these = [row for row in self.rows if row["system"] == system and belongs(row, wanted)]
        lost, damaged, expected = (sum(row[key] for row in these) for key in ("lost", "damaged", "expected"))
        return ", ".join(f"{100 * count / expected:.2g} % {word}" for count, word in ((lost, "lost"), (damaged, "damaged")) if count)

    def fairness(self, system, wanted):
        """How much later the last subscriber has a message than the first, by their medians."""
        found = self.by_round("{}_each_p50_us", system, wanted).values()
        found = [[one for one in each if one is not None] for each in found]
        return figures.spread([max(each) - min(each) for each in found]) if found and all(len(each) > 1 for each in found) else ""

    def tail(self, system, wanted):
        """The highest percentile beyond p99 that so many samples tell."""
        for name in ("p9999", "p999"):
            values = list(self.by_round(f"{{}}_{name}_us", system, wanted).values())
            if values:
                return f"{figures.spread(values)} (p99.{name[3:]})"
        return ""

    def distance_at(self, speed):
        def show(system, wanted):
            found = [value / 1000 * speed * 100 for value in self.by_round("seen_max_ms", system, wanted).values()]
            return figures.spread(found) if found else ""
        return show

    def limits_of(self, system, wanted):
        """{round: (rate, whether there is a limit)}, as figures.limit_of() has them."""
        return {row["round"]: figures.limit_of(row["steps"]) for row in self.rows if row["system"] == system and belongs(row, wanted) and row["steps"]}

    def limits(self, system, wanted):
        found = self.limits_of(system, wanted).values()
        if not found:
            return ""
        return ("" if all(met for _, met in found) else "none up to ") + figures.spread([rate for rate, _ in found])


def of_experiment(results):
    """The tables of one experiment."""
    experiment = results.experiment
    sweep = experiment.plot == "sweep"
    shown = [] if sweep else [
        ("p50 / p99, us", results.spread_of("{}_p50_us", "{}_p99_us")),
        (f"The same over that of {results.titles.get(results.first, results.first)} in the same round, of what runs in one process over that of sinew in one process; above 1, sinew is ahead", results.ratio_of("{}_p50_us", "{}_p99_us")),
        ("The highest percentile that so many messages tell, us", results.tail),
        ("Processor time of all processes for each published message, filling included, us", results.spread_of("cpu_us")),
        ("Memory of all processes, of shared pages their share / of nobody else, MiB", results.spread_of("pss_mib", "private_mib")),
        ("Between the medians of the first and of the last subscriber, us", results.fairness),
    ]
    if experiment.plot == "braking":
        shown.insert(0, ("How long after the light has turned red that is recognised, on average / at most, ms", results.spread_of("seen_mean_ms", "seen_max_ms")))
        for name, speed in SPEEDS.items():
            shown.insert(1, (f"How far a {name} goes until then, at most, cm", results.distance_at(speed)))
    if sweep and any(cell["rate_step"] for cell in experiment.cells()):
        shown.append((f"The highest rate at which it publishes and {100 * (1 - figures.MOST_LOST):g} % are received, Hz", results.limits))
    shown.append(("Lost, of all deliveries", results.lost))
    lines = []
    for title, show in shown:
        tables = [(panel, results.table(panel, show)) for panel in results.table_panels()]
        for panel, table in tables:
            if table:
                of = ", ".join(value_name(*item) for item in panel.items())
                lines += ["", f"{title}{' (' + of + ')' if of else ''}:", "", *table]
    return lines


def verdicts(all_results, peers):
    """For each peer in how many cells sinew is ahead or behind (all of the interval of the ratio is), or level, and a line for each cell where it is behind."""
    counts, behind = {}, []
    for results in all_results:
        for panel, column in results.cells():
            wanted = panel | {results.experiment.x: column}
            for system in results.systems:
                if system not in peers:
                    continue
                large = [is_large(row["cell"]) for row in results.rows if belongs(row, wanted)]
                for name, key, _ in COMPARED:
                    ratios = results.ratios(key, system, wanted)
                    if not ratios:
                        continue
                    low, high, _ = figures.interval(ratios)
                    verdict = "ahead" if low > 1 else "behind" if high < 1 else "level"
                    counted_in = counts.setdefault((system, name, large[0]), {"ahead": 0, "level": 0, "behind": 0})
                    counted_in[verdict] += 1
                    if verdict == "behind":
                        where = ", ".join([value_name(results.experiment.x, column), *(value_name(*item) for item in panel.items())])
                        behind.append(f"| {results.experiment.title} | {where} | {results.titles.get(system, system)} | {name} | {figures.spread(ratios)} |")
    return counts, behind


def limit_lines(results, names, titles):
    """How many times as fast as the best of `names` a publisher of images to five subscribers can be, in each round."""
    wanted = {"subscribers": 5}
    def rates_of(name):
        return {number: rate for number, (rate, _) in results.limits_of(name, wanted).items() if rate > 0}

    ours, theirs = rates_of(results.first), {name: found for name in names if (found := rates_of(name))}
    if not ours or not theirs:
        return []
    best = max(theirs, key=lambda name: statistics.median(theirs[name].values()))
    ratios = [rate / theirs[best][number] for number, rate in ours.items() if number in theirs[best]]
    if not ratios:
        return []
    return ["", f"Images of {size_name(results.rows[0]['cell']['size'])} to five subscribers: a publisher can go up to {figures.spread(list(ours.values()))} Hz, "
            f"{figures.spread(ratios)} times as fast as with {titles[best]}, the best of those whose messages are ordinary C++ types."]


def verdict_lines(all_results, peers, titles):
    counts, behind = verdicts(all_results, peers)
    lines = []
    for large, title in ((True, f"Payloads above {size_name(LARGE)}"), (False, f"Payloads up to {size_name(LARGE)}")):
        names = [system for system in titles if any(key[0] == system and key[2] == large for key in counts)]
        if not names:
            continue
        lines += ["", f"{title}, cells in which sinew is ahead / level / behind:", "", "| |" + "".join(f" {name} |" for name, *_ in COMPARED), "|---|" + "---|" * len(COMPARED)]
        for system in names:
            shown = [counts.get((system, name, large)) for name, *_ in COMPARED]
            lines.append(f"| {titles[system]} | " + " | ".join(f"{one['ahead']} / {one['level']} / {one['behind']}" if one else "" for one in shown) + " |")
    if behind:
        lines += ["", "Where it is behind (what the other takes over what sinew takes, in the same round):", "", "| experiment | cell | system | what | ratio |", "|---|---|---|---|---|", *behind]
    return lines
