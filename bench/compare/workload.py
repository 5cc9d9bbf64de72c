"""The experiments: a file each in experiments/, which says what is measured after which figure of which paper, and with which systems."""
import dataclasses
import itertools
import pathlib
import tomllib

from compare import cells

FOLDER = pathlib.Path(__file__).resolve().parent / "experiments"
FIELDS = {"title", "source", "quoted", "systems", "fixed", "axes", "x", "panels", "plot", "rounds", "measure"}
PLOTS = ("lines", "boxes", "bars", "sweep", "braking")
MEASURES = ("transport", "end_to_end")


class Mistake(Exception):
    """What is wrong in which file."""


@dataclasses.dataclass
class Experiment:
    name: str
    title: str
    source: str  # figures and tables of a paper
    quoted: list  # what the paper found, in words with numbers
    systems: list  # names; those of the first are the ones that all others are compared with
    fixed: dict  # of every cell
    axes: dict  # values that are combined with each other
    x: str  # the axis along which tables and plots go
    panels: list  # axes of which each combination has a table and a plot of its own
    plot: str
    rounds: int  # how often at most each cell is measured; 0: as often as all
    measure: str  # what is shown: from publish to readable, or from obtaining memory to the last byte read

    def cells(self):
        """Each combination of the axes. An axis may set several at a time: its values are tables then."""
        made = []
        for values in itertools.product(*self.axes.values()):
            cell = {**cells.DEFAULTS, **self.fixed, "experiment": self.name}
            for name, value in zip(self.axes, values):
                cell |= value if isinstance(value, dict) else {name: value}
            made.append(cell)
        return made


def read(path):
    try:
        found = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as why:
        raise Mistake(f"{path.name}: {why}") from None
    if wrong := set(found) - FIELDS:
        raise Mistake(f"{path.name}: there is no '{min(wrong)}'; there are {', '.join(sorted(FIELDS))}")
    if missing := {"title", "source", "systems", "axes", "x"} - set(found):
        raise Mistake(f"{path.name}: '{min(missing)}' is missing")
    made = Experiment(path.stem, found["title"], found["source"], found.get("quoted", []), found["systems"], found.get("fixed", {}), found["axes"], found["x"],
                      found.get("panels", []), found.get("plot", "lines"), found.get("rounds", 0), found.get("measure", "transport"))
    for values in (made.fixed, *(value if isinstance(value, dict) else {name: value} for name, axis in made.axes.items() for value in axis)):
        if wrong := set(values) - set(cells.DEFAULTS):
            raise Mistake(f"{path.name}: cells have no '{min(wrong)}'; they have {', '.join(sorted(cells.DEFAULTS))}")
    for name in (made.x, *made.panels):
        if name not in made.axes:
            raise Mistake(f"{path.name}: '{name}' is none of its axes: {', '.join(made.axes)}")
    if made.plot not in PLOTS or made.measure not in MEASURES:
        raise Mistake(f"{path.name}: plot is one of {', '.join(PLOTS)}, measure one of {', '.join(MEASURES)}")
    return made


def all_experiments():
    return [read(path) for path in sorted(FOLDER.glob("*.toml"))]
