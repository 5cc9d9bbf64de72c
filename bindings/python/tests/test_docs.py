"""docs/python.md, done as it stands there; and the examples in docstrings are of what there is."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import sinew
from harness import PATIENCE, ROOT, Case

sys.path.insert(0, str(ROOT / "tests/install"))
import page

PAGE = ROOT / "docs/python.md"


class Page(Case):
    def test_the_page_about_python_does_what_it_says(self):
        # `python3` is this interpreter.
        path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        section, printed, seen, tried = "", None, {}, 0
        for block in page.blocks_of(PAGE.read_text()):
            if block.section != section:
                for program in self.programs:
                    program.kill()
                section, seen = block.section, {}
            if block.language == "sh" and block.word == "goes-on":
                seen = {program: len(program.said) for program in self.programs}
                self.start(*block.text.split(), PATH=path)
                printed = None
            elif block.language == "sh" and block.word == "":
                done = subprocess.run(
                    ["bash", "-e", "-c", block.text], cwd=self.folder, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE
                )
                self.assertEqual(done.returncode, 0, f"{block}{done.stdout}{self.story()}")
                printed = done.stdout
            elif block.language == "text":
                tried += 1
                if printed is not None:
                    self.assertRegex(printed, block.pattern(), f"not printed: {block}")
                else:
                    self.wait_until(lambda: any(re.search(block.pattern(), program.said[seen.get(program, 0) :]) for program in self.programs))
            elif block.language == "python":
                self.assertIn(f"`{block.word}`", block.before, f"the text before {block} does not say where to save it")
                (self.folder / block.word).write_text(block.text)
            else:
                self.assertEqual(block.word, "by-hand", f"nobody knows what to do with {block}")
        self.assertGreater(tried, 4)

    def test_the_camera_of_the_page_takes_thirty_images_a_second(self):
        [camera] = [block for block in page.blocks_of(PAGE.read_text()) if block.word == "camera.py"]
        self.start_text(camera.text)
        with sinew.Node("test") as node:
            images = node.subscribe("camera/image", timeout=PATIENCE)
            infos = [images.take(PATIENCE)[1] for _ in range(10)]

            def seconds_apart():
                infos.append(images.take(PATIENCE)[1])
                return (infos[-1].source_time_ns - infos[0].source_time_ns) / (infos[-1].sequence - infos[0].sequence) * 1e-9

            # The first one may be late, and the next ones are in time: the more have come, the less that counts.
            self.wait_until(lambda: seconds_apart() > 0.8 / 30)

    def test_the_program_in_asyncio_of_the_page_does_the_rest_while_it_waits_for_a_topic_and_ends_at_one_interrupt(self):
        [both] = [block for block in page.blocks_of(PAGE.read_text()) if block.word == "both.py"]
        says = both.text.replace("lambda request: ", "lambda request: print('asked') or ")
        self.assertNotEqual(says, both.text)
        program = self.start_text(says)
        self.assert_prints(program, "asked")
        program.interrupt()
        self.assertIn("KeyboardInterrupt", self.assert_ends(program, status=-signal.SIGINT))

    def test_every_link_of_the_page_leads_to_a_file(self):
        links = re.findall(r"\]\(([^)]+)\)", page.text_of(PAGE.read_text()))
        self.assertTrue(links)
        self.assertEqual([link for link in links if not (PAGE.parent / link.partition("#")[0]).exists()], [])
