"""What bench/python.py reports of rows made by hand."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import plan
import python_report as python


def cell(number, system, size=plan.FRAME, transport=100, end_to_end=1000, cpu=None):
    values = {f"{kind}_{key}": value for kind, value in (("transport", transport), ("end_to_end", end_to_end)) for key in ("p50_us", "p99_us")}
    return {"what": "cell", "round": number, "awake": True, "system": system, "size": size, "cpu_us": cpu, **values}


class Bars(unittest.TestCase):
    def bars(self, *rows):
        return python.bars(list(rows))

    def test_a_subscriber_in_python_is_held_against_one_in_cpp_of_its_round(self):
        bar = self.bars(cell(0, python.CPP, transport=50), cell(0, python.FROM_CPP, transport=120), cell(1, python.FROM_CPP, transport=9999))[0]
        self.assertEqual((bar.values, bar.holds), ([70], True))

    def test_its_processor_time_for_big_messages_is_held_against_that_for_small_ones(self):
        bar = self.bars(cell(0, python.FROM_CPP, size=1000, cpu=20), cell(0, python.FROM_CPP, cpu=30))[1]
        self.assertEqual((bar.values, bar.holds), ([1.5], False))

    def test_a_publisher_in_python_may_be_behind_by_one_copy(self):
        bar = self.bars({"what": "copy", "round": 0, "us": 400}, cell(0, python.FROM_CPP, end_to_end=1000), cell(0, python.PYTHON, end_to_end=1200))[2]
        self.assertEqual((bar.values, bar.holds), ([0.5], True))

    def test_others_are_to_take_five_times_as_long(self):
        bars = self.bars(*(cell(0, system, transport=value) for system, value in ((python.PYTHON, 100), (python.ECAL, 700), (python.ZENOH, 400))))
        self.assertEqual([bar.holds for bar in bars if "sinew, Python: median" in bar.name], [None, True, None, False])

    def test_what_was_not_measured_is_not_judged(self):
        self.assertEqual({bar.holds for bar in self.bars()}, {None})


class Report(unittest.TestCase):
    def test_it_has_a_line_for_each_system_and_names_what_failed(self):
        rows = [cell(0, system, size=size, cpu=1) for system in python.SYSTEMS for size in python.SIZES]
        text = python.write(rows, ["round 1, eCAL: it did not answer"], 1, False, {"kernel": "6"})
        for system in python.SYSTEMS:
            self.assertEqual(text.count(f"| {system} |"), 3)
        self.assertIn("- round 1, eCAL: it did not answer", text)


if __name__ == "__main__":
    unittest.main()
