"""The blocks of code of a page, and what the words behind their language ask the tests to do with them.

    ```sh                   commands: all of them end well
    ```sh fails             commands: they do not
    ```sh any-status        commands: they may
    ```sh again             commands: again and again, until they end well and print the text that follows
    ```sh goes-on           one command, in a terminal of its own; one that runs already is killed, as by kill -9, and started again. Sections end so, too.
    ```sh by-hand: REASON   commands that a test cannot run, and why
    ```text                 lines that the commands before print, in this order
    ```text any-numbers     the same, with other numbers
    ```text any-figures     the same, with other numbers, units, ids and space between; what follows a "..." at the end of a line is left out, as are lines before one that is "..." alone
    ```text sample          what may be printed: not for a test
    ```diff                 as text
    ```cpp FILE             what to save as FILE; so with every other language, also ```diff FILE
"""

import dataclasses
import re

# What in a text stands for what, in this order.
FIGURES = [(r"\s+", r"\s+"), (r"0x.*", r"0x[0-9a-f]+"), (r"[0-9a-f]{16,}", r"[0-9a-f]+"), (r".*", r"\d[\d.:_-]*(?: (?:[num]?s|[kMG]?B(?:/s)?|Hz)\b)?")]


@dataclasses.dataclass
class Block:
    language: str
    word: str
    text: str
    line: int
    section: str
    reason: str  # why not by a test
    before: str  # the text of the section between the block before and this one

    def __str__(self):
        return f"line {self.line}:\n{self.text}"

    def pattern(self):
        """Of a text: what matches an output with its lines."""
        lines = [re.escape(line.strip()) for line in self.text.splitlines()]
        if self.word == "any-figures":
            lines = [figures(line.strip()) for line in self.text.splitlines() if line.strip() != "..."]
        elif self.word == "any-numbers":
            lines = [re.sub(r"\d+", r"\\d+", line) for line in lines]
        return r"(?m)^\s*" + r"\s*$(?:\n.*)*?\n\s*".join(lines) + r"\s*$"


def figures(line):
    """What matches a line with other figures."""
    whole, more = re.fullmatch(r"(.*?)( ?\.\.\.)?", line).groups()
    parts = re.split(r"(\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b|\d+(?:[.:_-]\d+)*(?: [num]?s\b| [kMG]?B\b(?:/s)?| Hz)?|\s+)", whole)
    wild = [next(pattern for like, pattern in FIGURES if re.fullmatch(like, part)) for part in parts[1::2]]
    return "".join(re.escape(part) + next_ for part, next_ in zip(parts[::2], [*wild, ""])) + ".*" * bool(more)


def blocks_of(page):
    """The blocks of a page in their order. AssertionError where one is not closed."""
    blocks, section, before, inside = [], "", [], None
    for number, line in enumerate(page.splitlines(), 1):
        if inside is not None:
            if line.strip() == "```":
                inside.text = "".join(f"{each}\n" for each in before)
                blocks.append(inside)
                inside, before = None, []
            else:
                before.append(line)
        elif opened := re.fullmatch(r"```(\S*) ?(.*)", line.strip()):
            word, _, reason = opened[2].partition(": ")
            inside = Block(opened[1], word, "", number, section, reason, "\n".join(before))
            before = []
        else:
            section = line if line.startswith("## ") else section
            before.append(line)
    assert inside is None, f"line {inside.line}: the block is not closed"
    return blocks


def text_of(page):
    """A page without its blocks."""
    return re.sub(r"(?ms)^```.*?^```$", "", page)
