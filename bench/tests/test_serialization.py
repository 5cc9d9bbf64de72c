"""The tables of bench/serialization_report.py from rows made by hand."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import serialization_report as serialization


def row(number, system, operation="write", message="imu", p50=1.0, p99=2.0, size=360):
    return {"experiment": "serialization", "round": number, "message": message, "system": system, "operation": operation, "bytes": size,
            "p50_us": p50, "p99_us": p99, "count": 200, "awake": True}


def line(rows, start):
    """All lines of the tables that begin so."""
    return [each for each in serialization.tables(rows) if each.startswith(start)]


class Tables(unittest.TestCase):
    def test_a_time_is_the_median_over_the_rounds_with_the_smallest_and_the_largest(self):
        rows = [row(number, "sinew", p50=value, p99=10 * value) for number, value in enumerate((3.0, 1.0, 2.0))]
        self.assertEqual(line(rows, "| sinew"), ["| sinew | 360 | 2 [1 .. 3] / 20 [10 .. 30] |  |  |"])

    def test_a_ratio_is_taken_within_its_round(self):
        rows = [row(0, "sinew", p50=1.0), row(0, "fastcdr", p50=2.0), row(1, "sinew", p50=10.0), row(1, "fastcdr", p50=40.0),
                row(2, "fastcdr", p50=1000.0)]
        times, ratios = line(rows, "| Fast CDR")
        self.assertIn(" 40 [2 .. 1,000] / ", times)
        self.assertIn(" 3 [2 .. 4] / 1 [1 .. 1] ", ratios)

    def test_sinew_is_not_held_against_itself_and_nobody_against_nothing(self):
        self.assertEqual(len(line([row(0, "sinew")], "| sinew")), 1)
        self.assertFalse(line([row(0, "sinew")], "The same over"))
        self.assertEqual(len(line([row(0, "fastcdr")], "| Fast CDR")), 1)

    def test_each_operation_has_its_column(self):
        rows = [row(0, "capnproto", operation, p50=value) for operation, value in (("open", 3.0), ("write", 1.0), ("read", 2.0))]
        self.assertEqual(line(rows, "| Cap'n Proto")[0].count(" .. "), 6)
        self.assertLess(line(rows, "| Cap'n Proto")[0].index("1 [1"), line(rows, "| Cap'n Proto")[0].index("3 [3"))

    def test_what_is_opened_in_another_form_has_a_size_of_its_own(self):
        rows = [row(0, "sinew"), row(0, "sinew", "read"), row(0, "sinew", "open", size=1400)]
        self.assertIn("| 360, opened 1,400 |", line(rows, "| sinew")[0])

    def test_each_message_has_its_tables_and_what_nobody_named_is_shown_too(self):
        rows = [row(0, "sinew", message="map"), row(0, "sinew", message="image"), row(0, "yas", message="video"),
                {"experiment": "part", "part": "take", "round": 0}]
        self.assertEqual(line(rows, "## "), ["## Image, 1920 x 1080 rgb8", "## Map of 10,000 strings", "## video"])
        self.assertEqual(len(line(rows, "| yas")), 1)

    def test_of_no_rows_nothing_is_made(self):
        self.assertEqual(serialization.tables([{"experiment": "part", "part": "take", "round": 0}]), [])


if __name__ == "__main__":
    unittest.main()
