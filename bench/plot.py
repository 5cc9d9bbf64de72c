"""Draws latency against payload size, the parts of the data path against their bars, and the manager's time against the size of its domain."""
import statistics

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import parts
import scale

COLORS = {"sinew-loan": "#c0392b", "sinew-publish": "#e59866", "floor": "#2c3e50", "tcp": "#2471a3", "unix": "#7fb3d5", "memcpy": "#7d8c3c"}
PANELS = (("latency_1p1s", "one subscriber"), ("latency_1p5s", "five subscribers"))


def curve(rows, experiment, system, wait):
    """Sizes, and the median, smallest and largest over the rounds of the median latencies."""
    values = {}
    for row in rows:
        if (row["experiment"], row.get("system"), row.get("wait")) == (experiment, system, wait) and row["p50_us"]:
            values.setdefault(row["size"], []).append(row["p50_us"])
    sizes = sorted(values)
    return sizes, [[pick(values[size]) for size in sizes] for pick in (statistics.median, min, max)]


def draw(rows, folder):
    """Writes latency.png, parts.png, registration.png and the same as .svg into the folder."""
    draw_latency(rows, folder)
    draw_parts(rows, folder)
    draw_registration(rows, folder)


def draw_registration(rows, folder):
    """What does not grow with the domain is level on this plot, what grows with its logarithm a slope, and what grows with it bends upwards."""
    figure, axis = plt.subplots(figsize=(10, 6), constrained_layout=True)
    for shape, key, name in scale.COSTS:
        sizes, values = scale.curve(rows, shape, key)
        if sizes:
            axis.plot(sizes, values, "--" if key == "delete_us" else "-", marker="o", markersize=4, label=name)
    axis.set(xscale="log", ylim=(0, None), xlabel="interfaces in the domain", ylabel="processor time of the manager, us", title="The manager's work in large domains")
    axis.grid(True, alpha=0.3)
    if axis.has_data():
        axis.legend(fontsize=8)
    save(figure, folder, "registration")


def draw_parts(rows, folder):
    """Each part as a share of its bar, so that nanoseconds and ratios stand on one axis: left of 1 holds."""
    figure, axis = plt.subplots(figsize=(10, 6), constrained_layout=True)
    for height, (part, name, key, factor, limit, _) in enumerate(reversed(parts.BARS)):
        shares = [value / limit for value in parts.values(rows, part, key, factor)]
        if shares:
            axis.plot([min(shares), max(shares)], [height, height], color="#c0392b", alpha=0.3, linewidth=5)
            axis.plot(statistics.median(shares), height, "o", color="#c0392b")
    axis.axvline(1, color="#2c3e50")
    axis.set(yticks=range(len(parts.BARS)), yticklabels=[name for _, name, *_ in reversed(parts.BARS)], xlim=(0, None),
             xlabel="measured / bar (median; band: range)", title="Parts of the data path")
    axis.grid(True, axis="x", alpha=0.3)
    save(figure, folder, "parts")


def save(figure, folder, name):
    for kind in ("png", "svg"):
        figure.savefig(folder / f"{name}.{kind}", dpi=150)


def draw_latency(rows, folder):
    figure, axes = plt.subplots(1, len(PANELS), figsize=(12, 5), sharey=True, constrained_layout=True)
    for axis, (experiment, title) in zip(axes, PANELS):
        for system, color in COLORS.items():
            for wait, style in (("block", "-"), ("spin", ":")):
                sizes, (middle, low, high) = curve(rows, experiment, system, wait)
                if not sizes:
                    continue
                axis.plot(sizes, middle, style, color=color, marker="o", markersize=4, label=system + (", spinning" if wait == "spin" else ""))
                axis.fill_between(sizes, low, high, color=color, alpha=0.15, linewidth=0)
        axis.set(xscale="log", yscale="log", title=title, xlabel="payload, bytes")
        axis.grid(True, which="major", alpha=0.3)
        if axis.has_data():
            axis.legend(fontsize=8)
    axes[0].set_ylabel("publish to readable payload, us\n(median; band: range over the rounds)")
    figure.suptitle("Latency between processes at 30 Hz")
    save(figure, folder, "latency")
