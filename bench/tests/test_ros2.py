"""What bench/ros2.py reports of rows made by hand."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import ros2_report as ros2
from ros2_report import IN, OUT, PLAIN


def messages(number, way, p50=1000, cpu=2000, size=ros2.BAR_SIZE, segment=None):
    return {"what": "messages", "round": number, "awake": True, "way": way, "size": size, "segment": segment, "p50_us": p50, "p99_us": 2 * p50, "lost": 0, "cpu_us_per_message": cpu}


def idle(number, read, percent):
    return {"what": "idle", "round": number, "awake": True, "read": read, "cpu_percent": percent}


class Bars(unittest.TestCase):
    def bar(self, words, *rows):
        found = [bar for bar in ros2.bars(list(rows)) if words in bar.name]
        self.assertEqual(len(found), 1, words)
        return found[0]

    def test_a_way_through_the_bridge_is_held_against_plain_dds_in_the_same_round(self):
        rows = [messages(0, PLAIN), messages(0, IN, p50=1100, cpu=2400), messages(1, PLAIN, p50=2000), messages(1, IN, p50=2300), messages(2, IN)]
        bar = self.bar(f"{IN}, 1 MB: median latency", *rows)
        self.assertEqual((bar.values, bar.holds), ([100, 300], False))
        bar = self.bar(f"{IN}, 1 MB: processor time", *rows)
        self.assertEqual((bar.values, bar.holds), ([1.2, 1.0], True))

    def test_segments_into_which_it_fits_are_judged_by_themselves(self):
        rows = [messages(0, PLAIN), messages(0, IN, p50=1100), messages(0, PLAIN, p50=100, segment=ros2.ROOMY), messages(0, IN, p50=300, segment=ros2.ROOMY)]
        self.assertEqual(self.bar(f"{IN}, 1 MB: median latency", *rows).values, [100])
        self.assertEqual(self.bar(f"{IN}, 1 MB in segments of 32 MiB: median latency", *rows).values, [200])

    def test_other_sizes_are_not_judged(self):
        self.assertIsNone(self.bar(f"{OUT}, 1 MB: median latency", messages(0, PLAIN, size=1000), messages(0, OUT, size=1000)).holds)

    def test_a_bridge_with_nothing_to_do_is_judged_with_and_without_readers(self):
        rows = [idle(0, False, 0.5), idle(0, True, 1.5)]
        self.assertIs(self.bar("nobody there reads", *rows).holds, True)
        self.assertIs(self.bar("somebody there reads", *rows).holds, False)

    def test_what_was_not_measured_is_not_judged(self):
        self.assertEqual({bar.holds for bar in ros2.bars([])}, {None})


class Report(unittest.TestCase):
    def test_each_way_and_size_is_a_row(self):
        text = ros2.write([messages(0, way, size=size, segment=segment) for way in (PLAIN, IN, OUT) for size, segment in ros2.CASES], ["round 1, idle: no room"], 1, True, {"cores": 2})
        self.assertEqual((text.count("| 1 MB | "), text.count("| 1 MB in segments of 32 MiB | ")), (3, 3))
        self.assertIn("- round 1, idle: no room", text)


if __name__ == "__main__":
    unittest.main()
