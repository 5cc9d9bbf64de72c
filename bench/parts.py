"""The parts of the data path: which there are, how much of each, their bars, and their tables."""

OUTSIDE, INSIDE = "sinew-bench-parts", "sinew-bench-inside"
ONCE = "once"  # in the first round only: what is counted there does not vary, and takes long

# Name, program, count in a whole run and in a quick one: batches, or for the last three messages and seconds.
PARTS = (
    ("handle", OUTSIDE, 300, 5),
    ("publish", OUTSIDE, 500, 5),
    ("publish-vector", OUTSIDE, 500, 5),
    ("life", OUTSIDE, 500, 5),
    ("take", OUTSIDE, 500, 5),
    ("take-vector", OUTSIDE, 500, 5),
    ("pointer-spin-128", OUTSIDE, 100_000, 100),
    ("pointer-spin-16m", OUTSIDE, 100_000, 100),
    ("pointer-128", OUTSIDE, 3000, 20),
    ("pointer-16m", OUTSIDE, 3000, 20),
    ("service-128", OUTSIDE, 3000, 20),
    ("service-10m", OUTSIDE, 500, 5),
    ("request-10m", OUTSIDE, 500, 5),
    ("audit-image", INSIDE, 500, 5),
    ("audit-texts", INSIDE, 300, 5),
    ("audit-texts-codec", INSIDE, 300, 5),
    ("image-write", INSIDE, 200, 5),
    ("image-read", INSIDE, 200, 5),
    ("state-write", INSIDE, 500, 5),
    ("state-read", INSIDE, 500, 5),
    ("cloud-pieces", INSIDE, 500, 5),
    ("heap-16", OUTSIDE, 500, 5),
    ("heap-256", OUTSIDE, 500, 5),
    ("churn", OUTSIDE, 100_000_000, 1_000_000, ONCE),
    ("hour", OUTSIDE, 3600, 20, ONCE),
    ("hour-one-window", OUTSIDE, 3600, 20, ONCE),
)

# Part, what is said of it, key of its row, factor, limit, unit.
BARS = (
    ("handle", "a received shared_ptr: copy, look, destroy / of make_shared", "ratio", 1, 1.1, " x"),
    ("take", "take() and drop of a struct of 128 B", "p50_ns", 1, 100, " ns"),
    ("take-vector", "take() and drop of a vector of 128 B", "p50_ns", 1, 100, " ns"),
    ("pointer-spin-128", "same process, 128 B, a thread that spins: publish(unique_ptr) to callback", "p50_ns", 1, 300, " ns"),
    ("pointer-spin-16m", "same process, 16 MB, a thread that spins: publish(unique_ptr) to callback", "p50_ns", 1, 300, " ns"),
    ("pointer-128", "same process, 128 B, a thread that sleeps: publish(unique_ptr) to callback / eventfd", "ratio", 1, 1.3, " x"),
    ("pointer-16m", "same process, 16 MB, a thread that sleeps: publish(unique_ptr) to callback / eventfd", "ratio", 1, 1.3, " x"),
    ("service-128", "a call of a service, 128 B back, both ends asleep / two wake-ups by eventfd", "ratio", 1, 1.3, " x"),
    ("service-10m", "a call of a service, 10 MB back / two wake-ups by eventfd and filling the bytes", "ratio", 1, 1.1, " x"),
    ("request-10m", "a call of a service, 10 MB there, loaned / filling the bytes and two wake-ups by eventfd", "ratio", 1, 1.1, " x"),
    ("audit-image", "audit and validation of an image of 5.5 MB", "p50_ns", 1, 100, " ns"),
    ("audit-texts", "audit and validation of 10,000 strings / writing and reading by Fast CDR", "ratio", 1, 0.1, " x"),
    ("audit-texts-codec", "audit and validation of 10,000 strings / writing and reading by sinew's CDR", "ratio", 1, 0.1, " x"),
    ("image-write", "CDR of an image of 5.5 MB, written / memcpy", "ratio", 1, 1.1, " x"),
    ("image-read", "CDR of an image of 5.5 MB, read / copy of its vector", "ratio", 1, 1.1, " x"),
    ("state-write", "CDR of 20 scalars, written / by Fast CDR", "ratio", 1, 1, " x"),
    ("state-read", "CDR of 20 scalars, read / by Fast CDR", "ratio", 1, 1, " x"),
    ("cloud-pieces", "CDR of a point cloud of 16 MB in pieces", "p50_ns", 0.001, 2, " us"),
    ("heap-16", "operator new and delete of 16 B: more than malloc and free, a call", "more_ns", 0.5, 1, " ns"),
    ("heap-256", "operator new and delete of 256 B: more than malloc and free, a call", "more_ns", 0.5, 1, " ns"),
    ("churn", "resident memory after 1000 messages and after all: change", "resident_change", 100, 5, " %"),
)


def bundles(quick, first):
    """The bundles of one round; each part has its floor inside. `first`: also what is measured once."""
    return [[{"program": program, "part": name, "count": few if quick else count}]
            for name, program, count, few, *when in PARTS if first or ONCE not in when]


def values(rows, part, key, factor=1):
    """One value for each round that has one."""
    return [row[key] * factor for row in rows if row.get("part") == part and row.get(key) is not None]


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def shown(rows, part, keys, median):
    found = [values(rows, part, key) for key in keys]
    return " / ".join(number(median(each)) for each in found) if all(found) else "-"


def tables(rows, median):
    """The lines of the report: times of all parts that have one, then what became of memory."""
    lines = []
    timed = [name for name, *_ in PARTS if values(rows, name, "p50_ns")]
    if timed:
        lines += ["", "## Parts of the data path", "", "p50 / p99 of one operation, ns, and the floor beside it; medians over the rounds:", "",
                  "| | sinew | floor | ratio |", "|---|---|---|---|"]
        lines += [f"| {name} | {shown(rows, name, ('p50_ns', 'p99_ns'), median)} | {shown(rows, name, ('floor_p50_ns', 'floor_p99_ns'), median)} | "
                  f"{shown(rows, name, ('ratio',), median)} |" for name in timed]
    for row in rows:
        if row.get("part") == "churn":
            lines += ["", "## Memory after many messages", "", f"{row['count']:,} messages of 16 B to 64 KiB; resident memory of the process, KiB:", "",
                      "| after 1000 | after all | largest |", "|---|---|---|",
                      f"| {row['resident_first_kib']:,.0f} | {row['resident_last_kib']:,.0f} | {row['resident_most_kib']:,.0f} |"]
    hours = [row for row in rows if row.get("part", "").startswith("hour")]
    if hours:
        lines += ["", "## Memory over an hour of a robot's messages", "",
                  "Mapped memory, as a multiple of the most that was in use at once, which is the last column:", "",
                  "| | simulated | at the end | at its worst | most in use |", "|---|---|---|---|---|"]
        lines += [f"| {row['part']} | {row['count']} s | {row['mapped_last_ratio']:.2f} x | {row['mapped_most_ratio']:.2f} x | {row['in_use_most_mb']:.0f} MB |"
                  for row in sorted(hours, key=lambda row: row["part"])]
    return lines
