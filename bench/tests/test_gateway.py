"""What bench/gateway.py reports of rows made by hand."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import gateway_plot
import gateway_report as gateway
from gateway_report import AGAIN, ALONE, LOSSY, SINEW, SLOW


def robot(number, system, link=None, hz=30, local=0.05, image=(), command=()):
    """Ten seconds after the base has joined, and five before."""
    moments = [(at / hz, 0.01) for at in range(-5 * hz, 10 * hz)]
    return {"what": "robot", "round": number, "awake": True, "system": system, "link": link, "published": moments, "local": [(at, local) for at, _ in moments],
            "image": list(image), "command": list(command), "commanded": [(at / 100, 0.01) for at in range(-500, 1000)]}


def cable(number, moved=80, quinn=100, trip=150, quinn_trip=100, one=1000, many=1000):
    return {"what": "cable", "round": number, "awake": True, "system": None, "link": None, "bytes_per_s": moved, "quinn_bytes_per_s": quinn,
            "round_trip_us": [trip], "quinn_round_trip_us": [quinn_trip], "link_bytes": {"1": one, str(gateway.MANY): many}}


class Bars(unittest.TestCase):
    def bar(self, words, *rows):
        found = [bar for bar in gateway.bars(list(rows)) if words in bar.name]
        self.assertEqual(len(found), 1, words)
        return found[0]

    def test_what_is_moved_is_held_against_bare_quinn_in_the_same_round(self):
        bar = self.bar("what bare quinn moves", cable(0), cable(1, moved=70), cable(2, moved=90, quinn=200))
        self.assertEqual((bar.values, bar.holds), ([0.8, 0.7, 0.45], False))
        self.assertEqual(self.bar("there and back", cable(0)).values, [1.5])

    def test_ten_subscribers_cost_the_link_what_one_does(self):
        self.assertIs(self.bar("subscribers at the far side", cable(0, many=1010)).holds, True)
        self.assertIs(self.bar("subscribers at the far side", cable(0, many=1100)).holds, False)

    def test_the_robot_may_notice_no_more_than_two_runs_without_a_gateway_are_apart(self):
        rows = [robot(0, ALONE, local=0.05), robot(0, AGAIN, local=0.06), robot(0, SINEW, SLOW, local=0.059)]
        bar = self.bar("50 Mbit/s: local median latency", *rows)
        self.assertAlmostEqual(bar.limit, 1.2)
        self.assertIs(bar.holds, True)
        self.assertIs(self.bar("50 Mbit/s: local median latency", *rows[:2], robot(0, SINEW, SLOW, local=0.07)).holds, False)
        rate = self.bar("50 Mbit/s: local messages a second", robot(0, ALONE), robot(0, AGAIN), robot(0, SINEW, SLOW, hz=15))
        self.assertAlmostEqual(rate.values[0], 2)
        self.assertIs(rate.holds, False)

    def test_the_limits_of_a_link_are_what_it_takes_at_best_and_a_third(self):
        image, command = [(0.5, 900), (2, 230), (3, 200), (4, 240)], [(at / 10, 25) for at in range(20, 90)]
        rows = [robot(0, SINEW, LOSSY, image=image, command=command)]
        bar = self.bar(f"{LOSSY}: image", *rows)
        self.assertEqual((bar.limit, bar.values, bar.holds), (234, [230], True))
        bar = self.bar(f"{LOSSY}: command", *rows)
        self.assertEqual((bar.limit, bar.values, bar.holds), (30, [25], True))
        self.assertEqual(self.bar(f"{SLOW}: command").limit, 10)

    def test_what_was_not_measured_is_not_judged(self):
        self.assertEqual({bar.holds for bar in gateway.bars([])}, {None})


class Report(unittest.TestCase):
    def test_each_system_has_a_line_and_nothing_is_said_of_what_did_not_come(self):
        rows = [robot(0, ALONE), robot(0, SINEW, SLOW, image=[(2, 170)], command=[(at / 100, 5) for at in range(100, 1000)]), robot(0, gateway.ZENOH, SLOW)]
        text = gateway.write(rows, ["round 1, cable: it ended"], 1, False, {"kernel": "6"})
        self.assertIn("| 100 [100 .. 100] | 5 [5 .. 5] / 5 [5 .. 5] |", text)
        self.assertIn("| Zenoh | 30 [30 .. 30] | 0.05 [0.05 .. 0.05] / 0.05 [0.05 .. 0.05] | 0 [0 .. 0] |  | 0 [0 .. 0] |  |", text)
        self.assertIn("- round 1, cable: it ended", text)
        self.assertNotIn("quick", text)


class Plot(unittest.TestCase):
    def test_a_rate_is_counted_in_halves_of_a_second(self):
        self.assertEqual(gateway_plot.rates([at / 30 for at in range(60)]), ([0.75, 1.25], [30, 30]))
        self.assertEqual(gateway_plot.rates([at / 30 for at in range(-45, 30)]), ([-0.75, -0.25, 0.25], [30, 30, 30]))
        self.assertEqual(gateway_plot.rates([]), ([], []))


if __name__ == "__main__":
    unittest.main()
