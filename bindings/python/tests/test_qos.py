"""Quality of service as Python says it."""

import dataclasses

import numpy as np
import sinew
from harness import Case


class Presets(Case):
    def test_fit_themselves(self):
        with sinew.Node("test") as node:
            for name in ("sensor_data", "services", "system_default", "latched"):
                with self.subTest(preset=name):
                    preset = getattr(sinew.qos, name)
                    publisher = node.create_publisher(name, sinew.uint32, qos=preset)
                    subscriber = node.subscribe(name, qos=preset)
                    self.wait_until(lambda: publisher.statistics()["subscribers"] == 1)
                    self.assertEqual(subscriber.statistics()["incompatible"], 0)

    def test_are_what_the_domain_is_told(self):
        with sinew.Node("test") as node:
            node_of = {}
            for name in ("sensor_data", "services", "latched"):
                node_of[name] = node.create_publisher(name, sinew.uint32, qos=getattr(sinew.qos, name))
            state = node.domain()
            topics = {topic.id: topic.name for topic in state.topics}
            told = {topics[each.topic]: (each.depth, each.reliable, each.transient_local) for each in state.endpoints}
            self.assertEqual(told, {"sensor_data": (5, False, False), "services": (10, True, False), "latched": (1, True, True)})

    def test_that_are_latched_reach_who_comes_late(self):
        with sinew.Node("test") as node:
            publisher = node.create_publisher("x", sinew.uint32, qos=sinew.qos.latched)
            publisher.publish(1)
            publisher.publish(2)
            self.assertEqual(node.subscribe("x", qos=sinew.qos.latched).take(60)[0], 2)


class Values(Case):
    def test_of_time_are_seconds(self):
        with sinew.Node("test") as node:
            publisher = node.create_publisher("x", sinew.uint32, qos=sinew.Qos(deadline=0.5, lifespan=2, lease=1.5, manual_by_topic=True))
            [told] = node.domain().endpoints
            self.assertEqual((told.deadline_ns, told.lifespan_ns, told.lease_ns, told.manual_by_topic), (500_000_000, 2_000_000_000, 1_500_000_000, True))
            publisher.close()

    def test_of_time_below_a_nanosecond_are_one_and_not_none(self):
        with sinew.Node("test") as node:
            publisher = node.create_publisher("x", sinew.uint32, qos=sinew.Qos(deadline=1e-12, lifespan=0.9e-9, lease=5e-324))
            [told] = node.domain().endpoints
            self.assertEqual((told.deadline_ns, told.lifespan_ns, told.lease_ns), (1, 1, 1))
            publisher.close()

    def test_out_of_range_are_refused_with_what_is_allowed(self):
        for wrong, says in (
            ({"depth": 513}, "a depth of 513: 1 to 512"),
            ({"depth": 0}, "a depth of 0: 1 to 512"),
            ({"deadline": -1.0}, "a deadline of -1.0 s: it is above 0"),
            ({"lifespan": 0}, "a lifespan of 0 s"),
            ({"lease": float("nan")}, "a lease of nan s"),
            ({"deadline": float("inf")}, "at most 100 years, or None"),
        ):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(ValueError, says):
                sinew.Qos(**wrong)

    def test_of_another_type_are_refused_with_what_is_allowed(self):
        for wrong, says in (
            ({"depth": 2.5}, r"depth=2\.5: it is a whole number of messages, as in sinew\.Qos\(depth=10\)"),
            ({"depth": "3"}, "depth='3': it is a whole number"),
            ({"depth": True}, "depth=True: it is a whole number"),
            ({"depth": None}, "depth=None: it is a whole number"),
            ({"depth": np.float32(2)}, "it is a whole number"),
            *(({name: 1}, rf"{name}=1: it is True or False, as in sinew\.Qos\({name}=True\)") for name in ("keep_all", "reliable", "transient_local", "manual_by_topic")),
            ({"reliable": None}, "reliable=None: it is True or False"),
            ({"reliable": np.bool_(True)}, r"it is True or False, .*; bool\(\.\.\.\) makes one"),
        ):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(TypeError, says):
                sinew.Qos(**wrong)

    def test_of_numpy_are_numbers_too(self):
        with sinew.Node("test") as node:
            publisher = node.create_publisher("x", sinew.uint32, qos=sinew.Qos(depth=np.int64(3), deadline=np.float32(0.5)))
            [told] = node.domain().endpoints
            self.assertEqual((told.depth, told.deadline_ns), (3, 500_000_000))
            publisher.close()

    def test_of_liveliness_by_topic_need_a_lease(self):
        with sinew.Node("test") as node:
            qos = sinew.Qos(manual_by_topic=True)
            for create in (lambda: node.create_publisher("x", sinew.uint32, qos=qos), lambda: node.subscribe("x", sinew.uint32, qos=qos)):
                with self.assertRaisesRegex(sinew.InvalidArgument, r"topic 'x': manual_by_topic needs a lease \(lease_ns, or lease=\): how long"):
                    create()

    def test_are_replaced_and_not_changed(self):
        with self.assertRaises(dataclasses.FrozenInstanceError):
            sinew.qos.latched.depth = 3
        self.assertEqual(dataclasses.replace(sinew.qos.latched, depth=3), sinew.Qos(depth=3, reliable=True, transient_local=True))


class Arguments(Case):
    def test_that_are_a_number_are_the_depth(self):
        with sinew.Node("test") as node:
            ends = [node.create_publisher("x", sinew.uint32, qos=10), node.subscribe("x", qos=3)]
            self.assertEqual([(told.depth, told.reliable) for told in node.domain().endpoints], [(10, False), (3, False)])
            self.assertEqual(len(ends), 2)

    def test_that_are_neither_a_qos_nor_a_number_are_refused_with_what_to_write(self):
        with sinew.Node("test") as node:
            for create in (lambda qos: node.create_publisher("x", sinew.uint32, qos=qos), lambda qos: node.subscribe("x", sinew.uint32, qos=qos)):
                for wrong, says in (
                    ("latched", r"qos='latched': it is a sinew\.Qos, .* or a number, the depth\. sinew\.qos\.latched is one\."),
                    ("deep", r"qos='deep': it is a sinew\.Qos, .* or a number, the depth\.$"),
                    ({"depth": 3}, "or a number"),
                    (True, "qos=True: it is a sinew.Qos"),
                    (2.5, "or a number"),
                    (sinew.Qos, "or a number"),
                ):
                    with self.subTest(wrong=wrong), self.assertRaisesRegex(TypeError, says):
                        create(wrong)
            with self.assertRaisesRegex(ValueError, "a depth of 0: 1 to 512"):
                node.create_publisher("x", sinew.uint32, qos=0)
            self.assertEqual(len(node.domain().endpoints), 0)
