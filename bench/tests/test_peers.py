"""What bench/peers.py makes of samples, and that nothing is left of a cell, from programs that only pretend to be drivers."""
import dataclasses
import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import graphs
from compare import agree, cells, extras, figures, hot_spots, rounds, systems, tables, workload
from compare.processes import Failed, Memory, Process

# Says and hears what a driver does. Of a subscriber the folder of the cell is told to the test.
DRIVER = """\
#!/usr/bin/env python3
import array, os, pathlib, signal, sys
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
index, messages, folder = options["--index"], int(options["--count"]) + int(options["--warm-up"]), pathlib.Path(options["--folder"])
if sys.argv[1] == "subscribe":
    pathlib.Path(os.environ["SEEN"]).write_text(options["--folder"] + " " + str(os.getpid()))
print("connected", flush=True)
if sys.argv[1] == "publish":
    sys.stdin.readline()
    print("warm", flush=True)
    PUBLISHER
    (folder / f"publisher-{index}.ns").write_bytes(array.array("q", [0, 1000, 4000] * messages).tobytes())
    print("published", flush=True)
    sys.stdin.readline()
else:
    SUBSCRIBER
    print("complete", index, flush=True)
    sys.stdin.readline()
    (folder / f"subscriber-{index}.ns").write_bytes(array.array("q", SAMPLES).tobytes())
"""
CELL = {**cells.DEFAULTS, "experiment": "pretended", "subscribers": 2, "count": 3, "rate": 1000}
WHOLE = "[0, 1000, 3000, 4000] * messages"


class Measuring(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.seen = self.folder / "seen"
        os.environ["SEEN"] = str(self.seen)
        for name in ("GRACE_S", "ENDING_S"):
            self.addCleanup(setattr, cells, name, getattr(cells, name))

    def measure(self, publisher="pass", subscriber="pass", samples=WHOLE, keep=None, **more):
        program = self.folder / "driver"
        program.write_text(DRIVER.replace("PUBLISHER", publisher).replace("SUBSCRIBER", subscriber).replace("SAMPLES", samples))
        program.chmod(0o755)
        system = systems.System("pretended", "pretended", program, traces=(f"{self.folder}/trace-*",))
        return cells.measure(system, CELL | more, keep)

    def expect_nothing_left(self):
        folder, process = self.seen.read_text().split()
        self.assertFalse(pathlib.Path(folder).exists())
        self.assertFalse(pathlib.Path(f"/proc/{process}").exists())

    def test_gives_the_samples_of_all_subscribers_and_what_all_processes_took(self):
        measured = self.measure(keep=self.folder / "kept")
        self.assertEqual(measured.published, [[(0, 1000, 4000)] * 19])
        self.assertEqual(measured.received, [[[(0, 1000, 3000, 4000)] * 19]] * 2)
        self.assertGreater(measured.memory.pss, measured.memory.private)
        self.assertGreaterEqual(measured.cpu_ns, measured.publish_cpu_ns + measured.receive_cpu_ns)
        self.assertEqual(sorted(file.name for file in (self.folder / "kept").iterdir()), ["publisher-0.ns", "subscriber-0.ns", "subscriber-1.ns"])
        self.expect_nothing_left()

    def test_counts_processor_time_that_a_subscriber_takes(self):
        cpu_ns, begun = cells.Cell.cpu_ns, self.folder / "begun"

        def begin(cell):
            taken = cpu_ns(cell)
            begun.touch()
            return taken

        cells.GRACE_S = 60
        with unittest.mock.patch.object(cells.Cell, "cpu_ns", begin):
            measured = self.measure(subscriber=f"import time\n    while not os.path.exists('{begun}'): time.sleep(0.001)\n"
                                               "    taken = os.times().user\n    while os.times().user < taken + 0.2: pass")
        self.assertGreater(measured.receive_cpu_ns, 100_000_000)
        self.assertLess(measured.publish_cpu_ns, 50_000_000)

    def test_connects_subscribers_in_order_where_that_is_asked_for(self):
        self.measure(ordered=True)
        self.expect_nothing_left()

    def test_what_is_not_complete_in_time_is_lost_and_no_failure(self):
        cells.GRACE_S = 0.2
        measured = self.measure(subscriber="sys.stdin.readline()", samples="[0, 1000, 3000, 4000] * (messages - 1) + [0, 0, -1, -1]")
        self.assertEqual(figures.row_of(measured)["lost"], 2)
        self.expect_nothing_left()

    def test_fails_with_what_a_subscriber_says(self):
        with self.assertRaisesRegex(Failed, "driver ended before it said 'complete 0'; no memory"):
            self.measure(subscriber="sys.exit('no memory')")
        self.expect_nothing_left()

    def test_fails_when_a_subscriber_does_not_end(self):
        cells.GRACE_S = cells.ENDING_S = 0.3
        with self.assertRaisesRegex(Failed, "did not end within 0.3 s"):
            self.measure(subscriber="signal.pause()")
        self.expect_nothing_left()

    def test_fails_when_the_publisher_dies(self):
        with self.assertRaisesRegex(Failed, "ended before it said 'published'"):
            self.measure(publisher="os.kill(os.getpid(), 9)", subscriber="signal.pause()")
        self.expect_nothing_left()

    def test_an_interruption_leaves_nothing_either(self):
        hear = Process.hear

        def interrupt(process, words, seconds):
            hear(process, words, seconds)
            if words == "published":
                raise KeyboardInterrupt

        self.addCleanup(setattr, Process, "hear", hear)
        Process.hear = interrupt
        with self.assertRaises(KeyboardInterrupt):
            self.measure(subscriber="signal.pause()")
        self.expect_nothing_left()

    def test_a_load_that_cannot_be_made_is_no_cell_without_load(self):
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"}):
            missing = self.folder / "stress-ng"
            missing.write_text("#!/bin/sh\necho no cores >&2; exit 3\n")
            missing.chmod(0o755)
            with self.assertRaisesRegex(Failed, "stress-ng ended with status 3; no cores"):
                self.measure(load=30)
        self.expect_nothing_left()

    def test_removes_what_the_system_leaves_but_not_what_was_there(self):
        (self.folder / "trace-of-another").touch()
        self.measure(subscriber=f"pathlib.Path('{self.folder}/trace-left').touch()")
        self.assertEqual([path.name for path in self.folder.glob("trace-*")], ["trace-of-another"])

    def test_cores_are_given_when_there_is_one_for_each_process(self):
        allowed = sorted(os.sched_getaffinity(0))
        self.assertEqual(cells.cores_of(len(allowed)), allowed)
        self.assertEqual(set(cells.cores_of(len(allowed) + 1)), {None})


def measured(times_us, lost=0, subscribers=1):
    """A cell whose messages took so long."""
    warm = [(0, 0, 0, 0)] * cells.WARM_UP
    came = [(0, 1000, 1000 + round(time * 1000), 2000 + round(time * 1000)) for time in times_us]
    received = [[warm + came + [(0, 0, cells.LOST, cells.LOST)] * lost] for _ in range(subscribers)]
    published = [[(0, 1000, 6000)] * len(received[0][0])]
    return cells.Measured(published, received, 10_000_000, 6_000_000, 4_000_000, Memory(1024, 2048))


class Figures(unittest.TestCase):
    def test_a_row_has_percentiles_of_what_came_and_counts_what_did_not(self):
        row = figures.row_of(measured(range(1, 101), lost=4, subscribers=2))
        self.assertEqual((row["transport_p50_us"], row["transport_p99_us"], row["transport_max_us"]), (50, 99, 100))
        self.assertEqual((row["end_to_end_p50_us"], row["publish_p50_us"]), (52, 5))
        self.assertEqual((row["expected"], row["lost"], row["damaged"]), (240, 8, 0))
        self.assertEqual((row["cpu_us"], row["pss_mib"], row["private_mib"]), (10_000 / 104, 2, 1))
        self.assertEqual(row["transport_each_p50_us"], [50.5, 50.5])

    def test_a_percentile_that_few_samples_cannot_tell_is_left_out(self):
        self.assertNotIn("transport_p999_us", figures.row_of(measured(range(100))))
        self.assertIn("transport_p999_us", figures.row_of(measured(range(6000))))

    def test_the_interval_of_a_median_is_as_narrow_as_so_many_rounds_allow(self):
        self.assertEqual(figures.interval([3, 1, 2]), (1, 3, 0.75))
        low, high, sure = figures.interval(range(9))
        self.assertEqual((low, high), (1, 7))
        self.assertGreaterEqual(sure, 0.95)

    def test_a_sweep_tells_the_rate_that_a_publisher_cannot_exceed_and_that_beyond_which_messages_are_lost(self):
        cell = {**CELL, "rate": 10, "rate_step": 10, "step": 10}
        begins = [0]
        for number in range(1, 800):
            begins.append(begins[-1] + round(1e9 / min(10 + number // 10 * 10, 300)))
        messages = [(begin, begin, begin + 5000, begin + 5000) for begin in begins]
        steps = figures.steps_of(cells.Measured([[message[:3] for message in messages]], [[messages]], 0, 0, 0, Memory()), cell)
        rate, met = figures.limit_of(steps)
        self.assertAlmostEqual(rate, 300, delta=3)
        self.assertTrue(met)
        rate, met = figures.limit_of(steps[:20])
        self.assertAlmostEqual(rate, 200, delta=3)
        self.assertFalse(met)
        for step in steps[20:]:
            step["lost"] = step["of"] // 2
        rate, met = figures.limit_of(steps)
        self.assertAlmostEqual(rate, 200, delta=3)
        self.assertTrue(met)
        for step in steps[2:]:
            step["lost"] = step["of"]
        rate, met = figures.limit_of(steps)
        self.assertAlmostEqual(rate, min(steps[0]["reached"], steps[1]["reached"]), msg="of two points, what it had in both")
        self.assertEqual(figures.limit_of([dict(steps[2])]), (0, True))


class Lights(unittest.TestCase):
    def test_a_red_light_is_seen_in_the_next_image_that_came(self):
        published = [[(number * 30_000_000, 0, 0) for number in range(20)]]
        came = [(0, 0, number * 30_000_000 + 1_000_000, number * 30_000_000 + 5_000_000) for number in range(20)]
        came[18] = (0, 0, cells.LOST, cells.LOST)
        seen = figures.seen_of(cells.Measured(published, [[came], [came]], 0, 0, 0, Memory()))
        self.assertEqual(seen, [20, 50, 20, 20])


EXPERIMENT = workload.Experiment("made_up", "Made up", "none", [], ["sinew", "one", "other"], {}, {"subscribers": [1, 2], "size": [128, 1_000_000]}, "size", ["subscribers"], "lines", 0, "transport")
TITLES = {"sinew": "sinew", "one": "One", "other": "Other"}


def rows_of(times):
    """Three rounds of all cells; `times` in us by system."""
    made = []
    for cell in EXPERIMENT.cells():
        for number in range(3):
            for system, time in times.items():
                made.append({"cell": cell, "system": system, "round": number, "awake": True, **figures.row_of(measured([time * (number + 1)] * 100, subscribers=cell["subscribers"]))})
    return made


class Tables(unittest.TestCase):
    def test_have_times_and_ratios_within_each_round(self):
        results = tables.Results(EXPERIMENT, rows_of({"sinew": 1, "one": 2}), TITLES)
        text = "\n".join(tables.of_experiment(results))
        times, twice = "4 [2 .. 6] / 4 [2 .. 6]", "2 [2 .. 2] / 2 [2 .. 2]"
        self.assertEqual(text.count(f"| One | {times} | {times} |"), 2)
        self.assertEqual(text.count(f"| One | {twice} | {twice} |"), 2)
        self.assertIn("(1 subscriber):", text)
        self.assertNotIn("Other", text)

    def test_a_peer_that_is_slower_in_all_rounds_is_behind_and_one_that_is_faster_is_named(self):
        results = tables.Results(EXPERIMENT, rows_of({"sinew": 2, "one": 3, "other": 1}), TITLES)
        text = "\n".join(tables.verdict_lines([results], {"one", "other"}, TITLES))
        self.assertIn("| One | 2 / 0 / 0 | 2 / 0 / 0 | 0 / 2 / 0 | 0 / 2 / 0 |", text)
        self.assertIn("| Other | 0 / 0 / 2 | 0 / 0 / 2 |", text)
        self.assertIn("| Made up | 1 MB, 2 subscribers | Other | p50 | 0.5 [0.5 .. 0.5] |", text)
        self.assertNotIn("| One | p50 |", text)

    def test_a_round_without_sinew_has_no_ratio(self):
        rows = [row for row in rows_of({"sinew": 1, "one": 2}) if row["round"] == 0 or row["system"] != "sinew"]
        results = tables.Results(EXPERIMENT, rows, TITLES)
        self.assertEqual(results.ratios("transport_p50_us", "one", {"size": 128, "subscribers": 1}), [2])

    def test_how_many_times_as_fast_a_publisher_can_be_is_told_of_the_best_peer(self):
        def row(system, limit):
            steps = [{"asked": rate, "reached": min(rate, limit), "p50_us": 1, "lost": 0, "of": 10, "size": 1} for rate in range(10, 1000, 10)]
            return {"cell": {**EXPERIMENT.cells()[0], "subscribers": 5, "size": 5_500_000}, "system": system, "round": 0, "steps": steps}

        results = tables.Results(EXPERIMENT, [row("sinew", 800), row("one", 80), row("other", 50)], TITLES)
        self.assertIn("up to 800 [800 .. 800] Hz, 10 [10 .. 10] times as fast as with One,", tables.limit_lines(results, ["one", "other"], TITLES)[1])
        self.assertEqual(results.limits("one", {}), "80 [80 .. 80]")

    def test_hold_what_runs_in_one_process_against_sinew_in_one_process(self):
        experiment = dataclasses.replace(EXPERIMENT, systems=["sinew", "sinew-process", "ros1", "ros1-process"])
        times = {"sinew": 4, "sinew-process": 1, "ros1": 8, "ros1-process": 3}
        def ratio(system, without=()):
            results = tables.Results(experiment, rows_of({name: time for name, time in times.items() if name not in without}), TITLES)
            return results.ratios("transport_p50_us", system, {"size": 128, "subscribers": 1})[0]

        self.assertEqual((ratio("ros1"), ratio("ros1-process"), ratio("sinew-process")), (2, 3, 0.25))
        self.assertEqual(ratio("ros1-process", without=["sinew-process"]), 0.75)

    def test_an_axis_of_columns_that_has_a_plot_for_each_value_has_one_table(self):
        experiment = dataclasses.replace(EXPERIMENT, x="subscribers")
        text = "\n".join(tables.of_experiment(tables.Results(experiment, rows_of({"sinew": 1, "one": 2}), TITLES)))
        self.assertEqual(text.count("p50 / p99, us"), 1)
        self.assertIn("| | 1 subscriber | 2 subscribers |", text)

    def test_a_cell_of_which_only_what_warms_up_came_has_losses_and_no_times(self):
        row = figures.row_of(measured([], lost=3, subscribers=2))
        self.assertEqual((row["lost"], row["expected"]), (6, 38))
        rows = [{"cell": EXPERIMENT.cells()[2], "system": "sinew", "round": 0, "awake": True, **row}]
        text = "\n".join(tables.of_experiment(tables.Results(EXPERIMENT, rows, TITLES)))
        self.assertIn("| sinew | 16 % lost |", text)
        self.assertNotIn("p50 / p99", text)

    def test_two_runs_agree_where_their_intervals_overlap(self):
        first = rows_of({"sinew": 1, "one": 1})
        same, of, by_chance, lines = agree.compare(first, rows_of({"sinew": 1.5, "one": 20}))
        self.assertEqual((same, of), (24, 32))
        self.assertAlmostEqual(by_chance, 3.2)  # one of ten, of three rounds each
        self.assertIn("one", lines[0])


class HotSpots(unittest.TestCase):
    def test_are_told_by_function_or_where_that_has_no_name_by_program(self):
        said = "# Overhead\tShared Object\tSymbol\n 40.00% \tlibc.so.6 \t[.] 0x0000000000012345 \t-\n 30.00% \t[kernel.kallsyms]\t[k] tcp_sendmsg\t-\n 10.00% \tlibc.so.6\t[.] 0x17\t-\n 20.00%\tone\t[.] main\t-\n\n"
        self.assertEqual([(name, round(part, 3)) for name, part in hot_spots.parts_of(said)], [("libc.so.6", 0.5), ("tcp_sendmsg (kernel)", 0.3), ("main (one)", 0.2)])

    def test_have_a_line_for_each_system_or_say_why_not(self):
        row = {"publishers": 1, "subscribers": 5, "system": "sinew", "title": "sinew", "cpu_us": 200, "functions": [["memset (libc)", 0.5]]}
        self.assertIn("| 1, 5 | sinew | 200 | 100 `memset (libc)` |", hot_spots.lines([row]))
        self.assertEqual(hot_spots.lines([{"missing": "no perf"}])[-1], "Not measured: no perf")


class Workload(unittest.TestCase):
    def write(self, text):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "made_up.toml"
        path.write_text(text)
        return path

    def test_each_experiment_can_be_read_and_names_systems_that_there_are(self):
        known = {system.name for system in systems.all_systems(pathlib.Path("nowhere"), pathlib.Path("nowhere"), pathlib.Path("nowhere"))}
        for experiment in workload.all_experiments():
            self.assertLessEqual(set(experiment.systems), known, experiment.name)
            self.assertTrue(experiment.cells())

    def test_an_axis_may_set_several_at_a_time(self):
        path = self.write('title = "t"\nsource = "s"\nsystems = []\nx = "shape"\n[axes]\nshape = [{publishers = 2, subscribers = 3}]\nsize = [1, 2]\n')
        self.assertEqual([(cell["publishers"], cell["subscribers"], cell["size"]) for cell in workload.read(path).cells()], [(2, 3, 1), (2, 3, 2)])

    def test_a_mistake_is_named_with_its_file(self):
        for text, words in (("x = 1", "made_up.toml: 'axes' is missing"), ("sizes = 3", "there is no 'sizes'; there are axes"), ("title", "made_up.toml: "),
                            ('title = "t"\nsource = "s"\nsystems = []\nx = "rate"\n[axes]\nsize = [1]\n', "'rate' is none of its axes: size"),
                            ('title = "t"\nsource = "s"\nsystems = []\nx = "size"\n[axes]\nsize = [1]\n[fixed]\nspeed = 3\n', "cells have no 'speed'")):
            with self.assertRaisesRegex(workload.Mistake, words):
                workload.read(self.write(text))


class Extras(unittest.TestCase):
    def runs(self, name, programs):
        extra = next(extra for extra in extras.ALL if extra.name == name)
        return [(command[command.index("--graph") + 1], command[command.index("--mode") + 1]) for command in extra.commands(programs, True)]

    def test_each_graph_is_run_in_all_modes_and_those_of_ros_1_where_they_are_built(self):
        programs = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, of in (("graphs", graphs.GRAPHS), ("image_pipeline", graphs.PIPELINES)):
            self.assertEqual(self.runs(name, programs), [(graph, mode) for graph in of for mode in graphs.MODES])
        (programs / "sinew-bench-graph-ros1").touch()
        self.assertIn(("image_pipeline_two_viewers", "ros1-each"), self.runs("image_pipeline", programs))


class Plan(unittest.TestCase):
    def planned(self, system, experiment=EXPERIMENT, rounds_of=2, **more):
        return list(rounds.plan([experiment], [system], rounds_of, **more))

    def test_each_round_has_each_cell_with_the_systems_that_can_be_measured_in_it(self):
        system = systems.System("one", "One", pathlib.Path("one"), largest=1000)
        for number, chosen in self.planned(system):
            self.assertEqual(sorted((cell["size"], len(these)) for cell, these in chosen), [(128, 1), (128, 1), (1_000_000, 0), (1_000_000, 0)])
        self.assertEqual(number, 1)
        for missing in (systems.System("one", "One", pathlib.Path("one"), missing="not built"), systems.System("one", "One", pathlib.Path("one"), spins=True),
                        systems.System("another", "Another", pathlib.Path("one"))):
            self.assertEqual({len(these) for _, chosen in self.planned(missing) for _, these in chosen}, {0})

    def test_more_messages_can_be_asked_for_but_not_of_what_grows(self):
        system = systems.System("one", "One", pathlib.Path("one"))
        self.assertEqual({cell["count"] for _, chosen in self.planned(system, count=50_000) for cell, _ in chosen}, {50_000})
        growing = dataclasses.replace(EXPERIMENT, fixed={"rate_step": 1, "count": 7})
        self.assertEqual({cell["count"] for _, chosen in self.planned(system, growing, count=50_000) for cell, _ in chosen}, {7})


class Rows(unittest.TestCase):
    def test_a_run_that_was_interrupted_goes_on_with_what_is_missing(self):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "rows.jsonl"
        cell = EXPERIMENT.cells()[0]
        rounds.Rows(path).add({"cell": cell, "system": "sinew", "round": 1})
        done = rounds.Rows(path).done()
        self.assertIn(rounds.key_of(json.loads(json.dumps(cell)), "sinew", 1), done)
        self.assertNotIn(rounds.key_of(cell, "sinew", 0), done)


if __name__ == "__main__":
    unittest.main()
