"""Makes the report of bench/ros2.py from its rows: the bars, and the tables they stand on."""
import statistics

import report

PLAIN, IN, OUT = "DDS to DDS", "DDS to sinew", "sinew to DDS"
BAR_SIZE = 1_000_000
# MiB of shared memory that each participant of Fast DDS has; None: its default, half of one, into which the largest do not fit.
ROOMY = 32
# Sizes, and how large the segments are.
CASES = ((1000, None), (10_000, None), (100_000, None), (BAR_SIZE, None), (BAR_SIZE, ROOMY))
MORE_US = 150
CPU_TIMES = 1.3
IDLE_TOPICS = 500
IDLE_PERCENT = 1


def case_name(size, segment):
    return report.size_name(size) + (f" in segments of {segment} MiB" if segment else "")


def rows_of(rows, what, **wanted):
    """By rounds."""
    return {row["round"]: row for row in rows if row["what"] == what and all(row[name] == value for name, value in wanted.items())}


def bars(rows):
    made = []
    for way, segment in ((way, segment) for way in (IN, OUT) for segment in (None, ROOMY)):
        plain, found = (rows_of(rows, "messages", way=each, size=BAR_SIZE, segment=segment) for each in (PLAIN, way))
        both = [(row, plain[number]) for number, row in found.items() if number in plain]
        name = f"{way}, {case_name(BAR_SIZE, segment)}"
        made += [
            report.Bar(f"{name}: median latency beyond {PLAIN}", MORE_US, " us", [row["p50_us"] - beside["p50_us"] for row, beside in both]),
            report.Bar(f"{name}: processor time / {PLAIN}", CPU_TIMES, " x", [row["cpu_us_per_message"] / beside["cpu_us_per_message"] for row, beside in both]),
        ]
    for read, who in ((False, "nobody there reads them"), (True, "somebody there reads all of them")):
        made.append(report.Bar(f"{IDLE_TOPICS} idle topics, {who}: processor time of the bridge", IDLE_PERCENT, " %", [row["cpu_percent"] for row in rows_of(rows, "idle", read=read).values()]))
    return made


def table(rows):
    lines = ["| size | | p50, us | p99, us | processor time of a message, us | lost |", "|---|---|---|---|---|---|"]
    for size, segment in CASES:
        for way in (PLAIN, IN, OUT):
            found = rows_of(rows, "messages", way=way, size=size, segment=segment).values()
            if found:
                cells = [report.spread([row[key] for row in found]) for key in ("p50_us", "p99_us", "cpu_us_per_message")]
                lines.append(f"| {case_name(size, segment)} | {way} | {' | '.join(cells)} | {statistics.median(row['lost'] for row in found):g} |")
    return lines


def write(rows, failures, rounds, quick, facts):
    how = f"{rounds}, interleaved, in random order; {PLAIN}: two programs of Fast DDS, as rmw_fastrtps sets it up; processor time is that of all programs of a way, the bridge's among it"
    lines = report.opening("What the bridge to ROS 2 costs", rows, how, quick, facts)
    lines += ["", "## Bars", "", "Each is taken within a round; median over the rounds [smallest .. largest].", "",
              "| bar | limit | measured | holds |", "|---|---|---|---|", *(bar.line() for bar in bars(rows))]
    if any(row["what"] == "messages" for row in rows):
        lines += ["", "## Messages at 30 Hz", "", *table(rows)]
    if failures:
        lines += ["", "## Failed", "", *(f"- {failure}" for failure in failures)]
    return "\n".join(lines) + "\n"
