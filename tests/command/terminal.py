"""A window of tmux with a shell in it: what a person types goes in as keys, and what the person sees comes out as text."""

import contextlib
import re
import subprocess
import time
from typing import NamedTuple

COLUMNS, LINES = 160, 50
# Only bounds a hang.
PATIENCE = 60


class Shown(NamedTuple):
    """What a command has left on the screen when the shell asks for the next one."""

    status: int
    text: str


@contextlib.contextmanager
def window(folder, environment):
    """One of a terminal of its own, with bash in it. `environment` is all that the shell has; `folder` is where it is and what it calls home."""
    # Prompts say which command they ask for, and how the one before has ended. Nothing is written when the folder is being removed.
    (folder / ".bashrc").write_text("PS1='(\\#) [$?] $ '\nunset HISTFILE\n")
    (folder / ".tmux.conf").write_text("set -g default-terminal tmux-256color\nset -g history-limit 20000\nset -g status off\n")
    environment = {"HOME": str(folder), "LANG": "C.UTF-8", "SHELL": "/bin/bash", **environment}
    # Not a daemon, so that whoever kills the group of this process takes the window along.
    command = ["tmux", "-u", "-S", folder / "tmux", "-f", folder / ".tmux.conf", "-D"]
    server = subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL)
    try:
        yield Window(folder, environment, server)
    finally:
        server.terminate()
        try:
            server.wait(PATIENCE)
        finally:
            server.kill()


class Window:
    """Made by window()."""

    def __init__(self, folder, environment, server):
        self.folder, self.environment, self.server = folder, environment, server
        self.typed, self.number, self.is_busy = [], 1, False
        self.eventually((folder / "tmux").exists, "tmux did not start")
        self.tmux("new-session", "-d", "-c", folder, "-x", str(COLUMNS), "-y", str(LINES), "bash --rcfile ~/.bashrc")
        self.wait_for(self.prompt(self.number) + "$")

    def tmux(self, *words):
        # Of the environment, too: a new window has the PATH of whoever asks for it.
        command = ["tmux", "-u", "-S", self.folder / "tmux", *words]
        return subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, check=True, text=True, timeout=PATIENCE).stdout

    @staticmethod
    def prompt(number):
        """As a pattern, with the exit status as its group. Not at the begin of a line alone: what `cat` has shown of a file may end in the midst of one that is being written."""
        return rf"(?:\^C)?\({number}\) \[(\d+)\] \$ ?"

    def type(self, text):
        self.tmux("send-keys", "-l", "--", text)

    def press(self, *keys):
        """By their names for tmux: Enter, C-c, Down."""
        self.tmux("send-keys", *keys)

    def screen(self, *, colours=False):
        """What can be seen at this moment."""
        return self.tmux("capture-pane", "-p", *["-e"] * colours)

    def transcript(self):
        """Everything since the window was opened, lines that were too long for it as one."""
        return "\n".join(line.rstrip() for line in self.tmux("capture-pane", "-p", "-J", "-S", "-").splitlines())

    def eventually(self, condition, what):
        until = time.monotonic() + PATIENCE
        while not (value := condition()):
            if self.server.poll() is not None:
                raise AssertionError("tmux has ended")
            if time.monotonic() > until:
                raise AssertionError(what() if callable(what) else what)
            time.sleep(0.02)
        return value

    def wait_for(self, pattern):
        """Until the screen shows it; gives the match."""
        return self.eventually(lambda: re.search(pattern, self.screen().rstrip()), lambda: f"{pattern!r} was not shown; last was:\n{self.screen()}")

    def begin(self, command):
        """Types a command and gives it to the shell."""
        self.typed.append(command)
        self.type(command)
        self.enter()

    def enter(self):
        """Gives what was typed to the shell."""
        self.is_busy = True
        self.press("Enter")

    def end(self, *keys):
        """What the command has shown, when it has ended, by these keys or by itself."""
        if keys:
            self.press(*keys)
        ended = self.prompt(self.number + 1)
        self.eventually(lambda: re.search(ended, self.transcript()), lambda: f"it did not end:\n{self.screen()}")
        transcript = self.transcript()
        begin, end = (list(re.finditer(self.prompt(number), transcript))[-1] for number in (self.number, self.number + 1))
        self.number, self.is_busy = self.number + 1, False
        lines = transcript[begin.end() : end.start()].splitlines()
        return Shown(int(end.group(1)), "\n".join(lines[1:]))

    def run(self, command):
        """What a command shows that ends by itself."""
        self.begin(command)
        return self.end()
