"""Makes the report of bench/ros2.py from its rows: the bars, and the tables they stand on."""
import statistics

import report

PLAIN, IN, OUT = "DDS to DDS", "DDS to sinew", "sinew to DDS"
SIZES = (1000, 10_000, 100_000, 1_000_000)
BAR_SIZE = 1_000_000
MORE_US = 150
CPU_TIMES = 1.3
IDLE_TOPICS = 500
IDLE_PERCENT = 1


def rows_of(rows, what, **wanted):
    """By rounds."""
    return {row["round"]: row for row in rows if row["what"] == what and all(row[name] == value for name, value in wanted.items())}


def bars(rows):
    plain, made = rows_of(rows, "messages", way=PLAIN, size=BAR_SIZE), []
    for way in (IN, OUT):
        found = rows_of(rows, "messages", way=way, size=BAR_SIZE)
        both = [(row, plain[number]) for number, row in found.items() if number in plain]
        made += [
            report.Bar(f"{way}, {report.size_name(BAR_SIZE)}: median latency beyond {PLAIN}", MORE_US, " us", [row["p50_us"] - beside["p50_us"] for row, beside in both]),
            report.Bar(f"{way}, {report.size_name(BAR_SIZE)}: processor time / {PLAIN}", CPU_TIMES, " x", [row["cpu_us_per_message"] / beside["cpu_us_per_message"] for row, beside in both]),
        ]
    for read, who in ((False, "nobody there reads them"), (True, "somebody there reads all of them")):
        made.append(report.Bar(f"{IDLE_TOPICS} idle topics, {who}: processor time of the bridge", IDLE_PERCENT, " %", [row["cpu_percent"] for row in rows_of(rows, "idle", read=read).values()]))
    return made


def table(rows):
    lines = ["| size | | p50, us | p99, us | processor time of a message, us | lost |", "|---|---|---|---|---|---|"]
    for size in SIZES:
        for way in (PLAIN, IN, OUT):
            found = rows_of(rows, "messages", way=way, size=size).values()
            if found:
                cells = [report.spread([row[key] for row in found]) for key in ("p50_us", "p99_us", "cpu_us_per_message")]
                lines.append(f"| {report.size_name(size)} | {way} | {' | '.join(cells)} | {statistics.median(row['lost'] for row in found):g} |")
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
