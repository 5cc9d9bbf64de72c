#!/usr/bin/env python3
"""A session in a terminal with every verb of the command `sinew`, typed as a person types them, beside the running demo and a gripper.

Run by `make test`; by hand: tests/command/test_session.py [-v] [Class.test...]. With SINEW_SESSION_PROGRAMS, a folder with `demo`, `command_gripper`, `sinew` and `prefix`, where the
library is installed, nothing is built.

Long because: it is one session, and its last tests look back on all that was typed in it.
"""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import programs
import running_demo
import terminal
import verbs

TOPICS = {"camera/image": "Image", "detector/motion": "Motion", "drone/state": "State", "fusion/world": "World", "lidar/obstacles": "Obstacles", "lidar/points": "Cloud"}
NODES = ["camera", "detector", "drone_state", "fusion", "lidar", "monitor", "obstacle_finder"]
# Who gets the camera's images.
READERS = ["detector", "monitor"]
IMAGE_BYTES = 1920 * 1080 * 3


def setUpModule():
    global sinew, window
    stack = contextlib.ExitStack()
    unittest.addModuleCleanup(stack.close)
    built = programs.programs()
    sinew = built.sinew
    # The command finds its library by this also where the demo and its manager are not started by it.
    libraries = os.environ["LD_LIBRARY_PATH"] = str(built.prefix / "lib")
    domain = stack.enter_context(running_demo.running(built.demo, built.data, sinew))
    stack.enter_context(gripper(built.gripper, domain))
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sinew-")))
    path = f"{sinew.parent}:/usr/local/bin:/usr/bin:/bin"
    window = stack.enter_context(terminal.window(folder, {"PATH": path, "LD_LIBRARY_PATH": libraries, "SINEW_DOMAIN": domain}))


@contextlib.contextmanager
def gripper(program, domain):
    process = subprocess.Popen([program], env=os.environ | {"SINEW_DOMAIN": domain}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "ready\n":
            raise ChildProcessError(f"{program} ended with status {process.wait(terminal.PATIENCE)}")
        yield
    finally:
        process.terminate()
        process.communicate(timeout=terminal.PATIENCE)


class Case(unittest.TestCase):
    def setUp(self):
        # What a test that failed has left.
        if window.is_busy:
            window.end("C-c")
        window.press("C-u")

    def assert_shows(self, command, *patterns, status=0):
        """The text that a command shows that ends by itself."""
        return self.assert_shown(window.run(command), *patterns, status=status)

    def assert_comes_to_show(self, command, *patterns, status=0):
        """The same of a command about who is there, or what flows: the manager may not have heard yet that the one before has ended, and of who waits for a processor nothing comes for a while."""
        until = time.monotonic() + terminal.PATIENCE
        while True:
            shown = window.run(command)
            if time.monotonic() > until or all(re.search(pattern, shown.text) for pattern in patterns):
                return self.assert_shown(shown, *patterns, status=status)

    def assert_lists(self, command, names):
        self.assert_comes_to_show(command, "^" + "\n".join(map(re.escape, names)) + "$")

    def assert_shown(self, shown, *patterns, status=0):
        for pattern in patterns:
            self.assertRegex(shown.text, pattern)
        self.assertEqual(shown.status, status, shown.text)
        return shown.text

    def assert_between(self, least, most, number):
        self.assertTrue(least <= float(number) <= most, f"{number} is not from {least} to {most}")


class Topics(Case):
    def test_list_names_those_of_the_demo(self):
        self.assert_lists("sinew topic list", TOPICS)

    def test_list_verbose_counts_who_is_on_them(self):
        rows = [rf"(?m)^{topic} +demo/{of_type} +1 +{1 if topic == 'fusion/world' else 2}$" for topic, of_type in TOPICS.items()]
        self.assert_comes_to_show("sinew topic list --verbose", r"topic +type +publishers +subscribers", *rows)

    def test_info_shows_both_ends(self):
        readers = [rf"(?m)^ +{reader} +keep last 4, best effort$" for reader in READERS]
        self.assert_comes_to_show("sinew topic info camera/image", r"type +demo/Image", r"publishers +1\n.*\n +camera +keep last 4, best effort +[\d.]+ MB", r"subscribers +2", *readers)

    def test_info_of_a_topic_with_a_typo_says_which_is_meant(self):
        self.assert_shows("sinew topic info camera/imgae", r"camera/imgae.*did you mean 'camera/image'\?", status=3)

    def test_find_finds_by_type(self):
        self.assertEqual(self.assert_shows("sinew topic type lidar/points"), "demo/Cloud")
        self.assertEqual(self.assert_shows("sinew topic find Cloud"), "lidar/points")

    def test_echo_prints_a_message(self):
        self.assert_shows(
            "sinew topic echo -1 drone/state", r"header:\n  stamp_ns: \d+", *(rf"(?m)^{name}: \[([-\d.e]+(, )?){{{count}}}\]$" for name, count in (("position", 3), ("orientation", 4))), r"---"
        )

    def test_echo_prints_one_field_until_it_is_interrupted(self):
        window.begin("sinew topic echo camera/image.width")
        window.wait_for(r"(1920\n){5}")
        self.assertGreaterEqual(len(re.findall(r"(?m)^1920$", window.end("C-c").text)), 5)

    def test_echo_outlasts_the_node_that_publishes(self):
        light = "sinew topic pub --rate 20 light 'robot/Light{colour:string;}' 'colour: %s' 2>published &"
        self.assert_shows(light % "red")
        self.assert_comes_to_show("sinew topic list", r"(?m)^light$")
        self.assert_shows("sinew topic echo light.colour >colours 2>said &")
        self.assert_comes_to_show("cat colours", r"(?m)^red$")
        self.assert_shows("kill -KILL %1")
        self.assert_comes_to_show("cat said", r"^'light' is gone: waiting until somebody publishes it again$")
        self.assert_shows(light % "green")
        self.assert_comes_to_show("cat colours", r"(?m)^green$")
        self.assert_shows("kill %2 %3; wait")
        self.assert_lists("sinew topic list", TOPICS)

    def test_echo_draws_pictures(self):
        window.begin("sinew topic echo --image camera/image")
        window.wait_for(r"(▀{100}.*\n){20}")
        colours = set(re.findall(r"\x1b\[[\d;]*48;2;(\d+;\d+;\d+)", window.screen(colours=True)))
        self.assert_shown(window.end("C-c"), status=130)
        self.assertGreater(len(colours), 100, "that is no scene")

    def test_pub_makes_a_topic_that_can_be_listened_to(self):
        self.assert_shows("sinew topic pub --rate 20 light 'robot/Light{on:bool;}' 'on: true' 2>published &")
        self.assert_comes_to_show("sinew topic list", r"(?m)^light$")
        self.assert_shows("sinew topic echo --count 2 light", r"^(# .+ missed\n)?on: true\n---\n(# .+ missed\n)?on: true\n---$")
        self.assert_shows("kill -INT %1; wait %1", r"Done")
        self.assert_lists("sinew topic list", TOPICS)

    def test_pub_publishes_on_a_topic_of_the_demo(self):
        self.assert_shows("sinew topic pub --once --wait 2 detector/motion '{image_width: 1920, boxes: [{width: 7}]}'", r"published 1 on detector/motion, 2 subscribers")
        self.assert_shows("sinew topic pub --once detector/motion 'image_widht: 1920'", r"image_widht.*did you mean 'image_width'\?", status=1)

    def test_hz_shows_what_flows_in_all_topics(self):
        rows = [rf"(?m)^{topic} +[\d.]+ Hz +[\d.]+ .?B/s +[\d.]+ .?B +1$" for topic in TOPICS]
        self.assert_comes_to_show("sinew topic hz --count 1 --interval 2s", r"topic +rate +bandwidth +mean size +publishers", *rows)

    def test_hz_goes_on_until_it_is_interrupted(self):
        window.begin("sinew topic hz --interval 200ms camera/image")
        window.wait_for(r"(?s)(camera/image: [^\n]+ each.*){3}")
        rates = re.findall(r"camera/image: ([\d.]+) Hz, 6.22 MB each", window.end("C-c").text)
        self.assertGreaterEqual(len(rates), 3)
        for rate in rates:
            self.assert_between(0, 100, rate)
        self.assertTrue(any(float(rate) > 0 for rate in rates))

    def test_hz_shows_how_regularly_the_camera_publishes(self):
        self.assert_comes_to_show("sinew topic hz --jitter --count 1 --interval 2s camera/image", r"camera/image: [\d.]+ Hz, .*/s; [\d.]+ .s to [\d.]+ .?s apart, std dev [\d.]+ .s$")

    def test_bw_shows_the_bytes_of_the_camera(self):
        told = r"camera/image: ([\d.]+) MB/s, 6.22 MB each, ([\d.]+) Hz"
        rate, hz = re.search(told, self.assert_comes_to_show("sinew topic bw --count 1 --interval 2s camera/image", told)).groups()
        # Both are shown with three digits.
        self.assert_between(0.97, 1.03, float(rate) * 1e6 / (float(hz) * IMAGE_BYTES))

    def test_delay_shows_every_way_from_a_node_to_another(self):
        time = r"[\d.]+ (ns|us|ms|s)"
        ways = (("camera/image", "camera", "detector"), ("camera/image", "camera", "monitor"), ("lidar/points", "lidar", "obstacle_finder"))
        rows = [rf"(?m)^{topic} +{sender} +{reader} +[\d.]+ Hz +{time} +{time} +{time} +\d+$" for topic, sender, reader in ways]
        self.assert_comes_to_show("sinew topic delay --count 1 --interval 2s camera/image lidar/points", r"p50 <", *rows)


class Nodes(Case):
    def test_list_names_them(self):
        self.assert_lists("sinew node list", sorted([*NODES, "gripper"]))

    def test_list_verbose_tells_the_processes(self):
        shown = self.assert_shows("sinew node list --verbose", r"node +process +user")
        for node in NODES:
            pid = re.search(rf"(?m)^{node} +(\d+) +{os.getuid()}\b", shown)[1]
            self.assertIn(f"demo_{node}", pathlib.Path(f"/proc/{pid}/cmdline").read_text())

    def test_info_shows_what_a_node_does(self):
        self.assert_shows("sinew node info fusion", r"node +fusion", r"publishes +type\nfusion/world +demo/World", r"subscribes +type\ndetector/motion +demo/Motion\ndrone/state +demo/State\n")
        self.assert_shows("sinew node info gripper", r"provides\n(.*\n)*gripper/move")

    def test_kill_connection_lets_a_node_register_again_while_its_messages_go_on(self):
        self.assert_shows("sinew node kill-connection camera", r"camera has registered again")
        self.assert_comes_to_show("sinew topic info camera/image", r"publishers +1", r"subscribers +2")
        self.assert_shows("sinew topic echo -1 camera/image.encoding", r"rgb8")

    def test_kill_connection_of_nobody_is_an_error(self):
        self.assert_shows("sinew node kill-connection camear", r"did you mean 'camera'\?", status=3)


class Services(Case):
    def test_list_names_the_gripper_s(self):
        self.assertEqual(self.assert_shows("sinew service list"), "gripper/move")
        self.assert_shows("sinew service list --verbose", r"(?m)^gripper/move +gripper/Move/Request +gripper/Move/Response +1 +0$")

    def test_info_shows_types_and_who_provides_it(self):
        self.assert_shows("sinew service info gripper/move", r"request +gripper/Move/Request\nresponse +gripper/Move/Response\nproviders +gripper\n")

    def test_call_prints_the_response_or_what_the_provider_fails_with(self):
        self.assertEqual(self.assert_shows("sinew service call gripper/move 'width_mm: 30'"), "moved_mm: 30.0")
        self.assertEqual(self.assert_shows("sinew service call gripper/move '{width_mm: 10}'"), "moved_mm: -20.0")
        self.assert_shows("sinew service call gripper/move 'width_mm: 300'", r"error: it opens no wider than 80 mm", status=1)


class Actions(Case):
    def test_list_names_the_gripper_s(self):
        self.assertEqual(self.assert_shows("sinew action list"), "gripper/grasp")

    def test_send_goal_tells_how_it_gets_on_and_info_what_became_of_it(self):
        # Where nobody gets a processor for half a second, the last feedback is not waited for any longer.
        shown = self.assert_comes_to_show("sinew action send-goal --feedback gripper/grasp 'force_n: 3'", r"(feedback:\n  force_n: \d\.0\n---\n){3}state: succeeded\nresult:\n  force_n: 3\.0$")
        goal = re.search(r"goal ([0-9a-f]{32}) is sent", shown)[1]
        self.assert_shows("sinew action info gripper/grasp", r"result +gripper/Grasp/Result\nservers +gripper\n", rf"{goal} +succeeded +[\d.]+ .?s ago")

    def test_send_goal_says_why_it_was_rejected(self):
        self.assert_shows("sinew action send-goal gripper/grasp 'force_n: 5000'", r"rejected: that would crush it", status=1)

    def test_who_interrupts_send_goal_cancels_the_goal(self):
        window.begin("sinew action send-goal gripper/grasp 'force_n: 1000'")
        window.wait_for(r"is sent$")
        self.assert_shown(window.end("C-c"), r"state: cancelled\nresult:\n  force_n: \d+\.0", status=1)

    def test_cancel_ends_goals(self):
        self.assert_shows("sinew action send-goal gripper/grasp 'force_n: 1000' >ended 2>&1 &")
        self.assert_comes_to_show("sinew action info gripper/grasp", r"executing")
        self.assert_shows("sinew action cancel gripper/grasp", r"[0-9a-f]{32} +cancel(ling|led)")
        self.assert_shows("wait %1; cat ended", r"state: cancelled")
        self.assert_shows("sinew action cancel gripper/grasp", r"no goal of 'gripper/grasp' is executed", status=3)


class Types(Case):
    def test_show_tells_what_messages_consist_of(self):
        self.assert_shows("sinew type show demo/State", r"demo/State\n", r"  header demo/Header\n    stamp_ns uint64\n", r"(?m)^  position float64\[3\]$")
        self.assert_shows("sinew type show --signature drone/state", r"^demo/State\{header:demo/Header\{stamp_ns:uint64;.*position:float64\[3\];")

    def test_diff_says_what_differs(self):
        self.assert_shows("sinew type diff camera/image lidar/points", r"field 'height' there is 'points' here", status=3)
        self.assert_shows("sinew type diff camera/image demo/Image")


class Domain(Case):
    def test_state_shows_everybody_and_who_is_connected_with_whom(self):
        shown = self.assert_shows("sinew domain state")
        for node in NODES:
            self.assertRegex(shown, rf"(?m)^{node} +\d+ +{os.getuid()}$")
        for reader in READERS:
            self.assertRegex(shown, rf"(?m)^  camera -> {reader}: native$")

    def test_watch_tells_who_comes_and_goes(self):
        self.assert_shows("while sinew topic echo -1 lidar/points.header; do true; done >/dev/null &")
        window.begin("sinew domain watch")
        window.wait_for(r"(?m)^\+ node sinew-echo-\d+$")
        window.wait_for(r"(?m)^\+ subscriber lidar/points of sinew-echo-\d+$")
        window.wait_for(r"(?m)^- node sinew-echo-\d+$")
        self.assert_shown(window.end("C-c"), status=130)
        self.assert_shows("kill %1; wait %1", r"Terminated", status=143)

    def test_watch_all_begins_with_who_is_there(self):
        window.begin("sinew domain watch --all")
        window.wait_for(r"(?m)^\+ topic lidar/points \(demo/Cloud\)$")
        self.assert_shown(window.end("C-c"), *(rf"(?m)^\+ node {node}$" for node in NODES), status=130)


class Whole(Case):
    """Verbs that show all of it."""

    def test_explain_tells_why_images_need_no_copy(self):
        shown = self.assert_shows("sinew explain camera/image", r"topic +camera/image, demo/Image", r"camera has published (\d+) messages, [\d.]+ [MG]B", r"copied 0 B while publishing")
        for reader in READERS:
            self.assertRegex(shown, rf"camera -> {reader}: native\n  received \d+, half within [\d.]+ .?s, 99 % within [\d.]+ .?s; copied 0 B; holds \d")

    def test_graph_draws_who_sends_what_to_whom(self):
        self.assert_comes_to_show(
            "sinew graph",
            r"camera\n└─ camera/image +[\d.]+ Hz +[\d.]+ .?B/s\n   ├─→ detector +native.*\n   └─→ monitor +native",
            r"fusion\n└─ fusion/world +[\d.]+ Hz",
            r"only receive: monitor",
        )

    def test_graph_draws_into_a_file(self):
        self.assert_shows("sinew graph --output demo.svg")
        drawn = (window.folder / "demo.svg").read_text()
        self.assertTrue(drawn.startswith("<svg"), drawn[:80])
        for name in [*NODES, *TOPICS]:
            self.assertIn(f">{name}<", drawn)

    def test_doctor_checks_the_machine_and_the_demo(self):
        # Whatever it finds in the machine, it must find nothing in the demo.
        shown = self.assert_comes_to_show(
            "sinew doctor; echo status $?", r"ok +manager +process \d+ answers at \S+, for .*; 8 nodes", r"ok +pairs +all are connected: 11", r"ok +trial +a manager was started")
        # Of one run: the next one may find something else.
        problems, status = re.search(r"(?m)^(\d+) problems?, \d+ warnings?\n(?:.*\n)*status (\d+)$", shown).groups()
        self.assertEqual(status, "1" if int(problems) else "0")

    def test_colours_are_for_terminals(self):
        window.begin("sinew topic info camera/image; sinew topic info camera/image | cat -v | head -1")
        window.wait_for(r"\ntopic +camera/image\n(.*\n)*topic +camera/image\n")
        self.assertRegex(window.screen(colours=True), r"\x1b\[[\d;]*m\S*camera/image")
        self.assertNotIn("^[", window.end().text)


class Top(Case):
    def clouds_come_before_obstacles(self):
        """While it is paused; else it is paused in another interval."""
        if re.search(r"(?m)^lidar/points (.*\n)*lidar/obstacles ", window.screen()):
            return True
        window.press("Space")
        window.eventually(lambda: "paused" not in window.screen(), "it is still paused")
        window.press("Space")
        window.wait_for(r"paused")
        return False

    def test_shows_sorts_filters_and_tells_of_one_topic(self):
        window.begin("sinew top --interval 300ms")
        window.wait_for(r"sinew top +8 nodes, \d+ topics +[\d.]+ msg/s +[\d.]+ MB/s")
        for topic, of_type in TOPICS.items():
            window.wait_for(rf"(?m)^{topic} +demo/{of_type} +1/[12] +[\d.]+ Hz .*/s")
        window.wait_for(r"(?m)^topic v")
        window.press("s")
        window.wait_for(r"rate v\b[^\n]*\ndrone/state ")
        window.press("s")
        window.wait_for(r"bandwidth v\b[^\n]*\ncamera/image [^\n]*\nlidar/points ")
        window.press("r")
        window.wait_for(r"bandwidth \^(.*\n)+lidar/points.*\ncamera/image ")
        window.press("r")
        window.wait_for(r"bandwidth v")
        # What keys ask for is there at once, also where numbers stand still.
        window.press("Space")
        window.wait_for(r"paused")
        # Of an interval without clouds the order would be another one.
        window.eventually(self.clouds_come_before_obstacles, "lidar/points does not stand above lidar/obstacles")
        window.type("/lidar")
        window.press("Enter")
        window.wait_for(r"filter: lidar$")
        self.assertNotIn("camera/image", window.screen())
        window.press("Down", "Enter")
        window.wait_for(r"lidar/obstacles ─+(.*\n)+.*obstacle_finder -> fusion: native +[\d.]+ Hz")
        window.press("Up")
        window.wait_for(r"lidar/points ─+(.*\n)+.*lidar -> obstacle_finder: native +[\d.]+ Hz")
        window.press("Escape")
        window.eventually(lambda: "─" not in window.screen(), "the details are still there")
        window.press("Space")
        window.eventually(lambda: "paused" not in window.screen(), "it is still paused")
        self.assert_shown(window.end("q"))
        # What was there before is there again.
        self.assertRegex(window.screen(), r"\$ sinew top --interval 300ms\n\(\d+\)")

    def test_tells_programs_the_same_line_by_line(self):
        # No image is published in some intervals, where the camera waits for a processor.
        shown = self.assert_comes_to_show("sinew top --json --interval 200ms --sort bandwidth | head -2 | tail -1", r'"topics": ?\[\{[^{}]*?"topic": ?"camera/image"')
        self.assertEqual(sorted(topic["topic"] for topic in json.loads(shown)["topics"]), sorted(TOPICS))


class Launch(Case):
    """Processes that are nodes of the demo's domain."""

    FILE = """
arguments: {color: }
processes:
  light:
    command: "sinew topic pub --rate 5 light 'robot/Light{color:string;}' 'color: $(var color)'"
  viewer: {command: sinew topic echo light.color}
"""

    def test_shows_one_log_starts_again_who_is_killed_and_stops_all_by_ctrl_c(self):
        (window.folder / "robot.yaml").write_text(self.FILE)
        self.assert_shows("sinew launch robot.yaml --show-args", r"^argument +default\ncolor +none: it must be given$")
        window.begin("sinew launch robot.yaml color:=amber")
        pid = window.wait_for(r"(?m)^\[launch\] light started, process (\d+)$")[1]
        window.wait_for(r"(?m)^\[viewer\] amber$")
        os.kill(int(pid), signal.SIGKILL)
        window.wait_for(r"light was ended by SIGKILL\n(.*\n)*\[launch\] light is started again in 0\.5 s\n(.*\n)*\[launch\] light started(.*\n)+\[viewer\] amber")
        self.assert_shown(window.end("C-c"), r"\[launch\] stopping all: SIGINT\n", r"\[launch\] light ended with status 0", r"\[launch\] viewer was ended by SIGINT")
        self.assert_lists("sinew topic list", TOPICS)

    def test_of_a_file_with_a_typo_says_what_is_meant_and_starts_nothing(self):
        (window.folder / "typo.yaml").write_text(self.FILE.replace("command", "comand", 1))
        self.assert_shows("sinew launch typo.yaml color:=red", r"typo\.yaml:5:5: process 'light' has no 'comand': did you mean 'command'\?", status=2)


class Recordings(Case):
    def test_record_writes_what_flows_until_it_is_interrupted_and_bag_info_shows_it(self):
        window.begin("sinew record -o drive.mcap lidar/* drone/state")
        window.wait_for(r"(?m)^recording to drive\.mcap")
        # So many that there are some of each topic, too, when all three are recorded.
        window.wait_for(r"(?:[5-9]\d\d|\d{4,}) messages .* 3 topics")
        recorded = self.assert_shown(window.end("C-c"), r"(?m)^drive\.mcap: \d+ messages, [\d.]+ MB$", r"(?m)^\d+ messages of 3 topics in [\d.]+ s, ")
        shown = self.assert_shows("sinew bag info drive.mcap", r"file +drive\.mcap\n", r"topic +type +messages +rate +lost")
        counts = {topic: int(count) for topic, count in re.findall(r"(?m)^/(\S+) +demo/msg/\w+ +(\d+) +[\d.]+ Hz +\d+ +cdr +ros2msg$", shown)}
        self.assertEqual(sorted(counts), ["drone/state", "lidar/obstacles", "lidar/points"])
        self.assertEqual(str(sum(counts.values())), re.search(r"(\d+) messages of 3", recorded)[1])
        self.assertGreater(counts["drone/state"], counts["lidar/points"])

    def test_record_of_a_topic_with_a_typo_says_which_is_meant(self):
        said = (r"no topic 'drone/stat' yet: did you mean 'drone/state'\? Waiting for it", r"nothing was recorded: no message came on 'drone/stat'")
        self.assert_shows("sinew record --max-duration 1s -o typo.mcap drone/stat", *said, status=3)

    def test_record_refuses_a_size_whose_unit_stands_apart(self):
        self.assert_shows("sinew record --split-size 4 GB", r"as in 4GB", status=2)

    def test_play_plays_beside_the_demo_under_another_name_and_obeys_keys(self):
        self.assert_comes_to_show("rm -f points.mcap; sinew record --max-duration 1s -o points.mcap lidar/points", r"points\.mcap: [1-9]\d* messages")
        play = "sinew play --loop --remap lidar/points:=replay/points points.mcap"
        self.assert_shows(f"{play} 2>played &")
        self.assert_comes_to_show("sinew topic info replay/points", r"type +demo/Cloud\npublishers +1")
        self.assert_shows("sinew topic echo -1 replay/points.points[0]", r"x: -?[\d.e-]+\ny: ")
        self.assert_shows("kill -INT %1; wait %1")
        window.begin(f"{play} --paused")
        window.wait_for(r"paused")
        window.press("Space")
        window.wait_for(r"[1-9]\d* messages(?!.*paused)")
        window.press("Up")
        window.wait_for(r"\s(?!1\.00)\d+\.\d+ times as fast")
        self.assert_shown(window.end("q"), r"(?m)^[1-9]\d* messages of 1 topic in ")
        self.assert_lists("sinew topic list", TOPICS)

    def test_trigger_lets_a_flight_recorder_write_what_was_before(self):
        self.assert_shows("sinew record --last 2s --name box -o box.mcap drone/state 2>held &")
        self.assert_comes_to_show("cat held", r"holding the last 2s")
        self.assert_shows("sinew trigger", r"there is no flight recorder 'recorder': there is: box", status=3)
        self.assert_shows("sinew trigger box", r"box_\S+\.mcap: [1-9]\d* messages")
        self.assert_shows("kill -INT %1; wait %1")
        self.assert_shows("sinew bag info box_*.mcap", r"/drone/state +demo/msg/State +[1-9]\d* ")


class Foxglove(Case):
    def test_serves_the_demo_until_it_is_interrupted(self):
        window.begin("sinew foxglove --port 0")
        port = window.wait_for(r"served at ws://127\.0\.0\.1:(\d+): open that in Foxglove")[1]
        window.wait_for(r"clients: 0, topics watched: 0 of \d+")
        client = http.client.HTTPConnection("127.0.0.1", int(port), timeout=terminal.PATIENCE)
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode()}
        client.request("GET", "/", headers=upgrade | {"Sec-WebSocket-Protocol": "foxglove.sdk.v1"})
        self.assertEqual(client.getresponse().status, 101)
        window.wait_for(r"clients: 1")
        client.close()
        window.wait_for(r"clients: 0")
        self.assert_shown(window.end("C-c"))


class Gateways(Case):
    """The demo's machine and another one, which are both this one."""

    def test_status_tells_with_whom_a_gateway_is_connected_and_top_what_goes_over_it(self):
        with contextlib.ExitStack() as stack:
            sockets = [stack.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)) for _ in range(2)]
            for each in sockets:
                each.bind(("::1", 0))
            here, there = (f"[::1]:{each.getsockname()[1]}" for each in sockets)
        rules = [{"topics": {"base_rule": "both"}, "services": {"base_rule": "both"}}]
        for name, address, more in (("demo", here, {}), ("base", there, {"domain": str(window.folder / "base"), "peers": [here]})):
            config = {"name": name, "security": "ad-hoc", "listen": address, "discovery": False, "rules": rules} | more
            (window.folder / f"{name}.json").write_text(json.dumps(config))
        self.assert_shows("sinew gateway status", "there is no gateway in this domain", status=3)
        self.assert_shows("sinew-gateway run demo.json 2>demo.log &")
        self.assert_shows("sinew-gateway run base.json 2>base.log &")
        self.assert_comes_to_show("sinew gateway status || cat *.log", rf"gateway demo listens at {re.escape(here)}", rf"(?m)^base +{re.escape(there)} +[\d.]+ .s ")
        # What somebody here subscribes to is not published there, and nobody there subscribes to anything. But they are told of it, a while after they are connected.
        self.assert_comes_to_show("sinew gateway status", r"drone/state +topic +in +base +- +- +0 +0 +waiting")
        self.assert_comes_to_show("sinew --domain $PWD/base topic list --verbose", *(rf"(?m)^{topic} +demo/{of_type} +0 +0 +demo$" for topic, of_type in TOPICS.items()))
        self.assert_comes_to_show("sinew --domain $PWD/base topic info drone/state", r"type +demo/State\nat +demo; it comes here while")
        # Who prints messages there wants them there.
        self.assert_shows("sinew --domain $PWD/base topic echo -n 1000000 drone/state.header >/dev/null 2>echoed &")
        self.assert_comes_to_show("sinew gateway status", r"drone/state +topic +out +base +[\d.]+/s +[\d.]+ k?B/s +[1-9]\d* +\d+ +open")
        # Who records there gets what is brought for the one who prints, and what is named, for whom it is brought.
        self.assert_comes_to_show("rm -f brought.mcap; sinew --domain $PWD/base record --max-duration 2s -o brought.mcap; sinew bag info brought.mcap", r"/drone/state +demo/msg/State +[1-9]")
        self.assert_comes_to_show("rm -f named.mcap; sinew --domain $PWD/base record --max-duration 5s -o named.mcap camera/image; sinew bag info named.mcap", r"camera/image.*demo has it, and it comes here while", r"/camera/image +demo/msg/Image +[1-9]")
        self.assert_comes_to_show("sinew --domain $PWD/base service list", "gripper/move")
        self.assert_shows("sinew --domain $PWD/base service info gripper/move", r"request +gripper/Move/Request\nresponse +gripper/Move/Response", r"(?m)^at +demo$")
        self.assert_shows("sinew --domain $PWD/base explain lidar/points", "topic 'lidar/points' is at demo", status=3)
        self.assert_shows("sinew --domain $PWD/base service call gripper/move 'width_mm: 30'", r"moved_mm: ")
        window.begin("sinew top")
        window.wait_for(rf"demo <-> base +{re.escape(there)}  round trip")
        window.press("g")
        window.wait_for(r"channel +kind +way +peer(.*\n)+drone/state +topic +out +base +[\d.]+/s")
        self.assert_shown(window.end("q"))
        self.assert_shows("kill %1 %2 %3; wait %1 %2 %3; cat echoed", "demo has it: it comes here while this runs")
        self.assert_comes_to_show("sinew gateway status", "there is no gateway in this domain", status=3)


class Bridges(Case):
    def test_ros2_offers_the_topics_of_the_demo_until_it_is_interrupted(self):
        self.assert_shows("sinew bridge ros2 --domain-id 231 --interface 127.0.0.1 2>bridged &")
        self.assert_comes_to_show("sinew gateway status; cat bridged", r"gateway \S+ as node gateway_", r"(?m)^ros2 \(tag ros2\) ", r"Fast DDS \S+ in domain 231")
        self.assert_shows("sinew bridge ros2 --domain-id 233", r"233 is not in 0\.\.=232", status=2)
        self.assert_shows("kill %1; wait %1")
        self.assert_comes_to_show("sinew gateway status", "there is no gateway in this domain", status=3)

    def test_ros1_waits_for_a_master_until_it_is_interrupted(self):
        self.assert_shows("sinew bridge ros1 --master http://localhost:1 --hostname localhost 2>bridged &")
        self.assert_comes_to_show("sinew gateway status; cat bridged", r"gateway \S+ as node gateway_", r"(?m)^ros1 \(tag ros1\) ", r"the master of ROS 1 cannot be asked, which is tried again")
        self.assert_shows("sinew bridge ros1 --master localhost:11311", r"it is no address like http://localhost:11311", status=2)
        self.assert_shows("kill %1; wait %1")
        self.assert_comes_to_show("sinew gateway status", "there is no gateway in this domain", status=3)


class Shell(Case):
    def test_help_shows_what_a_verb_does(self):
        self.assert_shows("sinew help topic type", r"Show the type of a topic(.*\n)+Usage: sinew topic type")
        self.assert_shows("sinew bag record --all", r"here it is `sinew record`", status=2)

    def test_tab_completes_what_is_typed(self):
        self.assert_shows("source <(sinew completions bash)")
        # It could be topic, or top.
        for typed, line in (("sinew to", "sinew top"), ("i", "sinew topic"), ("f", "sinew topic find"), ("--js", "sinew topic find --json")):
            window.type(typed)
            window.press("Tab")
            window.wait_for(rf"\$ {line}$")
        window.type(" Image")
        window.enter()
        self.assert_shown(window.end(), r'"name": ?"camera/image"')

    def test_tab_completes_names_of_the_demo(self):
        self.assert_shows("source <(sinew completions bash)")
        for typed, line in (("sinew topic info cam", "camera/image"), ("sinew node info dro", "drone_state"), ("sinew service info gri", "gripper/move"), ("sinew type show demo/Mo", "demo/Motion")):
            window.press("C-u")
            window.type(typed)
            # Beside other tests the manager may not answer in time.
            window.eventually(lambda: window.press("Tab") or re.search(rf"\$ {typed.rsplit(' ', 1)[0]} {line}$", window.screen().rstrip()), f"{line} was not completed")
        window.press("C-u")
        self.assert_shows("sinew complete -- sinew topic ech", r"^echo\s+Print messages")

    def test_zsh_and_fish_have_theirs(self):
        self.assert_shows("sinew completions zsh | head -1", r"#compdef sinew")
        self.assert_shows("sinew completions fish | grep ^complete", r"complete --command sinew")


class Session(Case):
    def test_has_every_verb(self):
        typed = "\n".join(window.typed)
        self.assertEqual([verb for verb in verbs.verbs(sinew) if not re.search(rf"\bsinew {verb}\b", typed)], [])

    def test_left_nobody_behind(self):
        self.assert_lists("sinew node list", sorted([*NODES, "gripper"]))


def load_tests(loader, *_):
    """In this order: the last ones are about those before them."""
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Topics, Nodes, Services, Actions, Types, Domain, Whole, Top, Launch, Recordings, Foxglove, Gateways, Bridges, Shell, Session))


if __name__ == "__main__":
    unittest.main()
