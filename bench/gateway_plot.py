"""Draws what bench/gateway.py has measured over time, as figures 6.1 to 6.3 of the thesis (SM2 and SNG, section 6.2) do: how often the robot publishes, and how late what comes is on it and at the base."""
import math

import gateway_report
from gateway_report import LINKS, SINEW, ZENOH, ZENOH_TUNED

COLORS = {"local": "#2471a3", "image": "#c0392b", "command": "#7d8c3c"}
NAMES = {"local": "image, on the robot", "image": "image, at the base", "command": "command, at the base"}


def rates(moments):
    """Messages in each half second, as a rate."""
    if not moments:
        return [], []
    first, last = math.floor(2 * moments[0]), math.floor(2 * moments[-1])
    counts = [0] * (last - first + 1)
    for moment in moments:
        # Those that were overtaken stand before the first.
        counts[min(max(math.floor(2 * moment), first), last) - first] += 1
    return [(first + number) / 2 + 0.25 for number in range(len(counts))][1:-1], [2 * count for count in counts][1:-1]


def draw(rows, folder):
    """Writes gateway.png and gateway.svg: of the first round, a column for each system and two rows for each link."""
    # Here, so that the report is there without matplotlib, too.
    import matplotlib.pyplot as plt
    import plot
    systems = [name for name in (SINEW, ZENOH, ZENOH_TUNED) if any(row["system"] == name for row in rows)]
    if not systems:
        return
    figure, axes = plt.subplots(2 * len(LINKS), len(systems), figsize=(5 * len(systems), 5 * len(LINKS)), sharex=True, sharey="row", squeeze=False, constrained_layout=True)
    for number, link in enumerate(LINKS):
        for axis, lateness, system in zip(axes[2 * number], axes[2 * number + 1], systems):
            found = gateway_report.rows_of(rows, "robot", system, link)
            if not found:
                continue
            row = found[min(found)]
            for key, name in NAMES.items():
                lateness.plot(*zip(*row[key]), ".", markersize=3, color=COLORS[key], label=name) if row[key] else None
            axis.plot(*rates([moment for moment, _ in row["published"]]), color=COLORS["local"], label="published")
            axis.plot(*rates([moment + late / 1000 for moment, late in row["image"]]), color=COLORS["image"], label="at the base")
            axis.set(title=f"{system}: {link}", ylim=(0, None))
            lateness.set(yscale="log")
            for each in (axis, lateness):
                each.axvline(0, color="#2c3e50", linewidth=0.8)
                each.grid(True, alpha=0.3)
        axes[2 * number][0].set_ylabel("images a second")
        axes[2 * number + 1][0].set_ylabel("latency, ms")
        axes[2 * number][0].legend(fontsize=7)
        axes[2 * number + 1][0].legend(fontsize=7)
    for axis in axes[-1]:
        axis.set_xlabel("s since the base has joined")
    figure.suptitle("1 MB at 30 Hz for a subscriber on the robot and one at the base, and commands beside it")
    plot.save(figure, folder, "gateway")
