"""What bench/counts.py reads out of a trace, from traces made by hand."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import counts

BEGIN, FLOOR, END = (f" S {mark:x},8" for mark in counts.MARKS)


def found(*trace, shared=()):
    return [(operation.whose, operation.counts()) for operation in counts.operations(trace, lambda: list(shared))]


class Operations(unittest.TestCase):
    def test_what_lies_between_two_marks_counts_and_nothing_else(self):
        (whose, measured), = found("I  1000,4", BEGIN, "I  1004,4", "I  1008,3", END, "I  100b,4", " L 5000,8")
        self.assertEqual(whose, "sinew")
        self.assertEqual(measured, {"instructions": 2, "code": 1, "own": 0, "shared": 0, "shared_written": 0})

    def test_the_floor_is_told_apart(self):
        self.assertEqual([whose for whose, _ in found(FLOOR, "I  1000,4", END, BEGIN, "I  1000,4", END)], ["floor", "sinew"])

    def test_a_line_counts_once_however_often_it_is_touched_and_an_access_across_two_touches_both(self):
        (_, measured), = found(BEGIN, " L 5000,8", " S 5038,8", " M 5000,4", " L 503c,8", END)
        self.assertEqual(measured["own"], 2)

    def test_memory_of_files_without_a_name_is_shared(self):
        (_, measured), = found(BEGIN, " L 5000,8", " S 7000,8", " L 7040,8", END, shared=[(0x7000, 0x8000)])
        self.assertEqual((measured["own"], measured["shared"], measured["shared_written"]), (1, 2, 1))

    def test_what_valgrind_says_itself_is_no_trace(self):
        (_, measured), = found("==12== Lackey", BEGIN, "--12-- WARNING: unhandled", "I  1000,4", END)
        self.assertEqual(measured["instructions"], 1)


class Table(unittest.TestCase):
    COUNTED = {"instructions": 100, "code": 9.5, "own": 3, "shared": 2, "shared_written": 1}

    def test_a_part_with_a_floor_has_two_lines(self):
        lines = counts.table({"handle": {"sinew": self.COUNTED, "floor": self.COUNTED}}, {})
        self.assertEqual(lines[2:], ["| handle | 100 | 9.5 | 3 | 2 | 1 |", "| handle, floor | 100 | 9.5 | 3 | 2 | 1 |"])

    def test_beside_another_run_each_number_has_two(self):
        before = {"take": {"sinew": {**self.COUNTED, "instructions": 120}}}
        self.assertEqual(counts.table({"take": {"sinew": self.COUNTED}}, before)[2], "| take | 120 -> 100 | 9.5 -> 9.5 | 3 -> 3 | 2 -> 2 | 1 -> 1 |")


if __name__ == "__main__":
    unittest.main()
