"""Draws each experiment, as PNG and SVG."""
import statistics

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from compare import figures, tables

OURS = ("#c0392b", "#e67e22", "#b9770e", "#922b21", "#d98880", "#f1948a")
FLOORS = ("#17202a", "#566573", "#808b96", "#abb2b9", "#2c3e50", "#bdc3c7")
PEERS = ("#1f618d", "#2e86c1", "#85c1e9", "#117a65", "#45b39d", "#a2d9ce", "#6c3483", "#a569bd", "#d2b4de", "#196f3d", "#58d68d", "#7d6608", "#d4ac0d", "#f7dc6f", "#4d5656", "#873600")


def colors_of(systems):
    """By name, the same in all plots: sinew's are red, floors grey."""
    pools = {"ours": iter(OURS), "floor": iter(FLOORS), "peer": iter(PEERS)}
    made = {}
    for system in systems:
        kind = "ours" if system.ours else "floor" if system.floor else "peer"
        made[system.name] = next(pools[kind], "#7f8c8d")
    return made


def labels(results):
    return [tables.value_name(results.experiment.x, value) for value in results.columns()]


def panel_title(panel):
    return ", ".join(tables.value_name(*item) for item in panel.items())


def draw_lines(results, panel, axis, colors):
    """Medians over the columns, p99 thin above them, and how far the rounds were apart."""
    places = range(len(results.columns()))
    for system in results.systems:
        found = [list(results.by_round("{}_p50_us", system, panel | {results.experiment.x: value}).values()) for value in results.columns()]
        tails = [list(results.by_round("{}_p99_us", system, panel | {results.experiment.x: value}).values()) for value in results.columns()]
        at = [place for place in places if found[place]]
        if not at:
            continue
        axis.plot(at, [statistics.median(found[place]) for place in at], marker="o", markersize=3, color=colors[system], label=results.titles[system],
                  linewidth=2.5 if system == results.first else 1.2)
        axis.plot(at, [statistics.median(tails[place]) for place in at], ":", color=colors[system], linewidth=0.7)
        ends = [figures.interval(found[place]) for place in at]
        axis.fill_between(at, [low for low, *_ in ends], [high for _, high, _ in ends], color=colors[system], alpha=0.12, linewidth=0)
    axis.set(yscale="log", ylabel="latency, us (line: p50; dots: p99)")
    axis.set_xticks(list(places), labels(results), rotation=20)


def draw_boxes(results, panel, axis, colors):
    """From p50 to p99, a mark at the median of the rounds' medians, a whisker to the largest."""
    width = 0.8 / max(len(results.systems), 1)
    for order, system in enumerate(results.systems):
        shown = False
        for place, value in enumerate(results.columns()):
            middle, high, most = (list(results.by_round(key, system, panel | {results.experiment.x: value}).values()) for key in ("{}_p50_us", "{}_p99_us", "{}_max_us"))
            if not middle:
                continue
            x = place - 0.4 + width * (order + 0.5)
            low, top = statistics.median(middle), statistics.median(high)
            axis.bar(x, top - low, width * 0.9, bottom=low, color=colors[system], label=None if shown else results.titles[system])
            axis.plot([x, x], [top, max(most)], color=colors[system], linewidth=0.8)
            axis.plot([x - width * 0.45, x + width * 0.45], [low, low], color="black", linewidth=1)
            shown = True
    axis.set(yscale="log", ylabel="latency, us (box: p50 to p99; line: to the largest)")
    axis.set_xticks(range(len(results.columns())), labels(results), rotation=20)


def draw_bars(results, panel, axis, colors):
    """Means, with the standard deviation, as the thesis has them."""
    width = 0.8 / max(len(results.systems), 1)
    for order, system in enumerate(results.systems):
        shown = False
        for place, value in enumerate(results.columns()):
            mean, deviation = (list(results.by_round(key, system, panel | {results.experiment.x: value}).values()) for key in ("{}_mean_us", "{}_deviation_us"))
            if mean:
                axis.bar(place - 0.4 + width * (order + 0.5), statistics.median(mean), width * 0.9, yerr=statistics.median(deviation), color=colors[system],
                         error_kw={"linewidth": 0.7}, label=None if shown else results.titles[system])
                shown = True
    axis.set(yscale="log", ylabel="mean latency, us (line: standard deviation)")
    axis.set_xticks(range(len(results.columns())), labels(results), rotation=20, fontsize=7)


def draw_sweep(results, panel, axes, colors):
    """Over what grows: latency, and, where that is the rate, the rate that was reached."""
    rates = any(cell["rate_step"] for cell in results.experiment.cells())
    x = "asked" if rates else "size"
    for system in results.systems:
        shown = False
        for row in results.rows:
            if row["system"] != system or not tables.belongs(row, panel):
                continue
            points = [step for step in row["steps"] if step["p50_us"] is not None]
            label = None if shown else results.titles[system]
            axes[0].plot([step[x] for step in points], [step["p50_us"] for step in points], color=colors[system], linewidth=1, label=label)
            axes[1].plot([step[x] for step in points], [step["reached"] if rates else step["lost"] for step in points], color=colors[system], linewidth=1)
            shown = True
    axes[0].set(xscale="log", yscale="log", ylabel="median latency, us")
    axes[1].set(xscale="log", yscale="log" if rates else "linear", xlabel="rate asked for, Hz" if rates else "payload, bytes", ylabel="rate reached, Hz" if rates else "lost")


def draw_braking(results, panel, axis, colors):
    """How far a car goes until the red light is recognised: on average, and, lighter, at most."""
    for order, system in enumerate(results.systems):
        mean, most = (list(results.by_round(key, system, panel).values()) for key in ("seen_mean_ms", "seen_max_ms"))
        if not mean:
            continue
        speed = tables.SPEEDS["car at 60 km/h"] / 1000
        axis.barh(-order, max(most) * speed, color=colors[system], alpha=0.35)
        axis.barh(-order, statistics.median(mean) * speed, color=colors[system], label=results.titles[system])
    axis.set(xlabel="m that a car at 60 km/h goes until it knows that the light is red (on average; lighter: at most)", yticks=[])


DRAW = {"lines": draw_lines, "boxes": draw_boxes, "bars": draw_bars, "braking": draw_braking}


def draw(results, colors, folder):
    """Writes NAME.png and NAME.svg into the folder; nothing when nothing was measured."""
    if not results.rows:
        return
    panels = results.panels()
    sweep = results.experiment.plot == "sweep"
    figure, axes = plt.subplots(2 if sweep else 1, len(panels), figsize=(max(6.5 * len(panels), 9), 8 if sweep else 5.5), sharey="row", squeeze=False, constrained_layout=True)
    for column, panel in enumerate(panels):
        these = axes[:, column]
        if sweep:
            draw_sweep(results, panel, these, colors)
        else:
            DRAW[results.experiment.plot](results, panel, these[0], colors)
        these[0].set_title(panel_title(panel))
        for axis in these:
            axis.grid(True, which="major", alpha=0.3)
    handles = {label: handle for axis in axes.flat for handle, label in zip(*axis.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="upper center", bbox_to_anchor=(0.5, 0), ncol=5, fontsize=8)
    figure.suptitle(f"{results.experiment.title}\n({results.experiment.source})", fontsize=11)
    for kind in ("png", "svg"):
        figure.savefig(folder / f"{results.experiment.name}.{kind}", dpi=110, bbox_inches="tight")
    plt.close(figure)
