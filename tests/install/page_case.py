"""Does what stands in a page, and holds that what it says comes of it. page.py says what the words behind the language of a block mean."""

import contextlib
import os
import pathlib
import re
import shlex
import time

from installed import COMPILE_SECONDS, ROOT, RUN_SECONDS, Case, Domain, must
import bounded
import page


@contextlib.contextmanager
def network():
    """What to put before commands so that they have a network of their own: their ports are free, and nobody hears them. Nothing where this user may not make one."""
    name = f"sinew-pages-{os.getpid()}"
    if os.geteuid() != 0 or bounded.run(["ip", "netns", "add", name], seconds=RUN_SECONDS, capture=True)[0] != 0:
        yield []
        return
    try:
        must(["ip", "-n", name, "link", "set", "lo", "up"])
        yield ["ip", "netns", "exec", name]
    finally:
        must(["ip", "netns", "delete", name])


class PageCase(Case):
    def assert_page_is_true(self, path, home, environment, *, alone=True, in_sources=True):
        """In a home of its own. `alone`: in a network of its own, too; `in_sources`: it begins in the folder of the repository."""
        blocks = page.blocks_of(path.read_text())
        home.mkdir(exist_ok=True)
        with network() if alone else contextlib.nullcontext([]) as within, Domain(within, home.parent) as self.domain:
            self.domain.env |= {"HOME": str(home), "CMAKE_PREFIX_PATH": "", "XDG_CONFIG_HOME": ""} | environment
            self.folder, self.section, self.running, self.printed, self.seen = ROOT if in_sources else home, "", {}, None, {}
            for block, following in zip(blocks, [*blocks[1:], None]):
                if block.section != self.section:
                    self.end_section()
                    self.section, self.running, self.printed = block.section, {}, None
                if block.word in ("by-hand", "sample"):
                    continue
                if block.language == "text" or (block.language == "diff" and not block.word):
                    self.assert_printed(block)
                elif block.word == "again":
                    self.run_again(block, following.pattern())
                elif block.language == "sh":
                    self.look()
                    {"": self.run_commands, "fails": self.run_in_vain, "any-status": self.run_either_way, "goes-on": self.run_beside}[block.word](block)
                else:
                    self.assertIn(f"`{block.word}`", block.before, f"the text before {block} does not say where to save it")
                    self.assertNotEqual(self.folder, ROOT, f"{block}is saved in the repository")
                    (self.folder / block.word).write_text(block.text)
            self.end_section()

    def end_section(self):
        """What goes on has gone on until now."""
        self.assertEqual([process.poll() for process in self.running.values() if process.poll() is not None], [], self.domain.story())
        for process in self.running.values():
            self.domain.kill(process)

    def look(self):
        """What is printed from now on is what the next text is about."""
        self.seen = {process: len(self.domain.said(process)) for process in self.running.values()}

    def run_commands(self, block):
        """Goes on with the folder and the environment that the commands leave."""
        left = self.domain.folder / "environment"
        commands = f"{block.text}env -0 >{shlex.quote(str(left))}\n"
        self.printed = must([*self.domain.within, "bash", "-e", "-c", commands], seconds=COMPILE_SECONDS, env=self.domain.env, cwd=self.folder)
        self.domain.env = dict(each.split("=", 1) for each in left.read_text().split("\0") if each)
        self.folder = pathlib.Path(self.domain.env["PWD"])

    def run_either_way(self, block):
        status, self.printed = bounded.run([*self.domain.within, "bash", "-e", "-c", block.text], seconds=RUN_SECONDS, capture=True, env=self.domain.env, cwd=self.folder)
        self.assertNotEqual(status, bounded.TIMED_OUT, f"{block}{self.printed}")
        return status

    def run_again(self, block, pattern):
        until = time.monotonic() + RUN_SECONDS
        while self.run_either_way(block) != 0 or not re.search(pattern, self.printed):
            self.assertLess(time.monotonic(), until, f"{block}{self.printed}")
            time.sleep(0.1)

    def run_in_vain(self, block):
        self.assertNotEqual(self.run_either_way(block), 0, f"{block}{self.printed}")

    def run_beside(self, block):
        command = block.text.strip()
        if command in self.running:
            self.domain.kill(self.running[command])
            self.look()
        self.running[command] = self.domain.start("bash", "-c", f"exec env {command}", cwd=self.folder)
        self.printed = None

    def assert_printed(self, block):
        """By the commands before; or since then, by one of those that go on."""
        if self.printed is not None:
            return self.assertRegex(self.printed, block.pattern(), f"not printed: {block}")
        until = time.monotonic() + RUN_SECONDS
        while not any(re.search(block.pattern(), self.domain.said(process)[self.seen.get(process, 0) :]) for process in self.running.values()):
            self.assertEqual([process.poll() for process in self.running.values() if process.poll() is not None], [], self.domain.story())
            self.assertLess(time.monotonic(), until, f"not printed: {block}{self.domain.story()}")
            time.sleep(0.01)
