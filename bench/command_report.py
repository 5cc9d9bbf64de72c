"""Makes the report of bench/command.py from its rows: the bars, and the tables they stand on."""
import math
import statistics

import plan
import report

# What `sinew top` looks at.
TOPICS, TOPIC_HZ, TOPIC_BYTES = 500, 100, 64
CAMERA_HZ, IMAGE = 30, plan.FRAME
FAST_HZ = 1000
TOP_PERCENT = 2
FIRST_LINE_MS = 50
RECORD_RATIO = 1.3
# Beside what: nothing, nothing again, which says how much two such measurements differ, and `sinew top`.
ALONE, AGAIN, TOP = "alone", "alone again", "beside sinew top"


def percent(values):
    return [100 * value for value in values]


def bars(rows):
    top = [row for row in rows if row["what"] == "top"]
    ratio = [row["publisher"][TOP] / statistics.mean((row["publisher"][ALONE], row["publisher"][AGAIN])) for row in top]
    noise = [row["publisher"][AGAIN] / row["publisher"][ALONE] for row in top]
    # By so much the same measurement differs from itself, half of the times.
    usual = statistics.median([abs(math.log(value)) for value in noise] or [0])
    first = [statistics.median(first for first, _ in row["camera"]) for row in rows if row["what"] == "echo"]
    record = [row for row in rows if row["what"] == "record"]
    return [
        report.Bar(f"sinew top, {TOPICS} topics at {TOPIC_HZ} Hz, {TOPICS} subscribers: of a core", TOP_PERCENT, " %", percent(row["top"] for row in top)),
        report.Bar("processor time of their publisher: beside top / alone", float(f"{math.exp(usual):.3g}"), " x", ratio),
        report.Bar(f"sinew topic echo -1, images of {report.size_name(IMAGE)} at {CAMERA_HZ} Hz: start to first line, median", FIRST_LINE_MS, " ms", first),
        report.Bar(f"processor time of sinew record / of one write each, images of {report.size_name(IMAGE)} at {CAMERA_HZ} Hz", RECORD_RATIO, " x",
                   [row["record"] / row["write"] for row in record]),
        report.Bar("images that were not recorded then", 0, "", [row["lost"][str(CAMERA_HZ * IMAGE)] for row in record]),
    ], noise


ECHOED = {
    "true": "/bin/true",
    "version": "sinew --version",
    "fast": f"sinew topic echo -1, {report.size_name(TOPIC_BYTES)} at {FAST_HZ} Hz",
    "camera": f"sinew topic echo -1, {report.size_name(IMAGE)} at {CAMERA_HZ} Hz",
}


def write(rows, failures, rounds, quick, facts):
    lines = report.opening("What the command costs", rows, f"{rounds}, interleaved, in random order", quick, facts)
    judged, noise = bars(rows)
    lines += ["", "## Bars", "", "Each ratio is taken within a round; median over the rounds [smallest .. largest].", "",
              "| bar | limit | measured | holds |", "|---|---|---|---|", *(bar.line() for bar in judged)]
    top = [row for row in rows if row["what"] == "top"]
    if top:
        lines += ["", "## Beside sinew top", "",
                  f"Processor time of the process that publishes on {TOPICS} topics, {statistics.median(row['flowing_hz'] for row in top):,.0f} messages a second, of a core. "
                  f"The limit is by how much the same measurement differs from itself half of the times: alone again / alone is {report.spread(noise)}.", "",
                  "| | publisher, % | top, % |", "|---|---|---|"]
        for beside in (ALONE, AGAIN, TOP):
            own = report.spread(percent(row["top"] for row in top)) if beside == TOP else ""
            lines.append(f"| {beside} | {report.spread(percent(row['publisher'][beside] for row in top))} | {own} |")
    echo = [row for row in rows if row["what"] == "echo"]
    if echo:
        lines += ["", "## From start to what it shows", "",
                  f"ms, of all runs. The wait for the next message is in it: at {CAMERA_HZ} Hz up to {1000 / CAMERA_HZ:.0f} ms, half of that on average.", "",
                  "| | runs | first line: p50 | p90 | p99 | largest | end: p50 |", "|---|---|---|---|---|---|---|"]
        for what, name in ECHOED.items():
            times = [each for row in echo for each in row[what]]
            first, ends = sorted(first for first, _ in times), sorted(end for _, end in times)
            shown = [report.percentile(first, part) for part in (0.5, 0.9, 0.99, 1)] + [report.percentile(ends, 0.5)]
            lines.append(f"| {name} | {len(times)} | " + " | ".join(f"{value:.3g}" for value in shown) + " |")
    record = [row for row in rows if row["what"] == "record"]
    if record:
        lines += ["", "## Recording", "",
                  f"Processor time, s, of {statistics.median(row['written'] for row in record) / IMAGE:.0f} images: of sinew record from its start to its end, and of who only writes without what it takes to have the images. "
                  "And images that are lost when they come faster, of all rounds.", "",
                  "| one write each | sinew record |" + "".join(f" lost at {int(rate) / 1e6:g} MB/s |" for rate in record[0]["lost"]), "|---|---|" + "---|" * len(record[0]["lost"]),
                  "| " + " | ".join([report.spread([row[what] for row in record]) for what in ("write", "record")]
                                    + [str(sum(row["lost"][rate] for row in record)) for rate in record[0]["lost"]]) + " |"]
    if failures:
        lines += ["", "## Failed", "", *(f"- {failure}" for failure in failures)]
    return "\n".join(lines) + "\n"
