"""What is made of the times of a cell, and of the figures of several rounds."""
import math
import statistics

from compare import cells
from parts import number
from report import percentile

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}
# Of a percentile so many samples must lie above it, or it says little more than which one is the largest.
ABOVE = 5


def time_of(sample, measure):
    """In us."""
    began, sent, readable, read = sample
    return (readable - sent if measure == "transport" else read - began) / 1000


def times_of(messages, measure):
    """Of all messages after the warm-up that came whole."""
    return [time_of(sample, measure) for sample in messages[cells.WARM_UP:] if sample[2] >= 0]


def row_of(measured):
    """The figures of one cell."""
    published = sum(map(len, measured.published))
    came = [sample[2] for subscriber in measured.received for messages in subscriber for sample in messages]
    row = {"published": published, "expected": len(came), "damaged": came.count(cells.DAMAGED), "lost": came.count(cells.LOST)}
    for measure in ("transport", "end_to_end"):
        each = [[time for messages in subscriber for time in times_of(messages, measure)] for subscriber in measured.received]
        ordered = sorted(time for times in each for time in times)
        if not ordered:
            continue
        for name, fraction in PERCENTILES.items():
            if name in ("p50", "p99") or len(ordered) * (1 - fraction) >= ABOVE:
                row[f"{measure}_{name}_us"] = percentile(ordered, fraction)
        row |= {f"{measure}_max_us": ordered[-1], f"{measure}_mean_us": statistics.fmean(ordered), f"{measure}_deviation_us": statistics.pstdev(ordered),
                f"{measure}_each_p50_us": [statistics.median(times) if times else None for times in each]}
    calls = [(done - sent) / 1000 for messages in measured.published for _, sent, done in messages[cells.WARM_UP:]]
    row["publish_p50_us"] = statistics.median(calls) if calls else None
    warm = max(published - cells.WARM_UP * len(measured.published), 1)
    row |= {name: value / warm / 1000 for name, value in (("cpu_us", measured.cpu_ns), ("publish_cpu_us", measured.publish_cpu_ns), ("receive_cpu_us", measured.receive_cpu_ns))}
    return row | {"pss_mib": measured.memory.pss / 1024, "private_mib": measured.memory.private / 1024}


# Points of a sweep, at most: steps that follow each other are put together.
POINTS = 80


def steps_of(measured, cell):
    """Of a cell whose rate or size grows: for some of its steps what was asked for, what rate the publisher had, median latency, and how many were lost of how many deliveries. Of its first publisher."""
    published = measured.published[0]
    width = cell["step"] * max(len(published) // cell["step"] // POINTS, 1)
    made = []
    size = cell["size"]
    for number in range(len(published)):
        if number and number % cell["step"] == 0 and cell["size_step"]:
            size += max(1, int(size * cell["size_step"]))
        if number % width or number + width >= len(published) or number < cells.WARM_UP:
            continue
        chunk = slice(number, number + width)
        times = [time_of(sample, "transport") for subscriber in measured.received for sample in subscriber[0][chunk] if sample[2] >= 0]
        lost = sum(sample[2] < 0 for subscriber in measured.received for sample in subscriber[0][chunk])
        took = published[number + width][0] - published[number][0]
        made.append({"asked": cell["rate"] + cell["rate_step"] * (number // cell["step"]), "size": size, "reached": width * 1e9 / took,
                     "p50_us": statistics.median(times) if times else None, "lost": lost, "of": len(times) + lost})
    return made


# Of the deliveries up to a rate, as many as may be lost for it to count: a machine that stands still for a moment costs all who keep the newest some.
MOST_LOST = 0.01


def limit_of(steps):
    """(rate, whether there is a limit): the highest rate at which a publisher publishes and its subscribers receive. What it had for three points in a row, or for as many as there are, as far as
    one in a hundred of all deliveries was lost at most; it is no limit where what was asked for was reached and received to the end."""
    lost = of = 0
    whole = []
    for step in steps:
        lost, of = lost + step["lost"], of + step["of"]
        if lost > MOST_LOST * of:
            break
        whole.append(step["reached"])
    met = len(whole) < len(steps) or not steps or steps[-1]["reached"] < 0.9 * steps[-1]["asked"]
    row = min(3, len(whole))
    return max((min(whole[at:at + row]) for at in range(len(whole) - row + 1) if row), default=0), met


# Which subscriber looks for the red light: see ../peers/light.cpp.
RED = 1


def seen_of(measured):
    """Of a camera and those who look for lights: how long after a light has turned red it is recognised, in ms, for each image that is the first to show it. It turned red half a period before the image, on average."""
    published, received = measured.published[0], measured.received[RED][0]
    delays, next_read = [], None
    for number in reversed(range(cells.WARM_UP, len(published))):
        if received[number][2] >= 0:
            next_read = received[number][3]
        if next_read is not None:
            delays.append((next_read - (published[number][0] + published[number - 1][0]) / 2) / 1e6)
    return delays


def interval(values):
    """(lowest, highest, confidence): the median of what the values are drawn from lies between, with that confidence; by order statistics, so that nothing is supposed of their distribution.
    The narrowest that is 95 % sure, or all there is."""
    ordered, count = sorted(values), len(values)
    best = (ordered[0], ordered[-1], 1 - 2 * 0.5**count)
    for cut in range(1, count // 2):
        outside = 2 * sum(math.comb(count, below) for below in range(cut + 1)) / 2**count
        if 1 - outside < 0.95:
            break
        best = (ordered[cut], ordered[-1 - cut], 1 - outside)
    return best


def spread(values):
    """The median, and the interval of it."""
    low, high, _ = interval(values)
    return f"{number(statistics.median(values))} [{number(low)} .. {number(high)}]"
