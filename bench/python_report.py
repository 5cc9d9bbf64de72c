"""Makes the report of bench/python.py from its rows: the bars, and the tables they stand on."""
import plan
import report

CPP, FROM_CPP, TO_CPP, PYTHON = "sinew, C++", "sinew, C++ to Python", "sinew, Python to C++", "sinew, Python"
ECAL, ZENOH = "eCAL, Python", "Zenoh, Python, shared memory"
SYSTEMS = (CPP, FROM_CPP, TO_CPP, PYTHON, ECAL, ZENOH)
SIZES = (1000, 1_000_000, plan.FRAME)
BESIDE_CPP_US = 100
CPU_RATIO = 1.25
TIMES_AS_FAST = 5
GENERATE_S = 2
COMPILE_S = 0.5
KINDS = {"transport": "Transport: from just before publish to the readable payload", "end_to_end": "End to end: obtain memory, fill, publish, receive"}


def cells(rows, key, system, size):
    """By rounds."""
    found = {row["round"]: row[key] for row in rows if row["what"] == "cell" and row["system"] == system and row["size"] == size}
    return {number: value for number, value in found.items() if value is not None}


def beyond(one, other):
    """By rounds, where both have it."""
    return {number: value - other[number] for number, value in one.items() if number in other}


def times(one, other):
    return {number: value / other[number] for number, value in one.items() if number in other}


def bars(rows):
    def cell(key, system, size=plan.FRAME):
        return cells(rows, key, system, size)

    image = report.size_name(plan.FRAME)
    copies = {row["round"]: row["us"] for row in rows if row["what"] == "copy"}
    made = [row for row in rows if row["what"] == "msggen"]
    return [
        report.Bar(f"subscriber in Python, {image}: median latency beyond that in C++", BESIDE_CPP_US, " us",
                   beyond(cell("transport_p50_us", FROM_CPP), cell("transport_p50_us", CPP)).values()),
        report.Bar(f"its processor time for a message of {image} / of {report.size_name(SIZES[0])}", CPU_RATIO, " x",
                   times(cell("cpu_us", FROM_CPP), cell("cpu_us", FROM_CPP, SIZES[0])).values()),
        # To a subscriber that reads both where they lie. One in C++ with a std::vector copies what is no object.
        report.Bar(f"publisher in Python, {image} in a loan: median end to end beyond that in C++ / one memcpy", 1, " x",
                   times(beyond(cell("end_to_end_p50_us", PYTHON), cell("end_to_end_p50_us", FROM_CPP)), copies).values()),
        *(report.Bar(f"{other} / sinew, Python: median latency of {report.size_name(size)}", TIMES_AS_FAST, " x",
                     times(cell("transport_p50_us", other, size), cell("transport_p50_us", PYTHON, size)).values(), most=False)
          for other in (ECAL, ZENOH) for size in SIZES[1:]),
        report.Bar("generating all packages of messages", GENERATE_S, " s", [row["generate_s"] for row in made]),
        report.Bar("compiling a program with a generated message, beyond one by hand", COMPILE_S, " s", [row["generated"] - row["by hand"] for row in made]),
    ]


def write(rows, failures, rounds, quick, facts):
    measured = [row for row in rows if row["what"] == "cell"]
    how = f"{rounds}, interleaved, in random order; 30 Hz; one subscriber, which blocks and reads three bytes"
    lines = report.opening("sinew in Python", measured, how, quick, facts)
    lines += ["", "## Bars", "", "Each is taken within a round; median over the rounds [smallest .. largest].", "",
              "| bar | limit | measured | holds |", "|---|---|---|---|", *(bar.line() for bar in bars(rows))]
    for kind, title in KINDS.items():
        lines += ["", f"## {title}", "", "p50 / p99, us:", "", "| |" + "".join(f" {report.size_name(size)} |" for size in SIZES), "|---|" + "---|" * len(SIZES)]
        for system in SYSTEMS:
            shown = []
            for size in SIZES:
                found = [list(cells(rows, f"{kind}_{key}", system, size).values()) for key in ("p50_us", "p99_us")]
                shown.append(" / ".join(report.spread(values) for values in found) if all(found) else "")
            lines.append(f"| {system} | " + " | ".join(shown) + " |")
    lines += ["", "## Processor time of a subscriber in Python", "", "us for each message:", "", "| |" + "".join(f" {report.size_name(size)} |" for size in SIZES), "|---|" + "---|" * len(SIZES)]
    for system in SYSTEMS:
        found = [list(cells(rows, "cpu_us", system, size).values()) for size in SIZES]
        if all(found):
            lines.append(f"| {system} | " + " | ".join(report.spread(values) for values in found) + " |")
    if failures:
        lines += ["", "## Failed", "", *(f"- {failure}" for failure in failures)]
    return "\n".join(lines) + "\n"
