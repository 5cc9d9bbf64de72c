#!/usr/bin/env python3
"""The worst night of the robot of examples/robot: for an hour any process of it, of its station and of their watchers is killed or stopped at random, managers, gateways and bridges too, while subscribers keep all that they can, the
processors are loaded and the link is down for three seconds of twenty.

Usage: night.py [--seconds N] [--seed N] [--report FILE]
Built as for test_robot.py, or taken from SINEW_ROBOT_PREFIX. At the end everybody lives and gets on, nothing is left of it when it is stopped, and whatever was lost on the way was counted: else the exit status is 1, and the last lines say what
was otherwise. The report is a section of docs/reliability.md.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import stage
from launched import PATIENCE, Launched

HERE = pathlib.Path(__file__).resolve().parent
GOOD_END = "At the end all lived and got on, with the publishers, subscribers, descriptors, mappings and memory that they had before; when it was stopped, no process of it was left."
# What flows all the time, as the witness on the robot sees.
WITNESSED = ("odom", "scan", "camera/image", "cmd_vel", "battery", "beat", "hoard/blobs", "hoard/others")
# What the log of a launch says as long as all get on.
LIFE = [
    ("pictures arrive at the station", r"^\[dashboard\] at [-\d.]+, [-\d.]+, \d+ ms ago; [1-9]\d* pictures", "station"),
    ("the planner has reached a goal", r"^\[planner\] +to [\d.]+, [\d.]+: \d+ squares$", "robot"),
    *((f"{topic} flows", rf"^\[witness\] +witnessed {topic} [1-9]", "night") for topic in WITNESSED),
    *((f"{topic} flows to the station", rf"^\[station_witness\] +witnessed {topic} [1-9]", "night") for topic in ("odom", "camera/image", "beat")),
]
# Between two of them, in seconds.
PAUSE = (1, 3)
STOPPED_FOR = (0.5, 4)
LOADED_FOR = 30
CALM = 20
# Descriptors, mappings and KiB that a process may have more at the end than half as much again as at the begin: a gateway packs pictures while the link is down.
SLACK = (16, 64, 32768)
# A crash of one of them loses what nobody can have counted; what had left it by then arrives for so many seconds.
GATEWAYS = ("gateway of robot", "gateway of station")
UNDER_WAY = 1
# A gateway tells once a second how it stands, or later where it is stopped; and it may have counted so many seconds before it told.
GATHERING = 0.5
LOOK = 0.7
SECTION = """## The worst night

{seconds} s of the robot of [examples/robot](../examples/robot) with its station ([tests/robot/night.py](../tests/robot/night.py)): any process of it is killed or stopped at random, managers, gateways and bridges too, while subscribers keep all that they can of one
publisher, {burning} processes that only burn time run for half of it, and the link between the two machines is down for three seconds of twenty and loses 2 % else. {end}

| process | killed | stopped for a while |
| --- | ---: | ---: |
{kills}

| topic | where | received | missed, and counted | lives of its publishers | not counted |
| --- | --- | ---: | ---: | ---: | ---: |
{losses}

Memory was full for {refused} of {offered} messages of `hoard/blobs`, and was refused to them. The beats have numbers of their own: {beats} came over the link; {gaps} did not while both gateways lived, beside {lost} that the station's gateway has counted as lost
(more, where the witness was killed before it saw the next one); and {killed} did not around the kills of a gateway, which takes with it what it had to send and what it had counted.
"""


class Night:
    def __init__(self, work, chance):
        self.chance = chance
        self.stage = stage.Stage(work)
        self.stage.let_out("beat")
        self.launched = {}
        self.kills, self.stops, self.wrong = collections.Counter(), collections.Counter(), []
        # `looked`: what was lost by then is in `lost`.
        self.lost, self.told_by, self.looked = 0, {}, 0
        self.unknown = []
        self.burning = []
        self.at_dusk, self.weighed = {}, {}

    def begin(self):
        folder, environment, work = self.stage.folder, self.stage.environment, self.stage.work
        self.launched["robot"] = Launched(folder / "robot.yaml", work / "robot.log", environment)
        self.launched["station"] = Launched(folder / "station.yaml", work / "station.log", environment, "down:=3", "every:=20")
        self.launched["night"] = Launched(HERE / "night.yaml", work / "night.log", environment, f"tests:={HERE}")

    def dusk(self):
        """When all that is to be there has come, which takes as long as it takes."""
        for _, pattern, launched in LIFE:
            self.launched[launched].wait_for(pattern)
        time.sleep(CALM)
        self.at_dusk, self.weighed = {domain: self.stage.inventory(domain) for domain in ("robot", "station")}, self.weights()

    def everybody(self):
        """(name, pid) of all that may be harmed now."""
        found = [(f"{name} of {of}", launched.pid(name)) for of, launched in self.launched.items() for name in launched.names()]
        for domain in ("robot", "station"):
            found += [(f"sinewd of {domain}", pid) for pid in self.stage.managers(domain)]
        return found

    def weights(self):
        """Of each process: descriptors, mappings, KiB of memory of its own."""
        found = {}
        for name, pid in self.everybody():
            process = pathlib.Path(f"/proc/{pid}")
            private = re.search(r"(?m)^RssAnon:\s+(\d+)", (process / "status").read_text())
            found[name] = len(list((process / "fd").iterdir())), len((process / "maps").read_text().splitlines()), int(private[1])
        return found

    def harm(self):
        name, pid = self.chance.choice(self.everybody())
        with contextlib.suppress(ProcessLookupError):  # it is on its way already
            if self.chance.random() < 0.15:
                os.kill(pid, signal.SIGSTOP)
                self.stops[name] += 1
                time.sleep(self.chance.uniform(*STOPPED_FOR))
                os.kill(pid, signal.SIGCONT)
            else:
                os.kill(pid, signal.SIGKILL)
                self.kills[name] += 1
                if name in GATEWAYS:
                    self.unknown.append((self.looked, time.monotonic()))

    def look_at_gateways(self):
        """How many beats the station's gateway says that it has lost, in all of its lives."""
        now = time.monotonic()
        with contextlib.suppress(AssertionError, json.JSONDecodeError, subprocess.TimeoutExpired):  # there may be none
            for status in json.loads(self.stage.run("sinew", "--domain", "station", "--json", "gateway", "status")):
                beats = [(channel["messages"], channel["lost"]) for peer in status["peers"] for channel in peer["channels"] if channel["name"] == "beat"]
                # Of two lives of the robot's gateway, the one that is going; the next one counts anew, and from what it has counted when the other has gone.
                messages, lost = max(beats, default=(0, 0))
                before = self.told_by.get(status["node"], (0, 0))
                is_anew = messages < before[0] or lost < before[1]
                self.lost += lost if is_anew else lost - before[1]
                self.told_by[status["node"]] = messages, lost
                self.looked = now - status["age_ns"] / 1e9 - GATHERING

    def wait(self, seconds):
        """Looking at the gateways at least once a second, as they tell: what a channel has counted is not seen any more once another one has counted more."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.look_at_gateways()
            time.sleep(min(left, LOOK))

    def burn(self, is_on):
        if is_on and not self.burning:
            self.burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
        elif not is_on:
            while self.burning:
                process = self.burning.pop()
                process.kill()
                process.wait()

    def pass_by(self, seconds):
        begin = time.monotonic()
        told = 0
        while (passed := time.monotonic() - begin) < seconds:
            self.burn(int(passed / LOADED_FOR) % 2 == 1)
            # Before, as what a gateway has counted goes with it.
            self.look_at_gateways()
            self.harm()
            self.wait(self.chance.uniform(*PAUSE))
            if passed > told + 60:
                told = passed
                print(f"{passed:.0f} of {seconds} s: {sum(self.kills.values())} killed, {sum(self.stops.values())} stopped", flush=True)
        self.burn(False)

    def dawn(self):
        """All live, and get on, and are as they were at dusk."""
        self.wait(CALM)
        self.look_at_gateways()
        for name, launched in self.launched.items():
            if launched.process.poll() is not None:
                self.wrong.append(f"the launcher of {name} has ended with status {launched.process.returncode}")
        for what, pattern, launched in LIFE:
            try:
                self.launched[launched].wait_for(pattern, len(self.launched[launched].said()))
            except AssertionError:
                self.wrong.append(f"at the end of the night not so: {what}")
        for domain, at_dusk in self.at_dusk.items():
            until = time.monotonic() + PATIENCE
            while (now := self.stage.inventory(domain)) != at_dusk:
                if time.monotonic() > until:
                    self.wrong.append(f"in the domain {domain} there is what was not there at dusk: {dict(now - at_dusk)}, and not any more: {dict(at_dusk - now)}")
                    break
                time.sleep(1)
        for name, weighs in self.weights().items():
            for what, now, at_dusk, slack in zip(("descriptors", "mappings", "KiB of its own"), weighs, self.weighed[name], SLACK):
                if now > at_dusk * 1.5 + slack:
                    self.wrong.append(f"{name} has {now} {what}, and had {at_dusk} at dusk")

    def end(self):
        for name, launched in self.launched.items():
            if (status := launched.stop()) != 0:
                self.wrong.append(f"the launcher of {name} was stopped with status {status}")
        until = time.monotonic() + PATIENCE
        while left := self.stage.processes():
            if time.monotonic() > until:
                self.wrong.append(f"left behind: {left}")
                break
            time.sleep(0.2)

    def said(self):
        return "\n".join(launched.said() for launched in self.launched.values())

    def told(self):
        """What the watchers have counted, by (where, topic): received, missed, lives."""
        counts = collections.defaultdict(lambda: [0, 0, 0])
        for where, topic, *numbers in re.findall(r"(?m)^\[(witness|station_witness)\] +witnessed (\S+) (\d+) (\d+) (\d+)$", self.said()):
            counts[where, topic] = [sum(pair) for pair in zip(counts[where, topic], map(int, numbers))]
        return counts

    def gaps(self):
        """How many beats did not come to the station while both gateways lived, and how many as one was killed, which takes with it what it had, and what it has counted since somebody looked at it."""
        alive = killed = 0
        for number, *times in re.findall(r"(?m)^\[station_witness\] +gap (\d+) ([\d.]+) ([\d.]+)$", self.said()):
            begin, end = map(float, times)
            if any(looked <= end and begin <= when + UNDER_WAY for looked, when in self.unknown):
                killed += int(number)
            elif end < self.looked:
                alive += int(number)
        return alive, killed

    def judged(self):
        self.wrong += re.findall(r"(?m)^.*WRONG: .*$", self.said())
        self.wrong += re.findall(r"(?m)^.*(?:terminate called|Assertion|AddressSanitizer|Segmentation|panicked).*$", self.said())
        counts = self.told()
        for topic in WITNESSED:
            if not counts["witness", topic][0]:
                self.wrong.append(f"the witness has got nothing of {topic}")
        if (gaps := self.gaps()[0]) > self.lost:
            self.wrong.append(f"{gaps} beats did not come to the station while both gateways lived, of which they have counted {self.lost}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--report", type=pathlib.Path, help="where to write it (default: print it)")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix="sinew-night-"))
    night = Night(work, random.Random(arguments.seed))
    night.begin()
    try:
        night.dusk()
        night.pass_by(arguments.seconds)
        night.dawn()
    finally:
        night.burn(False)
        night.end()
    night.judged()
    report = section(night, arguments.seconds)
    if arguments.report:
        arguments.report.write_text(report, encoding="utf-8")
    else:
        print(report)
    for what in night.wrong[:50]:
        print(f"it was not as it should be: {what}")
    if night.wrong:
        print(f"again: tests/robot/night.py --seed {arguments.seed}; all that was said is in {work}")
        return 1
    shutil.rmtree(work)
    return 0


def section(night, seconds):
    counts, (gaps, killed) = night.told(), night.gaps()
    names = sorted(night.kills.keys() | night.stops.keys())
    given, refused = (sum(map(int, numbers)) for numbers in zip(*re.findall(r"(?m)^\[blobs\] +gave hoard/blobs (\d+) refused (\d+)$", night.said())))
    wrong = collections.Counter(found[1] for found in re.finditer(r"WRONG: ([\w/]+):", night.said()))
    where = {"witness": "the robot", "station_witness": "the station"}
    return SECTION.format(
        seconds=seconds,
        burning=os.cpu_count(),
        end="**It was not as it should be**: " + "; ".join(night.wrong) if night.wrong else GOOD_END,
        kills="\n".join(f"| {name} | {night.kills[name]} | {night.stops[name]} |" for name in names),
        losses="\n".join(f"| `{topic}` | {where[who]} | {received} | {missed} | {lives} | {wrong[topic]} |" for (who, topic), (received, missed, lives) in sorted(counts.items())),
        offered=given + refused, refused=refused, beats=counts["station_witness", "beat"][0], gaps=gaps, killed=killed, lost=night.lost,
    )


if __name__ == "__main__":
    sys.exit(main())
