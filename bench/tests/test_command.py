"""What bench/command.py reports of rows made by hand."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import command_report as command


def top(number, alone, again, beside, own=0.01):
    publisher = {command.ALONE: alone, command.AGAIN: again, command.TOP: beside}
    return {"what": "top", "round": number, "awake": True, "publisher": publisher, "top": own, "flowing_hz": 50_000}


def echo(number, *first):
    times = [(each, each + 1) for each in first]
    return {"what": "echo", "round": number, "awake": True, **{name: times for name in command.ECHOED}}


def record(number, write, recorded, **lost):
    lost = {"165000000": 0, **lost}
    return {"what": "record", "round": number, "awake": True, "write": write, "record": recorded, "written": 150 * command.IMAGE, "recorded": 151 * command.IMAGE, "lost": lost}


class Bars(unittest.TestCase):
    def bars(self, *rows):
        return command.bars(list(rows))[0]

    def test_top_is_measured_in_percent_of_a_core(self):
        self.assertEqual(self.bars(top(0, 0.2, 0.2, 0.2, own=0.015))[0].values, [1.5])

    def test_the_publisher_beside_top_is_compared_with_both_without_it_in_its_round(self):
        self.assertEqual(self.bars(top(0, 0.25, 0.75, 0.6), top(1, 2, 2, 1))[1].values, [1.2, 0.5])

    def test_its_limit_is_how_much_the_same_differs_from_itself_whichever_way(self):
        quiet, noisy, other = top(0, 1, 1, 1.05), top(1, 1, 1.1, 1), top(2, 1.2, 1, 1)
        self.assertEqual(self.bars(quiet, noisy, other)[1].limit, 1.1)
        self.assertIs(self.bars(quiet)[1].holds, False)
        self.assertIs(self.bars(quiet, noisy, other)[1].holds, True)

    def test_of_first_lines_the_median_counts(self):
        bar = self.bars(echo(0, 10, 20, 900), echo(1, 51, 52, 53))[2]
        self.assertEqual((bar.values, bar.holds), ([20, 52], True))

    def test_recording_is_held_against_writing_in_the_same_round(self):
        ratio, lost = self.bars(record(0, 2, 2.5), record(1, 1, 1.25, **{"165000000": 3}))[3:]
        self.assertEqual((ratio.values, lost.values), ([1.25, 1.25], [0, 3]))
        self.assertEqual((ratio.holds, lost.holds), (True, False))

    def test_what_was_not_measured_is_not_judged(self):
        self.assertEqual([bar.holds for bar in self.bars()], [None] * 5)


class Write(unittest.TestCase):
    def test_of_images_that_come_faster_all_losses_are_told(self):
        rows = [record(number, 2, 2.5, **{"500000000": lost}) for number, lost in enumerate((1, 0, 6))]
        text = command.write(rows, [], 3, False, {})
        self.assertIn("of 150 images", text)
        self.assertIn("| one write each | sinew record | lost at 165 MB/s | lost at 500 MB/s |", text)
        self.assertIn("| 2 [2 .. 2] | 2.5 [2.5 .. 2.5] | 0 | 7 |", text)

    def test_all_runs_of_all_rounds_are_in_the_table_and_failures_below(self):
        text = command.write([top(0, 1, 1, 1), echo(0, 3, 4), echo(1, 5)], ["round 2, top: it ended"], 2, False, {})
        self.assertIn("| /bin/true | 3 | 4 | 5 | 5 | 5 | 5 |", text)
        self.assertIn("- round 2, top: it ended", text)
        self.assertNotIn("quick", text)


if __name__ == "__main__":
    unittest.main()
