"""Makes the report of a run from its rows: the bars, the tables they stand on, and the facts of the machine."""
import datetime
import math
import os
import pathlib
import platform
import statistics

import graphs
import parts
import scale
from plan import CONTAINERS, FRAME, SIZES


def size_name(size):
    if size >= 1_000_000:
        return f"{size / 1_000_000:g} MB"
    if size >= 1000 and size % 1000 == 0:
        return f"{size // 1000} kB"
    return f"{size // 1024} KiB" if size >= 1024 else f"{size} B"


def cell_name(cell):
    if "part" in cell:
        return f"{cell['part']}, count {cell['count']}"
    if "graph" in cell:
        return f"{cell['graph']} {cell['mode']}, {cell['seconds']:g} s"
    if "interfaces" in cell:
        return scale.cell_name(cell)
    where = f" {CONTAINERS[cell['containers']]}" if "containers" in cell else ""
    return f"{cell['experiment']} {cell['system']} {cell['topology']} {cell['wait']} {size_name(cell['size'])}{where}"


def percentile(ordered, fraction):
    """Nearest rank: a sample that really occurred."""
    return ordered[max(math.ceil(fraction * len(ordered)), 1) - 1]


def spread(values):
    """The median, and the smallest and largest."""
    return f"{parts.number(statistics.median(values))} [{parts.number(min(values))} .. {parts.number(max(values))}]"


class Rows:
    """The rows of a run, by what they measured: of cells between processes, of parts, of graphs, and of large domains."""

    def __init__(self, rows):
        self.rows = [row for row in rows if not any(key in row for key in ("part", "graph", "interfaces"))]
        self.parts = [row for row in rows if "part" in row]
        self.graphs = [row for row in rows if "graph" in row]
        self.scale = [row for row in rows if "interfaces" in row]

    def by_round(self, key, **wanted):
        """{round: value of `key`} of the rows that have the wanted values; rows without a value are left out."""
        return {row["round"]: row[key] for row in self.rows
                if row.get(key) is not None and all(row[name] == value for name, value in wanted.items())}

    def median(self, key, **wanted):
        values = self.by_round(key, **wanted).values()
        return statistics.median(values) if values else None


class Bar:
    """A limit, and what was measured for it in each round. `most`: values up to it hold; otherwise values from it on."""

    def __init__(self, name, limit, unit, values, most=True):
        self.name, self.limit, self.unit, self.values, self.most = name, limit, unit, list(values), most

    @property
    def measured(self):
        return statistics.median(self.values) if self.values else None

    @property
    def holds(self):
        if self.measured is None:
            return None
        return self.measured <= self.limit if self.most else self.measured >= self.limit

    def line(self):
        sign = "<=" if self.most else ">="
        if self.measured is None:
            return f"| {self.name} | {sign} {self.limit:g}{self.unit} | not measured | - |"
        spread = f"{self.measured:.3g}{self.unit} [{min(self.values):.3g} .. {max(self.values):.3g}]"
        return f"| {self.name} | {sign} {self.limit:g}{self.unit} | {spread} | {'yes' if self.holds else '**no**'} |"


def ratios(above, below):
    """The ratio in each round that has both."""
    return [above[number] / below[number] for number in above if below.get(number)]


def bars(rows):
    made = []
    one = {"experiment": "latency_1p1s", "topology": "1p1s"}
    for wait, key, limit in (("block", "p50_us", 1.3), ("block", "p99_us", 1.5), ("spin", "p50_us", 4)):
        for size in SIZES:
            same = {**one, "wait": wait, "size": size}
            made.append(Bar(f"1p1s {wait}, {size_name(size)}: {key[:3]} of a loaned message / floor", limit, " x",
                            ratios(rows.by_round(key, system="sinew-loan", **same), rows.by_round(key, system="floor", **same))))
    flat_out = {"experiment": "flatout_1p1s", "system": "sinew-loan", "size": 128}
    made.append(Bar("flat out, 128 B: messages a second", 1e6, "", rows.by_round("messages_per_s", **flat_out).values(), most=False))
    made.append(Bar("flat out, 128 B: lost", 0, "", rows.by_round("lost", **flat_out).values()))
    for topology in ("1p1s", "1p5s"):
        made.append(Bar(f"publish(const T&), {size_name(FRAME)}, {topology}: p50 / (memcpy + loaned)", 1.15, " x", copy_ratios(rows, topology)))
    for size in SIZES:
        wake = rows.by_round("publish_cpu_us", experiment="fan_out", system="floor", topology="1p1s", size=size)
        fan_out = rows.by_round("publish_cpu_us", experiment="fan_out", system="sinew-loan", topology="1p5s", size=size)
        made.append(Bar(f"1p5s, {size_name(size)}: processor time of publish / one wake-up", 5, " x", ratios(fan_out, wake)))
    idle = {"experiment": "idle", "system": "sinew-idle"}
    made.append(Bar("idle node: processor time", 0, " us", rows.by_round("idle_cpu_us", **idle).values()))
    made.append(Bar("idle node: private memory", 3 * 1024, " KiB", rows.by_round("private_kib", **idle).values()))
    made += [Bar(name, limit, unit, parts.values(rows.parts, part, key, factor)) for part, name, key, factor, limit, unit in parts.BARS]
    return made + [Bar(*bar) for bar in graphs.bars(rows.graphs) + scale.bars(rows.scale)]


def copy_ratios(rows, topology):
    same = {"experiment": "publish_copy", "size": FRAME}
    published = rows.by_round("p50_us", system="sinew-publish", topology=topology, **same)
    loaned = rows.by_round("p50_us", system="sinew-loan", topology=topology, **same)
    copied = rows.by_round("p50_us", system="memcpy", **same)
    both = {number: loaned[number] + copied[number] for number in loaned if number in copied}
    return ratios(published, both)


def table(rows, experiment, show, wait):
    """A table of systems against sizes. Where an experiment has several topologies, or places, each has its own line."""
    chosen = [row for row in rows.rows if row["experiment"] == experiment and row["wait"] == wait]
    sizes = sorted({row["size"] for row in chosen})
    differing = [key for key in ("topology", "containers") if len({row.get(key) for row in chosen}) > 1]
    lines = ["| | " + " | ".join(size_name(size) for size in sizes) + " |", "|---|" + "---|" * len(sizes)]
    order = list(CONTAINERS)
    for system, *ways in sorted({(row["system"], *(row[key] for key in differing)) for row in chosen}, key=lambda line: [order.index(word) if word in order else word for word in line]):
        same = {"experiment": experiment, "wait": wait, "system": system, **dict(zip(differing, ways))}
        values = [show(rows, {**same, "size": size}) for size in sizes]
        lines.append(f"| {' '.join([system, *(CONTAINERS.get(way, way) for way in ways)])} | " + " | ".join(values) + " |")
    return lines


def show_latency(rows, wanted):
    medians = [rows.median(key, **wanted) for key in ("p50_us", "p99_us", "cpu_us_per_message")]
    return " / ".join(f"{value:.3g}" for value in medians) if None not in medians else ""


def show_publish(rows, wanted):
    medians = [rows.median(key, **wanted) for key in ("publish_cpu_us", "publish_us")]
    return " / ".join(f"{value:.3g}" for value in medians) if None not in medians else ""


def show_speed(rows, wanted):
    speed = rows.median("messages_per_s", **wanted)
    if speed is None:
        return ""
    lost = sum(rows.by_round("lost", **wanted).values())
    return f"{speed:,.0f}/s, {speed * wanted['size'] / 1e9:.3g} GB/s" + (f", {lost} lost" if lost else "")


UNITS = {
    show_latency: "p50 / p99 / processor time a message, us",
    show_publish: "processor time / time of the publishing thread in publish, us",
    show_speed: "Messages and bytes",
}

TABLES = (
    ("One publisher, one subscriber, blocking", "latency_1p1s", "block", show_latency),
    ("One publisher, one subscriber, spinning", "latency_1p1s", "spin", show_latency),
    ("One publisher, five subscribers, blocking", "latency_1p5s", "block", show_latency),
    ("Waking five subscribers", "fan_out", "block", show_publish),
    ("Five publishers, one subscriber, blocking", "latency_5p1s", "block", show_latency),
    ("On the host, in one container, in a container each", "containers", "block", show_latency),
    ("publish(const T&) and what it is made of", "publish_copy", "block", show_latency),
    ("memcpy", "memcpy", "block", show_latency),
    ("Flat out, one publisher, one subscriber, blocking", "flatout_1p1s", "block", show_speed),
    ("Flat out, one publisher, one subscriber, spinning", "flatout_1p1s", "spin", show_speed),
)


def machine_facts():
    """What one has to know about the machine to read the numbers."""
    model = "unknown"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith(("model name", "cpu part")):
            model = line.split(":", 1)[1].strip()
            break
    governor = pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    load = os.getloadavg()[0]
    return {"date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"), "kernel": platform.release(),
            "processor": model, "cores": os.cpu_count(), "load after the run": f"{load:.1f}",
            "governor": governor.read_text().strip() if governor.exists() else "none visible (virtual machine)"}


def opening(title, rows, how, quick, facts):
    """The first lines of a report of these rows. `how`: how the rounds went."""
    held = bool(rows) and all(row.get("awake", True) for row in rows)
    lines = [f"# {title}", ""]
    if quick:
        lines += ["A quick run: it shows that everything works. Its numbers say nothing about speed.", ""]
    return lines + [f"- {name}: {value}" for name, value in facts.items()] + [
        f"- rounds: {how}", "- /dev/cpu_dma_latency: " + ("held at 0 while measuring" if held else "**not** held (needs root): waking an idle core may drown everything")]


def write(all_rows, failures, rounds, quick, facts):
    rows = Rows(all_rows)
    awake = bool(all_rows) and all(row.get("awake", True) for row in all_rows)
    lines = ["# sinew beside the floors of this machine", ""]
    if quick:
        lines += ["A quick run: it shows that everything works. Its numbers say nothing about speed.", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += [f"- rounds: {rounds}, interleaved, in random order",
              "- /dev/cpu_dma_latency: " + ("held at 0 while measuring, so that idle cores wake quickly" if awake else
                                            "**not** held (needs root): waking an idle core may drown everything"), "",
              "## Bars", "", "Each ratio is taken within a round; median over the rounds [smallest .. largest].", "",
              "| bar | limit | measured | holds |", "|---|---|---|---|"]
    lines += [bar.line() for bar in bars(rows)]
    for title, experiment, wait, show in TABLES:
        if not any(row["experiment"] == experiment and row["wait"] == wait for row in rows.rows):
            continue
        lines += ["", f"## {title}", "", f"{UNITS[show]}, medians over the rounds:", ""] + table(rows, experiment, show, wait)
    lines += graphs.tables(rows.graphs)
    lines += parts.tables(rows.parts, statistics.median)
    lines += scale.tables(rows.scale)
    if failures:
        lines += ["", "## Not measured", ""]
        lines += [f"- round {failure['round']}: {cell_name(failure)}: {failure['why']}" for failure in failures]
    return "\n".join(lines) + "\n"
