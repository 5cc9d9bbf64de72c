#!/usr/bin/env python3
"""Draws the pictures of the documentation: the demo as `sinew graph` and `sinew top` show it, into docs/graph.svg and docs/top.svg.

Usage: pictures.py DEMO DATA SINEW      the program of `make demo`, its recordings, and the command; needs tmux
"""

import html
import os
import pathlib
import re
import subprocess
import sys
import time

import running_demo

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS, LINES = 118, 18
CELL, LINE, MARGIN = 8.4, 18, 16
BACKGROUND, FOREGROUND, FAINT = "#0d1117", "#e6edf3", "#8b949e"
COLOURS = ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#e6edf3"]


def screen(sinew, seconds):
    """What `sinew top` has shown for so long, as lines with the terminal's own words for colours."""
    session = f"sinew-pictures-{os.getpid()}"
    tmux = ["tmux", "-L", session]
    subprocess.run([*tmux, "-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), f"{sinew} top --sort bandwidth --interval 500ms"], check=True)
    try:
        time.sleep(seconds / 2)
        subprocess.run([*tmux, "send-keys", "Enter"], check=True)
        time.sleep(seconds / 2)
        return subprocess.run([*tmux, "capture-pane", "-p", "-e", "-N"], capture_output=True, text=True, check=True).stdout.splitlines()
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


class Style:
    """How letters look, as the terminal is told."""

    def __init__(self):
        self.colour, self.bold, self.faint, self.underlined, self.reversed = None, False, False, False, False

    def change(self, codes):
        codes = [int(code or 0) for code in codes.split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code in (38, 48):  # "38;5;6" is 36
                if code == 38 and len(codes) > 1:
                    self.colour = COLOURS[codes[1] % 8]
                del codes[:2]
            elif code in (1, 2, 4, 7):
                setattr(self, {1: "bold", 2: "faint", 4: "underlined", 7: "reversed"}[code], True)
            elif 30 <= code <= 37:
                self.colour = COLOURS[code % 10]
            elif code == 39:
                self.colour = None

    def attributes(self):
        colour = self.colour or (FAINT if self.faint else FOREGROUND)
        words = [f'fill="{BACKGROUND if self.reversed else colour}"']
        return " ".join(words + ['font-weight="bold"'] * self.bold), colour


def drawn(lines):
    """A terminal as SVG. Every piece of text is as wide as its cells, whatever the font."""
    wide, high = COLUMNS * CELL + 2 * MARGIN, LINES * LINE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high}" viewBox="0 0 {wide:.0f} {high}" role="img">',
        "<title>sinew top</title>",
        f'<rect width="{wide:.0f}" height="{high}" rx="10" fill="{BACKGROUND}"/>',
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, &quot;DejaVu Sans Mono&quot;, monospace" font-size="14">',
    ]
    style = Style()
    for row, line in enumerate(lines[:LINES]):
        column, y = 0, MARGIN + (row + 1) * LINE - 5
        for codes, text in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b]+)", line):
            if not text:
                style.change(codes)
                continue
            words, colour = style.attributes()
            x, length = MARGIN + column * CELL, len(text) * CELL
            if style.reversed:
                parts.append(f'<rect x="{x:.1f}" y="{y - 13}" width="{length:.1f}" height="{LINE}" fill="{colour}"/>')
            if style.underlined:
                parts.append(f'<rect x="{x:.1f}" y="{y + 3}" width="{length:.1f}" height="1" fill="{colour}"/>')
            for word in re.finditer(r"\S+( \S+)*", text):  # what is farther apart would be moved together
                x, length = MARGIN + (column + word.start()) * CELL, len(word[0]) * CELL
                parts.append(f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs" {words}>{html.escape(word[0])}</text>')
            column += len(text)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    demo, data, sinew = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:])
    with running_demo.running(demo, data, sinew) as domain:
        os.environ["SINEW_DOMAIN"] = domain
        (ROOT / "docs/top.svg").write_text(drawn(screen(sinew, 14)))
        subprocess.run([sinew, "graph", "--output", ROOT / "docs/graph.svg", "--interval", "3s"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
