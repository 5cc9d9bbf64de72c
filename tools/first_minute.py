#!/usr/bin/env python3
"""Does the first minute of a stranger in a bare Debian 12, and writes down what it takes: commands, times, sizes, and what was printed when.

Usage: first_minute.py [options] [PART...]

What is typed is what stands in README.md, docs/quick-start.md, docs/python.md and rust/README.md, in a clone of what is committed here. The transcript
is build/first-minute/transcript.md. Needs root and debootstrap (`tools/setup bare`), and the package registries of Debian, PyPI and crates.io.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import re
import resource
import selectors
import shlex
import signal
import subprocess
import sys
import time

import bare_root

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/install"))
import page

OUT = ROOT / "build/first-minute"
SECONDS = 3000
TESTS_SECONDS = 10800
RUN_SECONDS = 60
# What would wait for somebody to type.
QUESTION = re.compile(r"\[[Yy]/[Nn]\]|\[[Nn]/[Yy]\]|(?i:password|passphrase).*:\s*$|\?\s*$")
COMPLAINT = re.compile(r"(?i)\b(warning|error|failed|deprecated|cannot|could not|not found)\b")
# What is so in a terminal from then on.
KEPT = re.compile(r"(?m)(?:^|&& )(export .*|\. \S+)$")
# A line of the demo's monitor, or its table, with a topic that flows.
FLOWS = re.compile(r"camera/image\s+(?!0\.0 )\d+\.\d Hz|camera/image\s+\|?\s*[1-9]\d*\.\d")


@dataclasses.dataclass
class Step:
    """A command that was typed, and what came of it."""

    command: str
    folder: str
    status: int | None = None
    seconds: float = 0.0
    lines: list = dataclasses.field(default_factory=list)  # (seconds since it started, text)
    processor: float = 0.0  # seconds of it, of commands that have ended
    found: float | None = None  # when what it is typed for was printed
    packages: dict = dataclasses.field(default_factory=dict)  # those of Debian that are new: name to (version, later bytes fetched; bytes installed)
    grown: int = 0  # bytes on the disk

    @property
    def silence(self):
        """The longest time without a line, and the line before it."""
        times = [(0.0, "(nothing yet)"), *self.lines, (self.seconds, "")]
        return max((later - earlier, text) for (earlier, text), (later, _) in zip(times, times[1:]))

    @property
    def questions(self):
        return [text for _, text in self.lines if QUESTION.search(text)]

    @property
    def complaints(self):
        return list(dict.fromkeys(text for _, text in self.lines if COMPLAINT.search(text)))


def processor_time():
    """Of all commands until now that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kill(process):
    """With all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def ends_soon(process):
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(2)
    return process.poll() is not None


class Stranger:
    """Who types, in a root."""

    def __init__(self, root, user):
        self.root, self.user = root, user
        self.home = "/root" if user == "root" else f"/home/{user}"
        self.steps, self.started, self.exports = [], [], ""

    def type(self, command, folder="~", *, until=None, seconds=SECONDS):
        """Waits for the end of the command, or for a line that matches `until` when the command goes on beside the next ones."""
        step = Step(command, folder)
        self.steps.append(step)
        print(f"\n$ {command}    # in {folder}", flush=True)
        packages, used, processor = self.packages(), self.used(), processor_time()
        start = time.monotonic()
        process = self.start(command, folder)
        goes_on = self.read(step, process, start, until, seconds)
        step.seconds = time.monotonic() - start
        if goes_on and not ends_soon(process):
            self.started.append(process)
        else:
            step.status = self.end(process)
            step.processor = processor_time() - processor
        step.packages = {name: size for name, size in self.packages().items() if name not in packages}
        step.grown = self.used() - used
        # What a terminal keeps for the commands after.
        self.exports += "".join(f"{kept}\n" for kept in KEPT.findall(command))
        print(f"  -> status {step.status}, {step.seconds:.1f} s", flush=True)
        if step.status not in (0, None):
            raise Stumbled(f"`{command}` ended with status {step.status}")
        if until and step.found is None:
            raise Stumbled(f"`{command}` did not print what was to come: {until.pattern}")
        return step

    def beside(self, command, folder):
        """A command in a terminal of its own, whose output nobody looks at."""
        self.steps.append(Step(command, folder))
        self.started.append(self.start(command, folder, subprocess.DEVNULL))

    def start(self, command, folder, output=subprocess.PIPE):
        words = ["bash", "-e", "-c", f"{self.exports}cd {folder}\n{command}"]
        return subprocess.Popen(self.root.command(words, user=self.user), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)

    def read(self, step, process, start, until, seconds):
        """Whether it goes on, and has printed what it is for."""
        os.set_blocking(process.stdout.fileno(), False)
        rest = b""
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            while (left := start + seconds - time.monotonic()) > 0:
                if not ready.select(min(left, 1)):
                    continue
                if not (more := process.stdout.read()):
                    return False
                *lines, rest = (rest + more).split(b"\n")
                for line in lines:
                    self.note(step, line, time.monotonic() - start, until)
                # The demo ends by itself, and says something there.
                if step.found is not None and until is not FLOWS:
                    return True
        return False

    def note(self, step, line, after, until):
        text = line.decode(errors="replace").rstrip("\r").rsplit("\r", 1)[-1]
        step.lines.append((after, text))
        print(f"{after:7.1f}  {text}", flush=True)
        if until and step.found is None and until.search(text):
            step.found = after

    def end(self, process):
        if process.poll() is None:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                kill(process)  # it took too long
        if process.stdout:
            process.stdout.close()
        return process.wait()

    def end_all(self):
        """Ctrl-C in all terminals."""
        for process in self.started:
            kill(process)
            self.end(process)
        self.started = []

    def packages(self):
        listed = {}
        paragraphs = self.root.path("/var/lib/dpkg/status").read_text(errors="replace").split("\n\n")
        for fields in (dict(re.findall(r"(?m)^([\w-]+): (.*)$", paragraph)) for paragraph in paragraphs):
            if fields.get("Status", "").endswith(" installed"):
                listed[fields["Package"]] = (fields.get("Version", ""), int(fields.get("Installed-Size", 0)) * 1024)
        return listed

    def used(self):
        """Bytes on the disk, of the whole root."""
        said = subprocess.run(["du", "--summarize", "--block-size=1", "--one-file-system", self.root.folder], capture_output=True, text=True, check=False).stdout
        return int(said.split()[0])

    def sizes(self, packages):
        """Of these packages, (bytes of the archive, bytes installed)."""
        words = ["apt-cache", "show", "--quiet", *(f"{name}={version}" for name, (version, _) in packages.items())]
        said = subprocess.run(self.root.command(words), capture_output=True, text=True, check=False).stdout if packages else ""
        archives = {name: int(size) for name, size in re.findall(r"(?ms)^Package: (\S+)$.*?^Size: (\d+)$", said)}
        return {name: (archives.get(name, 0), installed) for name, (_, installed) in packages.items()}

    def save(self, name, text):
        path = self.root.path(name.replace("~", self.home))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.root.run(["chown", "-R", f"{self.user}:", str(pathlib.PurePosixPath(name.replace("~", self.home)).parent)])


class Stumbled(Exception):
    """Where the stranger does not get on."""


def blocks(path):
    return page.blocks_of((ROOT / path).read_text(encoding="utf-8"))


def commands_of(path, section, word=""):
    """The lines of the blocks of that page and section."""
    return [block.text.strip() for block in blocks(path) if block.section.startswith(f"## {section}") and block.language == "sh" and block.word == word]


def saved_of(path):
    return {block.word: block.text for block in blocks(path) if block.language not in ("sh", "text", "diff") and block.word and block.word != "by-hand"}


def demo(stranger):
    """git clone and make demo"""
    stranger.type("git clone /srv/sinew.git sinew")
    stranger.type("make demo", "~/sinew", until=FLOWS)


def again(stranger):
    """make demo once more"""
    stranger.type("make demo", "~/sinew", until=FLOWS)


def quick_start(stranger):
    """make install, and the talker and the listener of docs/quick-start.md"""
    [install] = commands_of("docs/quick-start.md", "1")
    stranger.type(install, "~/sinew")
    compile_all, *_ = commands_of("docs/quick-start.md", "2")
    stranger.type(compile_all, "~/sinew")
    stranger.beside("./talker", "~/hello")
    stranger.type("./listener", "~/hello", until=re.compile("talker: hello"), seconds=RUN_SECONDS)
    stranger.type("sinew topic list --verbose", "~/hello")
    stranger.end_all()


def cmake(stranger):
    """find_package() in a project of one's own"""
    for name, text in saved_of("docs/quick-start.md").items():
        stranger.save(f"~/by-cmake/{name}", text)
    [build] = [text for text in commands_of("docs/quick-start.md", "3") if "cmake -B" in text]
    stranger.type(build, "~/by-cmake")
    stranger.beside("build/lidar", "~/by-cmake")
    stranger.type("build/nearest", "~/by-cmake", until=re.compile("delivery native"), seconds=RUN_SECONDS)
    stranger.end_all()


def pkg_config(stranger):
    """the README's first program, by pkg-config"""
    [program] = [block.text for block in blocks("README.md") if block.language == "cpp"]
    [commands] = [block.text.strip() for block in blocks("README.md") if "my_node.cpp" in block.text]
    stranger.save("~/by-pkg-config/my_node.cpp", program)
    stranger.type(commands, "~/by-pkg-config")
    stranger.type("./my_node", "~/by-pkg-config", until=re.compile("1000 ranges"), seconds=RUN_SECONDS)
    stranger.end_all()


def python(stranger):
    """the package, and two programs of docs/python.md"""
    [install] = commands_of("docs/python.md", "1", "by-hand")
    # The clone is there already; and root leaves out sudo.
    lines = "\n".join(line for line in install.splitlines() if not line.startswith("git clone"))
    stranger.type(lines.replace("sudo ", "") if stranger.user == "root" else lines)
    for name in "lidar.py", "nearest.py":
        stranger.save(f"~/by-pip/{name}", saved_of("docs/python.md")[name])
    stranger.beside("python3 lidar.py", "~/by-pip")
    stranger.type("python3 nearest.py", "~/by-pip", until=re.compile("from lidar"), seconds=RUN_SECONDS)
    stranger.end_all()


def rust(stranger):
    """a project of one's own that has the crate by its path, as rust/README.md says"""
    folder, done = "~/sinew", 0
    for block in blocks("rust/README.md"):
        if block.language == "sh":
            runs = "cargo run" in block.text
            stranger.type(block.text.strip(), folder, until=re.compile("ranges") if runs else None)
            folder, done = re.findall(r"(?m)^cd (\S+)$", f"cd {folder}\n{block.text}")[-1], done + runs
        elif block.language != "text" and block.word:
            stranger.save(f"{folder}/{block.word}", block.text)
    if not done:
        raise Stumbled("rust/README.md does not say how to have the crate in a project of one's own")


def tests(stranger):
    """make test"""
    stranger.type("make test", "~/sinew", seconds=TESTS_SECONDS)


PARTS = {part.__name__.replace("_", "-"): part for part in (demo, again, quick_start, cmake, pkg_config, python, rust, tests)}


def megabytes(count):
    return f"{count / 1e6:.1f} MB" if count < 1e8 else f"{count / 1e6:.0f} MB"


def row(part, steps, stumbled):
    timed = [step for step in steps if step.status is not None or step.found is not None]
    so_far, first = 0.0, "-"
    for step in timed:
        if step.found is not None:
            first = f"{so_far + step.found:.1f} s"
            break
        so_far += step.seconds
    packages = {name: size for step in steps for name, size in step.packages.items()}
    silence = max((step.silence[0] for step in timed), default=0.0)
    return [part, str(sum(len(step.command.splitlines()) + (step.folder != before.folder) for before, step in zip([Step("", "~"), *steps], steps))), first,
            f"{sum(step.seconds for step in timed):.1f} s", f"{sum(step.processor for step in timed):.0f} s", f"{len(packages)}", megabytes(sum(size for size, _ in packages.values())),
            megabytes(sum(size for _, size in packages.values())), megabytes(sum(step.grown for step in steps)), str(sum(len(step.questions) for step in steps)),
            f"{silence:.0f} s", "no: " + stumbled.replace("\n", "; ") if stumbled else "yes"]


TITLES = ["part", "lines typed", "messages after", "in all", "of the processor", "packages", "fetched by apt", "installed by apt", "on the disk", "questions", "longest silence", "got there"]


def shown(step):
    """The lines of a step, the long ones without their middle."""
    lines = [f"{after:8.1f}  {text}" for after, text in step.lines]
    return lines if len(lines) <= 60 else [*lines[:30], f"          ... {len(lines) - 55} lines ...", *lines[-25:]]


def transcript(commit, parts):
    """`parts`: name to (steps, where it stumbled)."""
    table = [TITLES, ["---"] * len(TITLES), *(row(name, *of) for name, of in parts.items())]
    text = ["# The first minute of a stranger", "", f"In a bare Debian 12, with {os.cpu_count()} cores; commit {commit}. Seconds at the left of a line are since its command was typed.", ""]
    text += ["| " + " | ".join(cells) + " |" for cells in table]
    for name, (steps, stumbled) in parts.items():
        text += ["", f"## {name}: {PARTS[name].__doc__}"]
        for step in steps:
            text += ["", "```sh", *(f"{step.folder}$ {line}" for line in step.command.splitlines()), "```"]
            if not step.lines and step.status is None:
                text += ["", "Goes on in a terminal of its own."]
                continue
            how = f"ended with status {step.status}" if step.status is not None else "goes on"
            text += ["", f"{step.seconds:.1f} s, {how}; first line after {step.lines[0][0]:.1f} s" if step.lines else f"{step.seconds:.1f} s, {how}, without a word"]
            text[-1] += f"; {step.processor:.1f} s of the processor" if step.processor > 1 else ""
            text[-1] += f"; what it is for after {step.found:.1f} s" if step.found is not None else ""
            text[-1] += f"; longest silence {step.silence[0]:.1f} s, after `{step.silence[1].strip()[:100]}`" if step.silence[0] > 5 else ""
            if step.packages:
                text[-1] += f"; {len(step.packages)} packages, {megabytes(sum(size for size, _ in step.packages.values()))} fetched, {megabytes(sum(size for _, size in step.packages.values()))} installed"
            text += ["", "```text", *shown(step), "```"] if step.lines else []
            text += ["", "Sounds like trouble:", "", *(f"    {line}" for line in step.complaints[:40])] if step.complaints else []
        text += ["", f"**Stumbled**: {stumbled}"] if stumbled else []
    return "\n".join(text) + "\n"


def head():
    return subprocess.run(["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main():
    described = "\n".join(f"  {name:<12}{part.__doc__}" for name, part in PARTS.items())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=f"parts:\n{described}")
    parser.add_argument("--root", type=pathlib.Path, metavar="FOLDER", help="where to make the root, or one that was kept (default: a new folder in build/bare/)")
    parser.add_argument("--keep", action="store_true", help="do not remove the root afterwards")
    parser.add_argument("--tests", action="store_true", help="the part `tests` too, which takes an hour")
    parser.add_argument("--user", action="store_true", help=f"not as root: as {bare_root.USER}, who has sudo")
    parser.add_argument("--out", type=pathlib.Path, default=OUT, metavar="FOLDER", help="where the transcript is written")
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.parts if name not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)}; there are: {', '.join(PARTS)}")
    chosen = arguments.parts or [name for name in PARTS if name != "tests"]
    chosen += ["tests"] if arguments.tests and "tests" not in chosen else []
    arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        root = bare_root.make(arguments.root)
    except bare_root.Impossible as error:
        print(f"first_minute.py: {error}", file=sys.stderr)
        return 2
    try:
        stranger = Stranger(root, bare_root.USER if arguments.user else "root")
        if (commit := head()).endswith("-dirty"):
            print("first_minute.py: what is not committed is not in the clone", file=sys.stderr)
        root.put_repository(user=stranger.user)
        if arguments.user:
            root.allow_sudo()
        done = {}
        for name in chosen:
            with root:
                done[name] = do(stranger, PARTS[name])
            # After each, so that there is something of a run that was interrupted.
            (arguments.out / "transcript.md").write_text(transcript(commit, done), encoding="utf-8")
    finally:
        if arguments.keep:
            print(f"first_minute.py: kept; to look around: tools/bare_root.py --root {shlex.quote(str(root.folder))} --keep", file=sys.stderr)
        else:
            bare_root.remove(root)
    print(f"\n{arguments.out / 'transcript.md'}")
    return 1 if any(stumbled for _, stumbled in done.values()) else 0


def do(stranger, part):
    """The steps of a part, and where it stumbled."""
    stranger.steps, stranger.exports, stumbled = [], "", ""
    print(f"\n=== {part.__doc__}", flush=True)
    try:
        part(stranger)
    except Stumbled as stop:
        stumbled = str(stop)
        print(f"stumbled: {stumbled}", flush=True)
    finally:
        stranger.end_all()
    for step in stranger.steps:
        step.packages = stranger.sizes(step.packages)
    return stranger.steps, stumbled


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
