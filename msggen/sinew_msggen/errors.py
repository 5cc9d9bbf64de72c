"""What is wrong with definitions, said with file, line and column, the line itself, and a caret below it."""

from __future__ import annotations

import difflib
from typing import Iterable, NamedTuple

# Of a line that is shown; more of it helps nobody.
SHOWN = 120
# Complaints that are shown.
MOST_SHOWN = 50


class Place(NamedTuple):
    """Where something stands in a definition."""

    path: str
    line: int = 0  # from 1; 0: the file as a whole
    column: int = 0  # from 1, in characters
    width: int = 1  # how many characters it has
    text: str = ""  # the line

    def __str__(self):
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path

    def shown(self):
        """The line and a caret below it, as two more lines; nothing for a file as a whole."""
        if not self.line:
            return ""
        begin = max(0, self.column - 1 - SHOWN // 2) if len(self.text) > SHOWN else 0
        line = "".join(character if character.isprintable() else "?" for character in self.text[begin : begin + SHOWN])
        at = self.column - 1 - begin
        marked = "^" + "~" * (min(self.width, SHOWN - at) - 1)
        return f"\n    {line}\n    {' ' * at}{marked}"


class Complaint(NamedTuple):
    """A whole sentence about one place, with what to do. Without a place it is about what was asked for."""

    place: Place | None
    sentence: str

    def __str__(self):
        return f"{self.place}: {self.sentence}{self.place.shown()}" if self.place else self.sentence


class DefinitionError(Exception):
    """Definitions that cannot be used. The text has all complaints."""

    def __init__(self, complaints: Iterable[Complaint]):
        self.complaints = list(complaints)
        more = len(self.complaints) - MOST_SHOWN
        shown = [*map(str, self.complaints[:MOST_SHOWN]), *([f"and {more} more."] if more > 0 else [])]
        super().__init__("\n".join(shown))

    def __reduce__(self):  # exceptions are made again of their text, which is no list of complaints
        return type(self), (self.complaints,)


def refused(place: Place | None, sentence: str) -> DefinitionError:
    """To raise, where one complaint is all."""
    return DefinitionError([Complaint(place, sentence)])


def nearest(word: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Names that are there and much like a word that is not, the most alike first."""
    by_folded = {name.lower(): name for name in known}
    return [by_folded[found] for found in difflib.get_close_matches(word.lower(), by_folded, n=most, cutoff=0.7)]
