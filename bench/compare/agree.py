"""Whether two runs say the same: whether the intervals of their medians overlap."""
import math
import statistics

from compare import figures, rounds, tables


def groups(rows, keys):
    """{(experiment, cell, system, what): values over the rounds}."""
    made = {}
    for row in rows:
        if "failed" in row or "cell" not in row:
            continue
        where = row["cell"]["experiment"], rounds.name_of(row["cell"]), row["system"]
        for key in keys:
            if row.get(key) is not None:
                made.setdefault((*where, key), []).append(row[key])
    return made


def compare(first, second):
    """(how many agree, how many both have, how many would differ by chance, lines about those that differ, the furthest apart first)."""
    keys = [key.format("transport") for _, key, _ in tables.COMPARED]
    one, other = groups(first, keys), groups(second, keys)
    both = [where for where in one if where in other]
    # Where intervals are all there is of few rounds: all of one run above all of the other, were they of one kind.
    by_chance = sum(2 / math.comb(len(one[where]) + len(other[where]), len(one[where])) for where in both)
    apart = []
    for where in both:
        (low, high, _), (other_low, other_high, _) = figures.interval(one[where]), figures.interval(other[where])
        if low > other_high or other_low > high:
            middles = statistics.median(one[where]), statistics.median(other[where])
            apart.append((max(middles) / max(min(middles), 1e-9), where))
    apart.sort(reverse=True)
    lines = [f"{', '.join(where)}: {figures.spread(one[where])} and {figures.spread(other[where])}" for _, where in apart]
    return len(both) - len(apart), len(both), by_chance, lines
