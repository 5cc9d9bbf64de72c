"""What a domain of many interfaces costs: the manager's time for a registration, and many processes that come up at once. Which are measured, their bars, and their tables."""
import math

REGISTRATION, SCALE = "sinew-bench-registration", "sinew-bench-scale"

SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
# A publisher takes a window of addresses, of which there are 12,288.
MOST_CLIENTS = 20_000
ALL_TO_ALL = (50, 100, 200, 400)
SHAPES = {"topics": SIZES, "readers": SIZES, "clients": tuple(size for size in SIZES if size <= MOST_CLIENTS), "nodes": ALL_TO_ALL}
QUICK = {"topics": (100, 1000), "readers": (100, 1000), "clients": (100, 1000), "nodes": (20, 40)}

FULL_SCALE = {"topics": 5000, "processes": 200, "interfaces": 50}
QUICK_SCALE = {"topics": 250, "processes": 20, "interfaces": 25}

# Shape, key, what is said of it.
COSTS = (
    ("topics", "register_us", "registration of an interface, topics of five"),
    ("topics", "delete_us", "deletion of an interface, topics of five"),
    ("topics", "node_us", "a node that comes and goes"),
    ("readers", "register_us", "registration of one more subscriber of a publisher"),
    ("readers", "delete_us", "deletion of a subscriber of a publisher"),
    ("clients", "register_us", "registration of half a client of one service"),
    ("clients", "delete_us", "deletion of half a client of one service"),
    ("nodes", "introduce_us", "an introduction where all meet all"),
)


def bundles(quick):
    """One bundle for each way to grow, and one for many processes. Once: each row is the median of many batches, or long."""
    made = [[{"program": REGISTRATION, "shape": shape, "interfaces": size} for size in sizes] for shape, sizes in (QUICK if quick else SHAPES).items()]
    return made + [[{"program": SCALE, **(QUICK_SCALE if quick else FULL_SCALE)}]]


def cell_name(cell):
    if "topics" in cell:
        return f"{cell['processes']} processes, {cell['interfaces']} interfaces each, {cell['topics']} topics"
    return f"registration {cell['shape']}, {cell['interfaces']} interfaces"


def curve(rows, shape, key):
    """Sizes, and the value of each."""
    values = {row["interfaces"]: row[key] for row in rows if row.get("shape") == shape and row.get(key) is not None}
    return sorted(values), [values[size] for size in sorted(values)]


def bars(rows):
    """(name, limit, unit, values) of each bar: what grows with the logarithm of the interfaces, or of the nodes that all meet, costs so many times as much in the largest
    domain as in the smallest."""
    made = []
    for shape, key, name in COSTS:
        sizes, values = curve(rows, shape, key)
        least, most = (size // 2 if shape == "nodes" else size for size in (SHAPES[shape][0], SHAPES[shape][-1]))
        limit = math.log(most) / math.log(least)
        measured = [values[-1] / values[0]] if len(values) > 1 else []
        made.append((f"manager's time, {name}: {SHAPES[shape][-1]:,} interfaces / {SHAPES[shape][0]}", round(limit, 2), " x", measured))
    found = [row for row in rows if "topics" in row]
    for key, name in (("unmatched", "interfaces that are not matched"), ("unheard", "messages that do not come")):
        made.append((f"{FULL_SCALE['processes']} processes at once: {name}", 0, "", [row[key] for row in found]))
    return made


def tables(rows):
    lines = []
    if any("shape" in row for row in rows):
        lines += ["", "## The manager's time in large domains", "", "Processor time, us, by the number of interfaces that are there:", ""]
        sizes = sorted({row["interfaces"] for row in rows if "shape" in row})
        lines += ["| | " + " | ".join(f"{size:,}" for size in sizes) + " |", "|---|" + "---|" * len(sizes)]
        for shape, key, name in COSTS:
            values = dict(zip(*curve(rows, shape, key)))
            lines.append(f"| {name} | " + " | ".join(f"{values[size]:.3g}" if size in values else "" for size in sizes) + " |")
        memory = dict(zip(*curve(rows, "topics", "resident_kib")))
        lines.append("| resident memory, topics of five, MiB | " + " | ".join(f"{memory[size] / 1024:.3g}" if size in memory else "" for size in sizes) + " |")
    for row in rows:
        if "topics" not in row:
            continue
        lines += ["", "## Many processes at once", "",
                  f"{row['processes']} processes with {row['interfaces']} interfaces each, {row['topics']:,} topics: {row['unmatched']} not matched, {row['unheard']} messages not heard"
                  f"{', something left behind' if row['left_behind'] else ''}.", "",
                  "| all created | all matched | a message each heard | all ended | manager: time, memory, descriptors | a node at most: private memory, descriptors, threads |",
                  "|---|---|---|---|---|---|",
                  f"| {row['created_s']:.2f} s | {row['matched_s']:.2f} s | {row['heard_s']:.2f} s | {row['ended_s']:.2f} s | "
                  f"{row['manager_cpu_s']:.2f} s, {row['manager_kib'] / 1024:.1f} MiB, {row['manager_descriptors']} | "
                  f"{row['node_kib'] / 1024:.1f} MiB, {row['node_descriptors']}, {row['node_threads']} |"]
    return lines
