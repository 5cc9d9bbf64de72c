"""What bench/peers.py makes of samples, and that nothing is left of a cell, from programs that only pretend to be drivers."""
import array
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import peer_systems
import peers

# Says and hears what a driver does. Of a subscriber the folder of the cell is told to the test.
DRIVER = """\
#!/usr/bin/env python3
import array, os, pathlib, signal, sys
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
if sys.argv[1] == "subscribe":
    pathlib.Path(os.environ["SEEN"]).write_text(options["--folder"] + " " + str(os.getpid()))
print("connected", flush=True)
if sys.argv[1] == "publish":
    sys.stdin.readline()
    PUBLISHER
    print("published", flush=True)
    sys.stdin.readline()
else:
    SUBSCRIBER
    pathlib.Path(options["--output"]).write_bytes(array.array("q", [1000, 2000] * int(options["--count"])).tobytes())
"""
CELL = {"experiment": "transport", "read": "touch", "size": 128, "subscribers": 2}


class Cell(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.seen = self.folder / "seen"
        os.environ["SEEN"] = str(self.seen)
        grace = peer_systems.GRACE_S
        self.addCleanup(setattr, peer_systems, "GRACE_S", grace)

    def measure(self, publisher="pass", subscriber="pass"):
        program = self.folder / "driver"
        program.write_text(DRIVER.replace("PUBLISHER", publisher).replace("SUBSCRIBER", subscriber))
        program.chmod(0o755)
        system = peer_systems.System("pretended", program, "0", traces=(f"{self.folder}/trace-*",))
        return peer_systems.measure(system, CELL, 3, 1000)

    def expect_nothing_left(self):
        folder, process = self.seen.read_text().split()
        self.assertFalse(pathlib.Path(folder).exists())
        self.assertFalse(pathlib.Path(f"/proc/{process}").exists())

    def test_gives_the_samples_of_all_subscribers(self):
        transport, end_to_end, _ = self.measure()
        self.assertEqual((transport, end_to_end), (array.array("q", [1000] * 6), array.array("q", [2000] * 6)))
        self.expect_nothing_left()

    def test_fails_with_what_a_subscriber_says_of_its_messages(self):
        with self.assertRaisesRegex(peer_systems.Failed, "driver ended with status 1; 2 of 19 messages were lost"):
            self.measure(subscriber="sys.exit('2 of 19 messages were lost')")
        self.expect_nothing_left()

    def test_fails_when_a_subscriber_waits_for_ever(self):
        peer_systems.GRACE_S = 0.5
        with self.assertRaisesRegex(peer_systems.Failed, "did not end within 0.5 s of the last message"):
            self.measure(subscriber="signal.pause()")
        self.expect_nothing_left()

    def test_fails_when_the_publisher_dies(self):
        with self.assertRaisesRegex(peer_systems.Failed, "ended before it said 'published'"):
            self.measure(publisher="os.kill(os.getpid(), 9)", subscriber="signal.pause()")
        self.expect_nothing_left()

    def test_an_interruption_leaves_nothing_either(self):
        hear = peer_systems.Process.hear

        def interrupt(process, words, seconds):
            hear(process, words, seconds)
            if words == "published":
                raise KeyboardInterrupt

        self.addCleanup(setattr, peer_systems.Process, "hear", hear)
        peer_systems.Process.hear = interrupt
        with self.assertRaises(KeyboardInterrupt):
            self.measure(subscriber="signal.pause()")
        self.expect_nothing_left()

    def test_removes_what_the_system_leaves_but_not_what_was_there(self):
        (self.folder / "trace-of-another").touch()
        self.measure(subscriber=f"pathlib.Path('{self.folder}/trace-left').touch()")
        self.assertEqual([path.name for path in self.folder.glob("trace-*")], ["trace-of-another"])


class Table(unittest.TestCase):
    def rows(self):
        made = []
        for cell in peers.cells():
            for number in range(3):
                for system, slower in (("sinew", 1), ("iceoryx", 2)):
                    times = [1000 * slower * (number + 1)] * 99 + [7000 * slower]
                    made.append(peers.row_of({**cell, "system": system, "round": number, "awake": True}, times, [10 * time for time in times]))
        return made

    def test_a_row_has_the_percentiles_of_what_its_cell_measures(self):
        row = next(row for row in self.rows() if row["experiment"] == "end-to-end")
        self.assertEqual((row["p50_us"], row["p99_us"], row["count"]), (10.0, 10.0, 100))
        self.assertEqual([peers.percentile([1, 2, 3, 4], fraction) for fraction in (0, 0.5, 0.51, 1)], [1, 2, 3, 4])

    def test_has_times_and_ratios_within_each_round(self):
        text = peers.write(self.rows(), [], {"iceoryx2": "there is no cargo"}, 3, False, {})
        times = "4 [2 .. 6] / 4 [2 .. 6]"
        self.assertIn(f"| iceoryx | {times} | {times} |", text)
        self.assertEqual(text.count("| 2 [2 .. 2] / 2 [2 .. 2] |"), 4)
        self.assertIn("- not measured: iceoryx2: there is no cargo", text)
        self.assertIn("held at 0", text)

    def test_a_round_without_sinew_has_no_ratio_and_is_named(self):
        rows = [row for row in self.rows() if row["round"] == 0 or row["system"] != "sinew"]
        failed = {**peers.cells()[1], "system": "sinew", "round": 1, "why": "no manager"}
        text = peers.write(rows, [failed], {}, 3, False, {})
        self.assertIn("2 [2 .. 2] / 2 [2 .. 2]", text)
        self.assertIn("- round 1: transport sinew 128 B, subscribers: 5: no manager", text)


class Cores(unittest.TestCase):
    def test_are_given_when_there_is_one_for_each_process(self):
        allowed = sorted(os.sched_getaffinity(0))
        self.assertEqual(peer_systems.cores_of(len(allowed)), allowed)
        self.assertEqual(set(peer_systems.cores_of(len(allowed) + 1)), {None})


if __name__ == "__main__":
    unittest.main()
