"""The bars of the report from rows made by hand."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import graphs
import parts
import plan
import report
import scale
import stress


def row(number, **values):
    measured = {"p50_us": 10.0, "p99_us": 20.0, "publish_us": 5.0, "cpu_us_per_message": 1.0, "messages_per_s": 30.0, "lost": 0, "awake": True}
    return {**plan.cell("latency_1p1s", "floor"), **measured, "round": number, **values}


def part(number, name, **values):
    measured = {"experiment": "part", "part": name, "count": 1, "p50_ns": 2.0, "ratio": 0.25, "awake": True}
    return {**measured, "round": number, **values}


def graph(number, name, mode, **values):
    measured = {"experiment": "graph", "graph": name, "mode": mode, "seconds": 30.0, "nodes": 10, "publishers": 13, "subscriptions": 17, "received": 31620, "lost": 0,
                "p50_us": 50.0, "p90_us": 60.0, "p99_us": 70.0, "max_us": 80.0, "big_p50_us": None, "big_p90_us": None, "big_p99_us": None, "big_max_us": None,
                "cpu_cores": 0.05, "cpu_us_per_message": 40.0, "pss_first_kib": 10240.0, "pss_last_kib": 10250.0, "growth_kib_per_s": 0.4, "awake": True}
    return {**measured, "round": number, **values}


def bar(rows, start):
    return next(each for each in report.bars(report.Rows(rows)) if each.name.startswith(start))


class Bars(unittest.TestCase):
    def test_a_ratio_is_taken_within_its_round(self):
        rows = [row(0, p50_us=10.0), row(0, system="sinew-loan", p50_us=12.0), row(1, p50_us=100.0), row(1, system="sinew-loan", p50_us=110.0),
                row(2, p50_us=10.0), row(2, system="sinew-loan", p50_us=20.0)]
        block = bar(rows, "1p1s block, 128 B: p50")
        self.assertEqual(block.values, [1.2, 1.1, 2.0])
        self.assertEqual(block.measured, 1.2)
        self.assertTrue(block.holds)
        self.assertIn("1.2 x [1.1 .. 2] | yes", block.line())

    def test_a_round_without_its_floor_counts_for_nothing(self):
        self.assertEqual(bar([row(0), row(1, system="sinew-loan")], "1p1s block, 128 B: p50").values, [])

    def test_what_was_not_measured_neither_holds_nor_fails(self):
        nothing = bar([], "1p1s block, 16 MB: p99")
        self.assertIsNone(nothing.holds)
        self.assertIn("not measured", nothing.line())

    def test_flat_out_must_be_fast_enough_and_lose_nothing(self):
        rows = [row(0, experiment="flatout_1p1s", system="sinew-loan", rate=0, messages_per_s=0.9e6, lost=1)]
        self.assertFalse(bar(rows, "flat out, 128 B: messages").holds)
        self.assertFalse(bar(rows, "flat out, 128 B: lost").holds)
        rows = [row(0, experiment="flatout_1p1s", system="sinew-loan", rate=0, messages_per_s=1.1e6)]
        self.assertTrue(bar(rows, "flat out, 128 B: messages").holds)
        self.assertTrue(bar(rows, "flat out, 128 B: lost").holds)

    def test_a_copy_is_compared_with_one_memcpy_and_the_loan_of_its_topology(self):
        same = {"experiment": "publish_copy", "size": plan.FRAME}
        rows = [row(0, **same, system="memcpy", p50_us=400.0), row(0, **same, system="sinew-loan", p50_us=20.0),
                row(0, **same, system="sinew-loan", topology="1p5s", p50_us=100.0), row(0, **same, system="sinew-publish", p50_us=840.0),
                row(0, **same, system="sinew-publish", topology="1p5s", p50_us=500.0)]
        self.assertEqual(bar(rows, "publish(const T&), 5.5 MB, 1p1s").values, [2.0])
        self.assertEqual(bar(rows, "publish(const T&), 5.5 MB, 1p5s").values, [1.0])

    def test_fan_out_is_counted_in_wake_ups_of_the_same_size(self):
        same = {"experiment": "fan_out"}
        rows = [row(0, **same, publish_cpu_us=4.0), row(0, **same, publish_cpu_us=1.0, size=plan.MB),
                row(0, **same, topology="1p5s", publish_cpu_us=8.0),
                row(0, **same, system="sinew-loan", topology="1p5s", publish_cpu_us=16.0)]
        self.assertEqual(bar(rows, "1p5s, 128 B").values, [4.0])

    def test_an_idle_node_may_use_no_processor_time_at_all(self):
        rows = [row(0, experiment="idle", system="sinew-idle", idle_cpu_us=0.5, private_kib=3000)]
        self.assertFalse(bar(rows, "idle node: processor").holds)
        self.assertTrue(bar(rows, "idle node: private").holds)


class Report(unittest.TestCase):
    def test_says_what_was_not_measured_and_whether_the_machine_was_kept_awake(self):
        failures = [{**plan.cell("idle", "sinew-idle"), "round": 0, "why": "no manager"}]
        text = report.write([row(0, awake=False)], failures, 1, False, {"kernel": "6.1"})
        self.assertIn("sinew-idle 1p1s block 128 B: no manager", text)
        self.assertIn("**not** held", text)
        self.assertIn("- kernel: 6.1", text)
        self.assertIn("| floor | 10 / 20 / 1 |", text)


    def test_has_tables_of_the_parts_and_of_what_became_of_memory(self):
        rows = [part(0, "state-write", p99_ns=3.0, floor_p50_ns=8.0, floor_p99_ns=9.0), part(0, "take", p99_ns=4.0),
                part(0, "churn", count=5000, resident_first_kib=6000, resident_last_kib=6100, resident_most_kib=6200),
                part(0, "hour", mapped_last_ratio=1.5, mapped_most_ratio=2.0, in_use_most_mb=90)]
        text = report.write(rows, [{**parts.bundles(True, True)[0][0], "round": 0, "why": "no manager"}], 1, False, {})
        self.assertIn("| state-write | 2 / 3 | 8 / 9 | 0.25 |", text)
        self.assertIn("| take | 2 / 4 | - | 0.25 |", text)
        self.assertIn("| 6,000 | 6,100 | 6,200 |", text)
        self.assertIn("| hour | 1 s | 1.50 x | 2.00 x | 90 MB |", text)
        self.assertIn("- round 0: handle, count 5: no manager", text)


class Parts(unittest.TestCase):
    def test_a_bar_on_a_part_takes_one_value_of_each_round(self):
        self.assertEqual(bar([part(0, "handle", ratio=1.0), part(1, "handle", ratio=1.2), part(1, "take")], "a received shared_ptr").values, [1.0, 1.2])

    def test_what_allocation_costs_more_is_said_of_a_call_and_measured_of_two(self):
        heap = bar([part(0, "heap-16", more_ns=3.0)], "operator new and delete of 16 B")
        self.assertEqual(heap.values, [1.5])
        self.assertFalse(heap.holds)

    def test_what_is_counted_is_counted_once(self):
        first, later = (len(parts.bundles(False, first)) for first in (True, False))
        self.assertEqual(first - later, 3)

    def test_every_bar_is_on_a_part_that_a_quick_run_measures_too(self):
        names = {cell["part"] for bundle in parts.bundles(True, True) for cell in bundle}
        self.assertLessEqual({name for name, *_ in parts.BARS}, names)


class Graphs(unittest.TestCase):
    def test_sinew_is_held_against_the_same_graph_over_udp_in_the_same_round(self):
        rows = [graph(0, "mont_blanc", "udp-one", cpu_us_per_message=100.0), graph(0, "mont_blanc", "sinew-one", cpu_us_per_message=40.0),
                graph(0, "sierra_nevada", "udp-one", cpu_us_per_message=50.0), graph(1, "mont_blanc", "sinew-one", cpu_us_per_message=1.0)]
        self.assertEqual(bar(rows, "mont_blanc in one process, on one thread: processor time").values, [0.4])

    def test_memory_that_grows_and_messages_that_get_lost_break_a_bar(self):
        rows = [graph(0, "mont_blanc", "sinew-one", growth_kib_per_s=60.0), graph(0, "mont_blanc", "sinew-each", lost=1)]
        self.assertFalse(bar(rows, "mont_blanc, sinew-one: growth").holds)
        self.assertTrue(bar(rows, "mont_blanc, sinew-each: growth").holds)
        self.assertFalse(bar(rows, "mont_blanc, sinew-each: lost").holds)

    def test_have_a_table_each_with_the_modes_in_one_order(self):
        rows = [graph(0, "sierra_nevada", mode, lost=number) for number, mode in enumerate(reversed(graphs.MODES))]
        text = report.write(rows, [{**graphs.bundles(30)[0][1], "round": 0, "why": "no manager"}], 1, False, {})
        self.assertIn("## sierra_nevada: 10 nodes, 13 publishers, 17 subscriptions", text)
        self.assertIn("| sinew-one | 31,620 | 5 | 50 / 60 / 70 / 80 | - / - / - / - | 0.05 | 40 | 10.0 -> 10.0 | +0.40 |\n| sinew-threads | 31,620 | 4 |", text)
        self.assertNotIn("## mont_blanc", text)
        self.assertIn("- round 0: sierra_nevada sinew-one, 30 s: no manager", text)

    def test_the_pipelines_have_no_cells_and_their_table_one_latency(self):
        self.assertEqual({cell["graph"] for bundle in graphs.bundles(1) for cell in bundle}, set(graphs.GRAPHS))
        text = "\n".join(graphs.tables([graph(0, "image_pipeline", "sinew-one"), graph(0, "image_pipeline", "ros1-each")]))
        self.assertIn("| | received | lost | from the first publish until the last viewer has an image | cores |", text)
        self.assertIn("| sinew-one | 31,620 | 0 | 50 / 60 / 70 / 80 | 0.05 |", text)

    def test_take_less_than_six_minutes(self):
        warming_up_and_starting = 3
        cells = [cell for bundle in graphs.bundles(graphs.SECONDS) for cell in bundle]
        self.assertLess(sum(cell["seconds"] + warming_up_and_starting for cell in cells), 360)


class Scale(unittest.TestCase):
    def rows(self, last):
        made = [{"experiment": "registration", "shape": "readers", "interfaces": size, "register_us": 20.0, "delete_us": 5.0, "node_us": 50.0, "resident_kib": 4096.0, "awake": True, "round": 0}
                for size in scale.SIZES]
        made[-1]["register_us"] = last
        return made

    def test_the_managers_time_may_grow_as_the_logarithm_does(self):
        self.assertTrue(bar(self.rows(45.0), "manager's time, registration of one more subscriber").holds)
        self.assertFalse(bar(self.rows(60.0), "manager's time, registration of one more subscriber").holds)
        self.assertIsNone(bar(self.rows(45.0)[:1], "manager's time, registration of one more subscriber").holds)

    def test_has_a_table_of_the_managers_time_and_one_of_many_processes(self):
        many = {"experiment": "scale", **scale.FULL_SCALE, "unmatched": 0, "unheard": 2, "created_s": 1.0, "matched_s": 2.0, "heard_s": 0.5, "ended_s": 0.25, "manager_cpu_s": 0.75,
                "manager_kib": 10240.0, "manager_descriptors": 207, "node_kib": 5120.0, "node_descriptors": 300, "node_threads": 3, "left_behind": False, "round": 0}
        text = report.write(self.rows(45.0) + [many], [{**scale.bundles(True)[0][0], "round": 0, "why": "no manager"}], 1, False, {})
        self.assertIn("| registration of one more subscriber of a publisher | 20 | 20 | 20 | 20 | 20 | 20 | 20 | 20 | 45 |", text)
        self.assertIn("0 not matched, 2 messages not heard.", text)
        self.assertIn("| 1.00 s | 2.00 s | 0.50 s | 0.25 s | 0.75 s, 10.0 MiB, 207 | 5.0 MiB, 300, 3 |", text)
        self.assertIn("- round 0: registration topics, 100 interfaces: no manager", text)
        self.assertFalse(bar([many], "200 processes at once: messages that do not come").holds)


class Stress(unittest.TestCase):
    def rows(self, at_most_load):
        return [{**plan.cell("stress", system, size), "p50_us": at_most_load if load == 90 else 10.0, "p99_us": 20.0, "max_us": 30.0, "variation": 0.5, "lost": 0, "round": 0, "load": load, "busy": load}
                for load in stress.LOADS for system in stress.SYSTEMS for size in stress.SIZES]

    def test_the_median_under_most_load_is_held_against_that_without_any_in_the_same_round(self):
        self.assertEqual([each.holds for each in stress.bars(self.rows(14.0))], [True] * 6)
        self.assertEqual([each.holds for each in stress.bars(self.rows(16.0))], [False, True, True] * 2)

    def test_and_against_the_floor_under_the_same_load(self):
        rows = [{**each, "p50_us": 10.0} if each["system"] == "floor" else each for each in self.rows(14.0)]
        self.assertEqual([each.holds for each in stress.bars(rows)], [True, False, True] * 2)

    def test_has_a_line_for_each_load_and_system(self):
        text = stress.write(self.rows(14.0), [{**stress.cells(1)[0], "round": 0, "load": 30, "why": "no manager"}], 1, {})
        self.assertIn("| 90 % (90 %) | sinew-loan | 14 | 20 | 30 | 0.5 |\n| 90 % (90 %) | unix | 14 |", text)
        self.assertIn("- round 0, 30 %: stress sinew-loan 1p1s block 128 B: no manager", text)


class Plan(unittest.TestCase):
    def test_every_bar_finds_its_cells(self):
        bundles = plan.bundles(quick=False, idle=True, containers=True) + parts.bundles(quick=False, first=True) + graphs.bundles(graphs.SECONDS) + scale.bundles(quick=False)
        cells = [each for bundle in bundles for each in bundle]
        values = {"p50_us": 10.0, "p99_us": 20.0, "publish_us": 5.0, "publish_cpu_us": 4.0, "messages_per_s": 1.0, "lost": 0, "idle_cpu_us": 0, "private_kib": 1,
                  "p50_ns": 2.0, "ratio": 0.25, "more_ns": 1.0, "resident_change": 0, "cpu_us_per_message": 1.0, "growth_kib_per_s": 0.0,
                  "register_us": 1.0, "delete_us": 1.0, "node_us": 1.0, "introduce_us": 1.0, "unmatched": 0, "unheard": 0}
        rows = [{**each, **values, "round": 0} for each in cells]
        self.assertEqual([each.name for each in report.bars(report.Rows(rows)) if each.holds is None], [])

    def test_no_cell_is_measured_twice_for_one_experiment_but_the_memcpy_of_both_copies(self):
        cells = [tuple(each.items()) for bundle in plan.bundles(quick=False, idle=True, containers=True) for each in bundle]
        twice = {each for each in cells if cells.count(each) > 1}
        self.assertEqual({dict(each)["system"] for each in twice}, {"memcpy"})

    def test_all_cells_between_processes_take_less_than_eleven_minutes(self):
        def seconds(bundles):
            cells = [each for bundle in bundles for each in bundle]
            paced = sum(each["count"] / each["rate"] for each in cells if each["rate"] > 0)
            starting_and_flat_out = 0.3 * len(cells)
            return paced + starting_and_flat_out

        self.assertLess(seconds(plan.bundles(False, True, True)) + 4 * seconds(plan.bundles(False, False, True)), 660)
        self.assertLess(seconds(plan.bundles(True, True, True)), 45)


if __name__ == "__main__":
    unittest.main()
