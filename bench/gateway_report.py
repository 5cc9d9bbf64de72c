"""Makes the report of bench/gateway.py from its rows: the bars, and the tables they stand on."""
import report

SINEW, ZENOH, ZENOH_TUNED = "sinew", "Zenoh", "Zenoh, tuned"
ALONE, AGAIN = "no gateway", "no gateway, again"
QUINN = "no gateway, bare quinn sends beside"
IMAGE_HZ, IMAGE_BYTES = 30, 1_000_000
COMMAND_HZ, COMMAND_BYTES = 100, 100
RATE = 50_000_000
SLOW, LOSSY = "50 Mbit/s", "50 Mbit/s, 20 ms, 5 % lost"
LINKS = {SLOW: {"tbf": RATE}, LOSSY: {"rate": RATE, "delay": 20, "loss": 5}}
MANY = 10
QUINN_PART = 0.8
QUINN_TIMES = 2
SAME_COST = 1.02
IMAGE_TIMES = 1.3
COMMAND_BEYOND_MS = 10
IDLE_BITS = 1000
# After the base has joined, until all counts that comes there.
WARM_S = 1


def delay_ms(link):
    return LINKS[link].get("delay", 0)


def after(samples):
    return [value for at, value in samples if at >= WARM_S]


def at(fraction, values):
    return report.percentile(sorted(values), fraction) if values else None


def rows_of(rows, what, system=None, link=None):
    """By rounds. Those without a gateway have no link."""
    return {row["round"]: row for row in rows if row["what"] == what and row["system"] == system and row["link"] == link}


def local(row):
    """(messages a second, median and 99th percentile of their latency in ms) on the robot, while somebody listens at the base."""
    times = [moment for moment, _ in row["published"] if moment >= WARM_S]
    late = after(row["local"])
    hz = (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0
    return hz, at(0.5, late), at(0.99, late)


def image_bar_ms(link):
    return IMAGE_TIMES * (8 * IMAGE_BYTES / RATE * 1000 + delay_ms(link))


def noise(rows, which):
    """How far two runs without a gateway are apart at most, in any round, as a ratio."""
    alone, again = rows_of(rows, "robot", ALONE), rows_of(rows, "robot", AGAIN)
    found = [local(alone[number])[which] / local(again[number])[which] for number in alone if number in again]
    return max((max(ratio, 1 / ratio) for ratio in found), default=1)


def bars(rows):
    cable = rows_of(rows, "cable").values()
    made = [
        report.Bar("unlimited link: 1 MB messages through two gateways / what bare quinn moves", QUINN_PART, " x", [row["bytes_per_s"] / row["quinn_bytes_per_s"] for row in cable], most=False),
        report.Bar("unlimited link: small message there and back / the same of bare quinn", QUINN_TIMES, " x",
                   [at(0.5, row["round_trip_us"]) / at(0.5, row["quinn_round_trip_us"]) for row in cable]),
        report.Bar(f"what {MANY} subscribers at the far side cost the link / what one costs", SAME_COST, " x", [row["link_bytes"][str(MANY)] / row["link_bytes"]["1"] for row in cable]),
    ]
    alone = rows_of(rows, "robot", ALONE)
    for link in LINKS:
        found = rows_of(rows, "robot", SINEW, link)
        both = [(local(row), local(alone[number])) for number, row in found.items() if number in alone]
        made += [
            report.Bar(f"{link}: local messages a second without a gateway / with (limit: how far two without are apart)", noise(rows, 0), " x", [before[0] / with_it[0] for with_it, before in both]),
            report.Bar(f"{link}: local median latency with a gateway / without (limit likewise)", noise(rows, 1), " x", [with_it[1] / before[1] for with_it, before in both]),
            report.Bar(f"{link}: image, median latency at the base", image_bar_ms(link), " ms", [at(0.5, after(row["image"])) for row in found.values() if after(row["image"])]),
            report.Bar(f"{link}: command beside it, p99", delay_ms(link) + COMMAND_BEYOND_MS, " ms", [at(0.99, after(row["command"])) for row in found.values() if after(row["command"])]),
        ]
    return [*made, report.Bar("idle gateways, both directions", IDLE_BITS, " bit/s", [row["idle_bits_per_s"] for row in rows_of(rows, "idle").values()])]


def spread(values):
    values = [value for value in values if value is not None]
    return report.spread(values) if values else "nothing came"


def robot_table(rows, link):
    lines = ["| | published, Hz | local p50 / p99, ms | images at the base, Hz | p50 / p99, ms | commands that came, % | p50 / p99, ms |", "|---|---|---|---|---|---|---|"]
    for system in (ALONE, AGAIN, QUINN, SINEW, ZENOH, ZENOH_TUNED):
        found = list(rows_of(rows, "robot", system, None if system in (ALONE, AGAIN) else link).values())
        if not found:
            continue
        here = [local(row) for row in found]
        cells = [spread([hz for hz, _, _ in here]), f"{spread([p50 for _, p50, _ in here])} / {spread([p99 for _, _, p99 in here])}"]
        if system in (ALONE, AGAIN, QUINN):
            cells += ["", "", "", ""]
        else:
            seconds = [row["published"][-1][0] - WARM_S for row in found]
            images, commands = [after(row["image"]) for row in found], [after(row["command"]) for row in found]
            cells += [spread([len(each) / time for each, time in zip(images, seconds)]), both(images),
                      spread([100 * len(each) / len(after(row["commanded"])) for row, each in zip(found, commands)]), both(commands)]
        lines.append(f"| {system} | " + " | ".join(cells) + " |")
    return lines


def both(samples):
    if not any(samples):
        return ""
    return " / ".join(spread([at(fraction, each) for each in samples]) for fraction in (0.5, 0.99))


def cable_table(rows):
    found = list(rows_of(rows, "cable").values())
    lines = ["| | 1 MB messages, MB/s | small message there and back, p50 / p99, us |", "|---|---|---|"]
    for name, moved, trip in (("bare quinn", "quinn_bytes_per_s", "quinn_round_trip_us"), ("two gateways", "bytes_per_s", "round_trip_us")):
        lines.append(f"| {name} | {spread([row[moved] / 1e6 for row in found])} | {both([row[trip] for row in found])} |")
    return lines


def write(rows, failures, rounds, quick, facts):
    how = f"{rounds}, interleaved, in random order; both machines are network namespaces of this one, so what both do shares its cores"
    lines = report.opening("Between two machines", rows, how, quick, facts)
    lines += ["", "## Bars", "", "Each is taken within a round; median over the rounds [smallest .. largest].", "",
              "| bar | limit | measured | holds |", "|---|---|---|---|", *(bar.line() for bar in bars(rows))]
    if any(row["what"] == "cable" for row in rows):
        lines += ["", "## Unlimited link", "", *cable_table(rows)]
    for link in LINKS:
        if any(row["link"] == link for row in rows):
            lines += ["", f"## {link}", "", f"{report.size_name(IMAGE_BYTES)} at {IMAGE_HZ} Hz and {COMMAND_BYTES} bytes at {COMMAND_HZ} Hz, one subscriber on the robot and one at the base, from {WARM_S} s after that has joined:", "",
                      *robot_table(rows, link)]
    if failures:
        lines += ["", "## Failed", "", *(f"- {failure}" for failure in failures)]
    return "\n".join(lines) + "\n"
