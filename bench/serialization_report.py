"""The tables of sinew-bench-serialization, from its rows of several rounds."""
import statistics

import report

MESSAGES = {"image": "Image, 1920 x 1080 rgb8", "cloud": "Point cloud, 100,000 points of 32 bytes", "imu": "IMU",
            "map": "Map of 10,000 strings"}
SYSTEMS = {"sinew": "sinew", "fastcdr": "Fast CDR", "capnproto": "Cap'n Proto", "flatbuffers": "FlatBuffers",
           "protobuf": "Protocol Buffers"}
OPERATIONS = {"write": "write: object to bytes", "read": "read: bytes to a new object", "open": "open: check and look, in place"}
PERCENTILES = ("p50_us", "p99_us")


def by_round(rows, key, message, system, operation):
    """{round: value}."""
    return {row["round"]: row[key] for row in rows if (row["message"], row["system"], row["operation"]) == (message, system, operation)}


def show_times(rows, *wanted):
    found = [by_round(rows, key, *wanted).values() for key in PERCENTILES]
    return " / ".join(report.spread(values) for values in found) if all(found) else ""


def show_ratios(rows, message, system, operation):
    """How many times as long as sinew, in the same round."""
    found = [report.ratios(by_round(rows, key, message, system, operation), by_round(rows, key, message, "sinew", operation))
             for key in PERCENTILES]
    return " / ".join(report.spread(values) for values in found) if all(found) else ""


def show_bytes(rows, message, system):
    """Of the serialized form, and of what is opened where that is another."""
    found = {operation: statistics.median(by_round(rows, "bytes", message, system, operation).values())
             for operation in OPERATIONS if by_round(rows, "bytes", message, system, operation)}
    sizes = dict.fromkeys(found.values())
    return ", opened ".join(f"{size:,.0f}" for size in sizes)


def table(columns, systems):
    """A line for each of the systems that has something to show. `columns`: {title: function of a system}."""
    lines = ["| |" + "".join(f" {title} |" for title in columns), "|---|" + "---|" * len(columns)]
    for system in systems:
        shown = [show(system) for show in columns.values()]
        if any(shown):
            lines.append(f"| {SYSTEMS.get(system, system)} | " + " | ".join(shown) + " |")
    return lines


def of_operations(show, rows, message):
    return {title: lambda system, operation=operation: show(rows, message, system, operation) for operation, title in OPERATIONS.items()}


def tables(all_rows):
    """The lines of a report. Rows of other experiments may be among them."""
    rows = [row for row in all_rows if row.get("experiment") == "serialization"]
    # Those that nobody named here come last: a row that was measured is shown.
    messages = list(dict.fromkeys([*MESSAGES, *(row["message"] for row in rows)]))
    systems = list(dict.fromkeys([*SYSTEMS, *(row["system"] for row in rows)]))
    lines = []
    for message in messages:
        if not any(row["message"] == message for row in rows):
            continue
        lines += ["", f"## {MESSAGES.get(message, message)}", "",
                  "p50 / p99, us; of each the median over the rounds [smallest .. largest]:", ""]
        lines += table({"bytes": lambda system: show_bytes(rows, message, system), **of_operations(show_times, rows, message)}, systems)
        others = table(of_operations(show_ratios, rows, message), [system for system in systems if system != "sinew"])
        if len(others) > 2:
            lines += ["", "The same over that of sinew in the same round; above 1, sinew is ahead:", "", *others]
    return lines
