#!/usr/bin/env python3
"""Draws the diagrams of docs/concepts.md and docs/internals.md, and a plot of a table in docs/performance.md, into docs/: diagrams.py

They are SVG that browsers and git hosts show as it is, with a background of their own, which is dark where the reader's system is. Widths of texts are not known here: look at what you change.
"""

import html
import math
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
# What is drawn in which colours: fill, stroke, by day and by night.
KINDS = {
    "card": ("#ffffff", "#d0d7de", "#0d1117", "#30363d"),
    "process": ("#f6f8fa", "#57606a", "#161b22", "#8b949e"),
    "node": ("#ffffff", "#8c959f", "#21262d", "#8b949e"),
    "memory": ("#ddf4ff", "#0969da", "#0c2d6b", "#58a6ff"),
    "message": ("#fff8c5", "#9a6700", "#3b2300", "#d29922"),
    "manager": ("#fbefff", "#8250df", "#271052", "#a371f7"),
    "gone": ("#ffebe9", "#cf222e", "#490202", "#f85149"),
}
# Of lines in a plot: by day, by night.
SERIES = [("#0969da", "#58a6ff"), ("#57606a", "#8b949e"), ("#1a7f37", "#3fb950"), ("#8250df", "#a371f7"), ("#bf3989", "#f778ba"), ("#bc4c00", "#db6d28"), ("#9a6700", "#d29922"), ("#cf222e", "#f85149"), ("#0f766e", "#39c5cf")]
TEXTS = {"ink": ("#1f2328", "#e6edf3"), "faint": ("#57606a", "#a8b3bd"), "strong": ("#0969da", "#58a6ff"), "alarm": ("#cf222e", "#ff7b72")}


class Drawing:
    """A card of `width` by `high`. Coordinates are of the upper left corner."""

    def __init__(self, width, high, title):
        self.width, self.high, self.title, self.parts = width, high, title, []
        self.box(0.5, 0.5, width - 1, high - 1, "card", round=10)

    def box(self, x, y, width, high, kind, *lines, round=6, bold=True, top=False):
        """With `lines` below each other in its middle, or at its `top`; the first one is its name."""
        self.parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{high}" rx="{round}"/>')
        first = 20 if top else (high - 18 * len(lines)) / 2 + 14
        for number, line in enumerate(lines):
            self.text(x + width / 2, y + first + 18 * number, line, "ink" if number == 0 else "faint", anchor="middle", bold=bold and number == 0)
        return self

    def text(self, x, y, text, kind="ink", anchor="start", bold=False, small=False, mono=False):
        words = [f'class="{kind}"', f'x="{x:g}"', f'y="{y:g}"'] + [f'text-anchor="{anchor}"'] * (anchor != "start")
        words += ['font-weight="600"'] * bold + ['font-size="12"'] * small + ["font-family=\"ui-monospace, 'DejaVu Sans Mono', monospace\""] * mono
        self.parts.append(f"<text {' '.join(words)}>{html.escape(text)}</text>")
        return self

    def line(self, *points, kind="flow", arrow=True):
        """Through the points; `kind`: flow, control or bad."""
        path = " ".join(f"{'L' if number else 'M'}{x:g} {y:g}" for number, (x, y) in enumerate(points))
        head = f' marker-end="url(#{kind})"' * arrow
        self.parts.append(f'<path class="{kind}" d="{path}"{head}/>')
        return self

    def step(self, x, y, number):
        self.parts.append(f'<circle class="step" cx="{x}" cy="{y}" r="10"/><text class="number" x="{x}" y="{y + 4}" text-anchor="middle" font-size="12" font-weight="600">{number}</text>')
        return self

    def svg(self):
        day = [f".{kind} {{ fill: {fill}; stroke: {stroke} }}" for kind, (fill, stroke, _, _) in KINDS.items()]
        night = [f".{kind} {{ fill: {fill}; stroke: {stroke} }}" for kind, (_, _, fill, stroke) in KINDS.items()]
        for kind, colours in TEXTS.items():
            day.append(f".{kind} {{ fill: {colours[0]} }}")
            night.append(f".{kind} {{ fill: {colours[1]} }}")
        for sheet, (flow, control, bad, step, number) in ((day, ("#0969da", "#8250df", "#cf222e", "#0969da", "#ffffff")), (night, ("#58a6ff", "#a371f7", "#f85149", "#58a6ff", "#0d1117"))):
            sheet += [f".{kind} {{ stroke: {colour}; fill: none; stroke-width: 1.8 }} #{kind} path {{ fill: {colour} }}" for kind, colour in (("flow", flow), ("control", control), ("bad", bad))]
            sheet += [f".step {{ fill: {step} }} .number {{ fill: {number} }}"]
        for number, colours in enumerate(SERIES if "class=\"of0" in "".join(self.parts) else []):
            for sheet, colour in zip((day, night), colours):
                sheet.append(f".of{number} {{ stroke: {colour} }} .on{number} {{ fill: {colour} }}")
        day.append(".control { stroke-dasharray: 5 4 }")
        heads = [f'<marker id="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker>' for kind in ("flow", "control", "bad")]
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.high}" viewBox="0 0 {self.width} {self.high}" role="img" font-family="{FONT}" font-size="14">',
            f"<title>{html.escape(self.title)}</title>", "<style>", *day, "@media (prefers-color-scheme: dark) {", *night, "}", "</style>", "<defs>", *heads, "</defs>", *self.parts, "</svg>", ""])


def domain():
    d = Drawing(840, 390, "A domain: processes with nodes, the manager, and who joins from elsewhere")
    d.box(20, 20, 660, 350, "process", round=8).text(36, 44, "a domain, on one machine", bold=True)
    d.box(280, 36, 140, 52, "manager", "manager", "sinewd")
    for x, process, nodes in ((40, "camera driver", ["camera"]), (275, "perception", ["detector", "tracker"]), (510, "planner", ["planner"])):
        d.box(x, 160, 150, 142, "card", round=8).text(x + 75, 180, f"process: {process}", "faint", anchor="middle", small=True)
        for number, node in enumerate(nodes):
            d.box(x + 12, 192 + 52 * number, 126, 40, "node", f"node {node}")
    d.line((310, 88), (130, 158), kind="control").line((350, 88), (350, 158), kind="control").line((390, 88), (570, 158), kind="control")
    d.text(60, 116, "names, types,", "faint", small=True).text(60, 131, "introductions", "faint", small=True)
    d.line((178, 212), (285, 212)).text(232, 205, "camera/image", "strong", anchor="middle", small=True)
    d.line((350, 232), (350, 242)).line((413, 264), (465, 264), (465, 212), (520, 212)).text(468, 205, "tracks", "strong", anchor="middle", small=True)
    d.text(40, 332, "solid: messages, from process to process, in shared memory", "strong", small=True).text(40, 351, "dashed: control, over the manager's socket; no message ever", "faint", small=True)
    d.box(705, 160, 120, 56, "node", "gateway", "other machines").box(705, 246, 120, 56, "node", "bridges", "ROS 2, ROS 1")
    d.line((680, 188), (703, 188)).line((680, 274), (703, 274))
    return d


def message():
    d = Drawing(840, 420, "How a message travels: built, published, claimed and read in one place of shared memory")
    d.box(20, 20, 250, 380, "process", "publisher's process", top=True).box(570, 20, 250, 380, "process", "subscriber's process", top=True)
    d.box(300, 20, 240, 380, "memory", "shared memory", "written by the publisher alone", top=True)
    d.box(320, 76, 200, 130, "message", "the message", top=True).text(420, 120, "struct Image { ... }", anchor="middle", mono=True, small=True).text(420, 142, "the bytes of its std::vector", anchor="middle", small=True)
    d.text(420, 178, "same address in", "faint", anchor="middle", small=True).text(420, 193, "both processes", "faint", anchor="middle", small=True)
    d.box(320, 232, 200, 44, "node", "ring: an entry of 64 bytes", bold=False)
    d.step(40, 96, 1).text(58, 101, "loan(): an empty Image")
    d.step(40, 140, 2).text(58, 145, "build(): filled in place").line((222, 140), (318, 140))
    d.step(40, 254, 3).text(58, 259, "publish(): the entry").line((200, 254), (318, 254))
    d.step(40, 310, 4).text(58, 315, "wakes who sleeps").line((200, 310), (588, 310), kind="control").text(420, 302, "doorbell, an eventfd", "faint", anchor="middle", small=True)
    d.step(600, 310, 4).text(618, 315, "wakes")
    d.step(600, 254, 5).text(618, 259, "claims the entry").line((588, 254), (522, 254))
    d.step(600, 140, 6).text(618, 145, "callback(const Image&)").line((588, 140), (522, 140))
    d.text(618, 165, "or std::shared_ptr, to keep", "faint", small=True)
    d.step(600, 366, 7).text(618, 371, "gives the claim back").line((588, 366), (250, 366))
    d.step(40, 366, 8).text(58, 371, "uses the memory again")
    return d


def delivery():
    d = Drawing(840, 470, "The ways in which a message reaches a subscriber")
    ways = [
        ("pointer", "same process", "the object that was published", "0 copies"),
        ("native", "other process, same layout of the type", "read where it was built", "0 copies"),
        ("view", "other language or standard library", "big arrays where they lie, the rest decoded", "small fields decoded"),
        ("copy", "other user, asked for, or too many held", "copied into the subscriber's process", "1 copy"),
    ]
    for number, (way, when, what, copies) in enumerate(ways):
        x, y = 20 + 410 * (number % 2), 20 + 220 * (number // 2)
        d.box(x, y, 390, 210, "process").text(x + 16, y + 28, way, "strong", bold=True).text(x + 16, y + 48, when, "faint", small=True).text(x + 374, y + 28, copies, anchor="end", small=True, bold=True)
        if way == "pointer":
            d.box(x + 16, y + 64, 358, 112, "card").box(x + 36, y + 80, 90, 60, "node", "publisher", bold=False).box(x + 264, y + 80, 90, 60, "node", "subscriber", bold=False)
            d.box(x + 155, y + 80, 80, 60, "message", "message", bold=False).line((x + 126, y + 110), (x + 153, y + 110)).line((x + 262, y + 110), (x + 237, y + 110))
            d.text(x + 195, y + 164, "one process", "faint", anchor="middle", small=True)
        else:
            d.box(x + 16, y + 64, 100, 112, "card").box(x + 274, y + 64, 100, 112, "card").text(x + 66, y + 164, "a process", "faint", anchor="middle", small=True).text(x + 324, y + 164, "another", "faint", anchor="middle", small=True)
            d.box(x + 24, y + 80, 84, 40, "node", "publisher", bold=False).box(x + 282, y + 80, 84, 40, "node", "subscriber", bold=False)
            d.box(x + 140, y + 64, 110, 112, "memory").text(x + 195, y + 164, "shared memory", "faint", anchor="middle", small=True)
            if way == "native":
                d.box(x + 155, y + 76, 80, 66, "message", "message", bold=False).line((x + 108, y + 100), (x + 153, y + 100)).line((x + 280, y + 100), (x + 237, y + 100))
            elif way == "view":
                d.box(x + 155, y + 72, 80, 28, "message", "fields", bold=False).box(x + 155, y + 108, 80, 40, "message", "big array", bold=False)
                d.line((x + 108, y + 86), (x + 153, y + 86)).line((x + 237, y + 86), (x + 280, y + 92), kind="control").line((x + 290, y + 122), (x + 290, y + 130), (x + 237, y + 130))
            else:
                d.box(x + 155, y + 76, 80, 40, "message", "message", bold=False).line((x + 108, y + 96), (x + 153, y + 96))
                d.box(x + 284, y + 124, 80, 26, "message", "its own", bold=False).line((x + 237, y + 106), (x + 260, y + 137), (x + 282, y + 137))
        d.text(x + 195, y + 198, what, anchor="middle", small=True)
    return d


def lifetimes():
    d = Drawing(840, 330, "Who holds what, and what stays when a process dies")
    left, t = 200, {"publish": 260, "take": 340, "killed": 470, "reset": 660}
    for y, name, more in ((90, "publisher's process", ""), (150, "the message's memory", "shared"), (210, "subscriber's handle", "shared_ptr<const T>"), (270, "subscriber's process", "")):
        d.text(24, y + (0 if more else 6), name, bold=True)
        if more:
            d.text(24, y + 17, more, "faint", small=True)
    d.box(left, 76, t["killed"] - left, 30, "process").box(t["publish"], 136, t["reset"] - t["publish"], 30, "memory").box(t["take"], 196, t["reset"] - t["take"], 30, "message").box(left, 256, 600, 30, "process")
    for name, label, kind in (("publish", "publish()", "control"), ("take", "callback", "control"), ("killed", "kill -9", "bad"), ("reset", "last handle goes", "control")):
        d.line((t[name], 50), (t[name], 296), kind=kind, arrow=False).text(t[name], 40, label, "alarm" if kind == "bad" else "ink", anchor="middle")
    d.text(t["killed"] + 8, 96, "gone: nothing to clean up", "alarm", small=True)
    d.text(t["reset"] + 8, 156, "the kernel frees it", "faint", small=True).text(565, 216, "still readable", anchor="middle", small=True)
    d.text(left, 314, "time goes to the right", "faint", small=True)
    return d


def threads():
    d = Drawing(840, 360, "Threads of a process with a node, and where callbacks run")
    d.box(20, 20, 800, 320, "process").text(36, 44, "a process with a node", bold=True)
    d.box(40, 64, 220, 110, "node", "your threads", "publish(), loan(), take(),", "call(): from any of them,", "at any time", top=True)
    d.box(40, 210, 220, 110, "manager", "thread for sockets", "the library's own: manager,", "peers, deadlines, leases;", "runs no callback of yours", top=True)
    for y, name, what in ((64, "execution thread 0", [("image", "message"), ("timer", "message"), ("matched", "message")]), (160, "execution thread 1", [("lidar", "message"), ("lidar", "message")])):
        d.box(330, y, 300, 80, "node").text(346, y + 22, name, bold=True).text(614, y + 22, "one after the other", "faint", anchor="end", small=True)
        for number, (label, kind) in enumerate(what):
            d.box(346 + 90 * number, y + 34, 80, 34, kind).text(386 + 90 * number, y + 56, label, anchor="middle", small=True)
    d.box(330, 256, 300, 64, "node").text(346, 280, "threads of a provider or server", bold=True).text(346, 300, "parallel requests, goals of actions", "faint", small=True)
    d.text(650, 96, "side by side with", small=True).text(650, 112, "the others; names,", small=True).text(650, 128, "priorities, cores and", small=True).text(650, 144, "spinning by", small=True).text(650, 160, "ThreadOptions", small=True, mono=True)
    d.line((700, 230), (700, 206), (632, 206), kind="control").text(650, 248, "a bell from other", small=True).text(650, 264, "processes wakes the", small=True).text(650, 280, "one that is meant", small=True)
    return d


def memory():
    d = Drawing(840, 390, "Files in shared memory between a publisher and a subscriber, and who may write each")
    d.box(20, 20, 250, 320, "process", "publisher's process", top=True).box(570, 20, 250, 320, "process", "subscriber's process", top=True)
    rows = [
        (64, "window: chunks", "messages and their storage", "rw", "ro", "memory"),
        (128, "ring, 1024 entries of 64 B", "which message, where, when", "rw", "ro", "memory"),
        (192, "ack page, 1 per connection", "cursor, 120 claims", "ro", "rw", "message"),
        (256, "bell page, 1 per thread", "an epoch, odd while it sleeps", "ro", "rw", "message"),
    ]
    for y, name, what, here, there, kind in rows:
        d.box(300, y - 14, 240, 52, kind, name, what)
        for x, may, end in ((40, here, 298), (690, there, 542)):
            d.box(x, y - 8, 110, 38, "node").text(x + 55, y + 16, {"rw": "read, write", "ro": "read only"}[may], "strong" if may == "rw" else "faint", anchor="middle", bold=may == "rw")
            d.line((150 if x == 40 else 690, y + 12), (end, y + 12), kind="flow" if may == "rw" else "control", arrow=may == "rw")
    d.line((150, 326), (688, 326), kind="control").text(420, 320, "doorbell: an eventfd, rung once per sleep", "faint", anchor="middle", small=True)
    d.text(420, 366, "each file has one writer; sealed, so nobody else can ever map it writable", "ink", anchor="middle", small=True)
    return d


def measured():
    """What docs/performance.md says of the time until a payload is readable: the sizes, and by systems the medians in us."""
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    table = page[page.index("From just before publish to the readable payload") :]
    head, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.search(r"(?m)^\| \| 128 B.*\n\|-.*\n((?:\|.*\n)+)", table)[0].splitlines() if not line.startswith("|-")]
    return head[1:5], {row[0]: [float(cell.split(" / ")[0].replace(",", "")) for cell in row[1:5]] for row in rows}


def latency():
    sizes, systems = measured()
    d = Drawing(840, 470, "Time from just before publish to the readable payload, by size of the message and by system")
    left, right, top, bottom = 70, 600, 60, 410
    size_of = {"B": 1, "KiB": 1024, "MB": 1e6}
    at = [math.log(float(size.split()[0]) * size_of[size.split()[1]]) for size in sizes]
    xs = [left + (right - left) * (each - at[0]) / (at[-1] - at[0]) for each in at]
    lowest, highest = math.log10(5), math.log10(10000)

    def y_of(microseconds):
        return bottom - (bottom - top) * (math.log10(microseconds) - lowest) / (highest - lowest)

    d.text(24, 36, "from just before publish to the readable payload, median", bold=True)
    for tick, label in ((10, "10 us"), (100, "100 us"), (1000, "1 ms"), (10000, "10 ms")):
        d.parts.append(f'<path class="card" d="M{left} {y_of(tick):g} L{right} {y_of(tick):g}"/>')
        d.text(left - 8, y_of(tick) + 4, label, "faint", anchor="end", small=True)
    for x, size in zip(xs, sizes):
        d.text(x, bottom + 24, size, "faint", anchor="middle", small=True)
    d.text((left + right) / 2, bottom + 46, "size of the message", "faint", anchor="middle", small=True)
    d.text(right + 14, top - 14, f"us at {sizes[-1]}", "faint", small=True)
    free = bottom + 40
    for number, (name, values) in sorted(enumerate(systems.items()), key=lambda each: each[1][1][-1]):
        ys = [y_of(value) for value in values]
        path = " ".join(f"{'L' if index else 'M'}{x:.1f} {y:.1f}" for index, (x, y) in enumerate(zip(xs, ys)))
        d.parts.append(f'<path class="of{number}" fill="none" stroke-width="{4 if number == 0 else 2}"{" stroke-dasharray=" + chr(34) + "5 4" + chr(34) if name.startswith("floor") else ""} d="{path}"/>')
        d.parts += [f'<circle class="on{number}" cx="{x:.1f}" cy="{y:.1f}" r="{4 if number == 0 else 3}"/>' for x, y in zip(xs, ys)]
        free = min(ys[-1], free - 17)
        name = name.split(":")[0]
        d.text(right + 14, free + 4, f"{name}: {values[-1]:,g}" if values[-1] < 100 else f"{name}: {values[-1]:,.0f}", f"on{number}", bold=number == 0, small=True)
    return d


def pictures():
    """The names of the files in docs/, and what is in them."""
    return {f"{draw.__name__}.svg": draw().svg() for draw in (domain, message, delivery, lifetimes, threads, memory, latency)}


def main():
    for name, picture in pictures().items():
        (DOCS / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
