"""Graphs of nodes: which are run in which ways and for how long, their bars, and their tables."""

PROGRAM = "sinew-bench-graph"
# Of the iRobot benchmark.
GRAPHS = ("sierra_nevada", "mont_blanc")
# Of ROS 2's intra_process_demo.
PIPELINES = ("image_pipeline", "image_pipeline_two_viewers")
MODES = ("floor", "sinew-one", "sinew-threads", "sinew-each", "udp-one", "udp-threads", "udp-each")
# What bench/peers.py has besides, as it has the pipelines.
OF_ROS1 = ("ros1-one", "ros1-threads", "ros1-each")
SECONDS, QUICK_SECONDS, FULL_SECONDS = 20, 1, 120

# The ROS 2 intra-process design complains of 60 KB a second in these graphs. A page now and then, where an allocator reaches further than before, is no growth.
MOST_GROWTH_KIB_PER_S = 1


def bundles(seconds):
    """One bundle for each graph: its modes follow one another."""
    return [[{"program": PROGRAM, "graph": graph, "mode": mode, "seconds": seconds} for mode in MODES] for graph in GRAPHS]


def values(rows, graph, mode, key):
    return {row["round"]: row[key] for row in rows if (row["graph"], row["mode"]) == (graph, mode) and row.get(key) is not None}


def bars(rows):
    """(name, limit, unit, values) of each bar."""
    made = []
    for graph in GRAPHS:
        for nodes, place in (("one", "on one thread"), ("threads", "each on its own thread")):
            over_udp = values(rows, graph, f"udp-{nodes}", "cpu_us_per_message")
            of_sinew = values(rows, graph, f"sinew-{nodes}", "cpu_us_per_message")
            ratios = [cost / over_udp[number] for number, cost in of_sinew.items() if over_udp.get(number)]
            made.append((f"{graph} in one process, {place}: processor time of a message / over UDP", 0.5, " x", ratios))
        for mode in ("sinew-one", "sinew-threads", "sinew-each"):
            made.append((f"{graph}, {mode}: growth of memory", MOST_GROWTH_KIB_PER_S, " KiB/s",
                         values(rows, graph, mode, "growth_kib_per_s").values()))
            made.append((f"{graph}, {mode}: lost", 0, "", values(rows, graph, mode, "lost").values()))
    return made


def latency(row, prefix):
    return " / ".join("-" if row[prefix + key] is None else f"{row[prefix + key]:.3g}" for key in ("p50_us", "p90_us", "p99_us", "max_us"))


def tables(rows):
    """The lines of the report: a table for each graph, with a line for each run."""
    lines = []
    for graph in (*GRAPHS, *PIPELINES):
        chosen = sorted((row for row in rows if row["graph"] == graph), key=lambda row: ((*MODES, *OF_ROS1).index(row["mode"]), row["round"]))
        if not chosen:
            continue
        first = chosen[0]
        ways = {"from the first publish until the last viewer has an image": ""} if graph in PIPELINES else {"all messages": "", "from 10 kB": "big_"}
        lines += ["", f"## {graph}: {first['nodes']} nodes, {first['publishers']} publishers, {first['subscriptions']} subscriptions", "",
                  f"{first['seconds']:g} s a run. Latency p50 / p90 / p99 / max in us; memory (PSS of all processes) at the first "
                  "look and at the end:", "",
                  f"| | received | lost | {' | '.join(ways)} | cores | us a message | memory, MiB | KiB/s |", "|---" * (7 + len(ways)) + "|"]
        lines += [f"| {row['mode']} | {row['received']:,} | {row['lost']} | {' | '.join(latency(row, prefix) for prefix in ways.values())} | {row['cpu_cores']:.3g} | "
                  f"{row['cpu_us_per_message']:.3g} | {row['pss_first_kib'] / 1024:.1f} -> {row['pss_last_kib'] / 1024:.1f} | "
                  f"{row['growth_kib_per_s']:+.2f} |" for row in chosen]
    return lines
