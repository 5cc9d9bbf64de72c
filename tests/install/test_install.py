#!/usr/bin/env python3
"""Installs sinew into a fresh prefix and uses it as a stranger would: only what is installed there, found by pkg-config or by CMake.

Run by `make test`; by hand: tests/install/test_install.py [-v] [Class.test...]. What each program prints is shown when it fails.
"""

import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import bounded
import page

EXAMPLES = ["readme", "talker", "listener", "camera", "viewer", "pipeline", "adder", "fibonacci"]
QUICK_START = ROOT / "docs/quick-start.md"
RCLCPP = ROOT / "docs/rclcpp.md"
# Where rustup and cargo of whoever runs this are, for those with a home of their own.
RUST = {name: os.environ.get(name, str(pathlib.Path.home() / folder)) for name, folder in {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}.items()}
COMPILE_SECONDS = 120
RUN_SECONDS = 60


def setUpModule():
    global work, prefix
    work = pathlib.Path(tempfile.mkdtemp(prefix="sinew-"))
    unittest.addModuleCleanup(shutil.rmtree, work, ignore_errors=True)
    prefix = work / "prefix"
    must(["make", "-C", ROOT, "install", f"PREFIX={prefix}"], seconds=1200)


def must(command, *, seconds=COMPILE_SECONDS, env=None, cwd=None):
    """Output of a command that has to succeed."""
    status, output = bounded.run([str(word) for word in command], seconds=seconds, capture=True, env=env, cwd=cwd)
    if status != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with status {status}:\n{output}")
    return output


def flags(of=None):
    """What pkg-config says about the sinew installed in the prefix `of`."""
    search = {"PKG_CONFIG_PATH": str((of or prefix) / "lib/pkgconfig")}
    return shlex.split(must(["pkg-config", "--cflags", "--libs", "sinew"], env=search))


def compile_example(name, into, of=None):
    into.mkdir(exist_ok=True)
    must(["c++", "-std=c++20", ROOT / f"examples/{name}.cpp", *flags(of), "-o", into / name])


class Domain:
    """A domain of its own for the programs of one test; on leaving, everything it started and that still runs is killed."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=work))
        # Nothing that a user would not have set, and nothing that would help the library to find its manager.
        self.env = {"SINEW_DOMAIN": str(self.folder / "socket"), "LD_LIBRARY_PATH": "", "SINEW_NODE": ""}
        self.started = []
        return self

    def __exit__(self, *_):
        for process in self.started:
            self.kill(process)

    def kill(self, process):
        if process.poll() is None:
            process.kill()
            process.wait()

    def start(self, *command, cwd=None):
        """A program that goes on beside the test."""
        output = self.folder / f"output{len(self.started)}"
        environment = {name: value for name, value in (os.environ | self.env).items() if value}
        with open(output, "wb") as sink:
            process = subprocess.Popen([str(word) for word in command], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        process.output = output
        self.started.append(process)
        return process

    def said(self, process):
        """What a started program has printed until now."""
        return process.output.read_text(errors="replace")

    def finish(self, process):
        """Status of a started program that ends by itself; None when it does not."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(RUN_SECONDS)
        return process.poll()

    def story(self):
        """Everything that was printed here, for the text of a failure."""
        return "".join(f"\n--- {process.args[0]} (status {process.poll()}):\n{self.said(process)}" for process in self.started)


class Case(unittest.TestCase):
    def assert_ends_well(self, domain, process):
        """What `process` has printed when it has ended with status 0."""
        self.assertEqual(domain.finish(process), 0, domain.story())
        return domain.said(process)

    def assert_prints(self, domain, process, pattern, times):
        """`process` goes on, and prints `times` lines with `pattern`."""
        until = time.monotonic() + RUN_SECONDS
        while len(re.findall(pattern, domain.said(process))) < times:
            self.assertIsNone(process.poll(), domain.story())
            self.assertLess(time.monotonic(), until, domain.story())
            time.sleep(0.01)

    def assert_examples_run(self, folder):
        with Domain() as domain:
            domain.start(folder / "talker")
            self.assert_prints(domain, domain.start(folder / "listener"), r"(?m)^talker: .+$", 3)
        with Domain() as domain:
            domain.start(folder / "camera")
            viewer = domain.start(folder / "viewer")
            self.assert_prints(domain, viewer, r"delivery \w+", 10)
            self.assertNotRegex(domain.said(viewer), r"delivery (?!native)")
        with Domain() as domain:
            pipeline = domain.start(folder / "pipeline")
            self.assertEqual(pipeline.wait(RUN_SECONDS), 0, domain.story())
        with Domain() as domain:
            said = self.assert_ends_well(domain, domain.start(folder / "fibonacci"))
            self.assertRegex(said, r"34\nsucceeded, 10 numbers\ncancelled\nrejected: that is too large")
        with Domain() as domain:
            self.assertEqual(self.assert_ends_well(domain, domain.start(folder / "adder")), "6\nnothing to add\n")
        with Domain() as domain:
            self.assertRegex(self.assert_ends_well(domain, domain.start(folder / "readme")), r"(?m)^0\.\d: 1000 ranges$")


class Prefix(Case):
    def test_holds_the_library_the_manager_the_headers_and_nothing_unexpected(self):
        there = {path.relative_to(prefix).as_posix() for path in prefix.rglob("*") if not path.is_dir()}
        headers = {path.relative_to(ROOT).as_posix() for path in (ROOT / "include").rglob("*.hpp")}
        msggen = {f"share/sinew/{path.relative_to(ROOT).as_posix()}" for folder in ("definitions", "sinew_msggen") for path in (ROOT / "msggen" / folder).rglob("*.*")}
        msggen = {path for path in msggen if not path.endswith((".pyc", "__pycache__"))}
        self.assertLessEqual(headers | msggen, there)
        of_messages = {path for path in there if path.startswith("include/sinew/messages/")}
        self.assertEqual(len(of_messages), len([path for path in msggen if path.endswith((".msg", ".srv", ".action"))]))
        rest = {re.sub(r"(\.so)[.\d]+$|-[a-z]+(?=\.cmake$)", r"\1", path) for path in there - headers - msggen - of_messages}
        self.assertEqual(
            rest,
            {"bin/sinew", "bin/sinew-gateway", "bin/sinew-msggen", "bin/sinewd", "lib/cmake/sinew/SinewMessages.cmake", "include/sinew.h", "lib/libsinew.so", "lib/sinew/libsinew-fastdds.so", "lib/sinew/operator_new.o"}
            | {f"lib/pkgconfig/{language}.pc" for language in ("sinew", "sinew-c")}
            | {f"lib/cmake/sinew/sinew{part}.cmake" for part in ("Config", "ConfigVersion", "Targets")}
            | {"share/sinew/gateway.schema.json"}
            | {f"share/{path}" for name in ("sinew", "sinew-gateway") for path in (f"bash-completion/completions/{name}", f"zsh/site-functions/_{name}", f"fish/vendor_completions.d/{name}.fish")},
        )

    def test_no_text_in_it_names_the_place_it_was_built_or_installed_in(self):
        for path in prefix.rglob("*"):
            if path.suffix in {".pc", ".cmake", ".hpp", ".h"}:
                text = path.read_text()
                self.assertNotIn(str(work), text, path)
                self.assertNotIn(str(ROOT), text, path)

    def test_every_installed_header_compiles_alone(self):
        must([ROOT / "tools/check_headers.py", "--include", prefix / "include", "c++"], seconds=300)

    def test_the_library_exports_nothing_but_sinew(self):
        symbols = must(["nm", "--dynamic", "--defined-only", "--demangle", prefix / "lib/libsinew.so"])
        # Weak symbols are instantiated templates of the standard library, the same in every C++ program.
        own = [line.split(maxsplit=2)[2] for line in symbols.splitlines() if line.split(maxsplit=2)[1] not in {"W", "V", "u", "w"}]
        self.assertTrue(own)
        self.assertEqual([name for name in own if "sinew::" not in name and not name.startswith("sinew_")], [])
        declared = re.findall(r"(?s)SINEW_EXPORT [^;]*?\b(sinew_\w+)\(", (prefix / "include/sinew.h").read_text())
        self.assertEqual(sorted(name for name in own if name.startswith("sinew_")), sorted(declared))


class Examples(Case):
    def test_build_by_pkg_config_alone_and_run(self):
        for name in EXAMPLES:
            compile_example(name, work / "by-pkg-config")
        self.assert_examples_run(work / "by-pkg-config")

    def test_build_by_find_package_alone_and_run(self):
        build = work / "by-cmake"
        must(["cmake", "-S", HERE / "project", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXAMPLES={ROOT / 'examples'}"])
        must(["cmake", "--build", build, "--parallel", "2"], seconds=300)
        self.assert_examples_run(build)

    def test_build_and_run_from_a_prefix_that_was_moved_and_find_their_manager_there(self):
        moved = work / "moved"
        away = work / "away"
        shutil.copytree(prefix, moved, symlinks=True)
        prefix.rename(away)
        try:
            for name in EXAMPLES:
                compile_example(name, work / "by-moved", moved)
            self.assert_examples_run(work / "by-moved")
        finally:
            away.rename(prefix)


class Messages(Case):
    """What is made of message definitions of ROS."""

    def test_of_the_standard_packages_are_found_by_pkg_config_alone_and_published(self):
        program = work / "messages-by-pkg-config"
        must(["c++", "-std=c++20", HERE / "programs/messages.cpp", *flags(), "-o", program])
        with Domain() as domain:
            self.assertEqual(self.assert_ends_well(domain, domain.start(program)), "all came\n")

    def test_of_a_project_are_made_by_find_package_alone_and_published(self):
        build = work / "messages-by-cmake"
        must(["cmake", "-S", HERE / "messages", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DPROGRAMS={HERE / 'programs'}"])
        must(["cmake", "--build", build, "--parallel", "2"])
        with Domain() as domain:
            self.assertEqual(self.assert_ends_well(domain, domain.start(build / "messages")), "all came\n")

    def test_are_described_by_the_installed_command(self):
        for name in "sensor_msgs/msg/Image", "std_srvs/srv/SetBool_Request":
            self.assertIn(f"{name}{{", must([prefix / "bin/sinew-msggen", "signature", name], cwd="/"))


class OtherLanguages(Case):
    def test_a_program_in_c_is_built_by_pkg_config_alone_and_runs(self):
        found = must(["pkg-config", "--cflags", "--libs", "sinew-c"], env={"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")})
        for compiler in "cc", "clang-19":
            program = work / f"c_program-{compiler}"
            flags_of_c = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
            must([compiler, *flags_of_c, ROOT / "bindings/c/tests/c_program.c", *shlex.split(found), "-o", program])
            with Domain() as domain:
                self.assertEqual(self.assert_ends_well(domain, domain.start(program)), "message 1 of c_program: 42 in 8 bytes\n")


class Command(Case):
    def test_sees_what_is_there_and_flows(self):
        compile_example("talker", work / "for-command")
        with Domain() as domain:
            talker = domain.start(work / "for-command/talker")
            listed = [prefix / "bin/sinew", "topic", "list", "--verbose"]
            until = time.monotonic() + RUN_SECONDS
            while "chatter" not in (said := self.assert_ends_well(domain, domain.start(*listed))):
                self.assertLess(time.monotonic(), until, domain.story())
            self.assertRegex(said, r"chatter +Words +1 +0")
            self.assertIsNone(talker.poll(), domain.story())
            flow = json.loads(self.assert_ends_well(domain, domain.start(prefix / "bin/sinew", "topic", "hz", "--json", "--count", "1", "chatter")))
            self.assertGreater(flow["hz"], 0)

    def test_of_another_domain_sees_nothing(self):
        with Domain() as domain:
            self.assertEqual(self.assert_ends_well(domain, domain.start(prefix / "bin/sinew", "node", "list")), "")


class Gateway(Case):
    def test_makes_certificates_and_runs_with_them_as_its_page_says(self):
        gateway, folder = prefix / "bin/sinew-gateway", work / "gateway"
        must([gateway, "certs", "init", "--folder", folder], cwd="/")
        issued = must([gateway, "certs", "issue", "drone", "--folder", folder], cwd="/")
        security = next(line for line in issued.splitlines() if '"security"' in line)
        config = folder / "gateway.json"
        config.write_text("{" + security + ', "listen": "[::1]:0", "discovery": false, "rules": [ { "topics": { "base_rule": "out" } } ] }')
        must([gateway, "check", config, "--topic", "camera/image"], cwd="/")
        with Domain() as domain:
            running = domain.start(gateway, "run", config)
            until = time.monotonic() + RUN_SECONDS
            while "listens at" not in domain.said(running):
                self.assertIsNone(running.poll(), domain.story())
                self.assertLess(time.monotonic(), until, domain.story())
                time.sleep(0.01)
            running.terminate()
            self.assertEqual(running.wait(RUN_SECONDS), 0)


class Pages(Case):
    """What stands in the pages that a user reads first, done as it stands there."""

    def test_the_quick_start_does_what_it_says(self):
        # A new user's, in the folder that the lines by hand lead to.
        self.assert_does_what_it_says(QUICK_START, RUST | {"PKG_CONFIG_PATH": ""})

    def test_the_guide_for_users_of_rclcpp_does_what_it_says(self):
        self.assert_does_what_it_says(RCLCPP, {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")})

    def assert_does_what_it_says(self, path, environment):
        blocks = page.blocks_of(path.read_text())
        self.home = work / f"home-{path.stem}"
        self.home.mkdir()
        with Domain() as self.domain:
            self.domain.env |= {"HOME": str(self.home), "CMAKE_PREFIX_PATH": ""} | environment
            self.folder, self.section, self.running, self.printed, self.seen = ROOT, "", {}, None, {}
            for block in blocks:
                if block.section != self.section:
                    for process in self.running.values():
                        self.domain.kill(process)
                    self.section, self.running, self.printed = block.section, {}, None
                if block.language == "text" or (block.language == "diff" and not block.word):
                    self.assert_printed(block)
                elif block.language == "sh":
                    self.look()
                    {"": self.run_commands, "fails": self.run_in_vain, "goes-on": self.run_beside, "by-hand": lambda _: None}[block.word](block)
                else:
                    self.assertIn(f"`{block.word}`", block.before, f"the text before {block} does not say where to save it")
                    (self.folder / block.word).write_text(block.text)

    def look(self):
        """What is printed from now on is what the next text is about."""
        self.seen = {process: len(self.domain.said(process)) for process in self.running.values()}

    def run_commands(self, block):
        """Goes on with the folder and the environment that the commands leave."""
        left = self.domain.folder / "environment"
        commands = f"{block.text}env -0 >{shlex.quote(str(left))}\n"
        self.printed = must(["bash", "-e", "-c", commands], seconds=300, env=self.domain.env, cwd=self.folder)
        self.domain.env = dict(each.split("=", 1) for each in left.read_text().split("\0") if each)
        self.folder = pathlib.Path(self.domain.env["PWD"])

    def run_in_vain(self, block):
        status, self.printed = bounded.run(["bash", "-e", "-c", block.text], seconds=RUN_SECONDS, capture=True, env=self.domain.env, cwd=self.folder)
        self.assertNotIn(status, (0, bounded.TIMED_OUT), f"{block}{self.printed}")

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

    def test_what_the_quick_start_fetches_from_the_network_is_not_tried(self):
        by_hand = [block for block in page.blocks_of(QUICK_START.read_text()) if block.word == "by-hand"]
        lines = "".join(block.text for block in by_hand).splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, r"^(sudo apt-get install --yes|git clone) |^cd sinew$", "this can be tried")
        self.skipTest("; ".join(lines))

    def test_the_words_of_sinew_in_the_quick_start_are_those_of_the_headers(self):
        headers = "".join(path.read_text() for path in (prefix / "include").rglob("*.hpp"))
        known = set(re.findall(r"\w+", headers)) | {"init"}
        text = page.text_of(QUICK_START.read_text())
        text = re.sub(r"(?m)^\| (?!what)[^|]+\|", "", text[: text.index("## 6")]) + text[text.index("## 6") :]  # the words of ROS 2
        spans = [span for span in re.findall(r"`([^`\n]+)`", text) if not re.search(r"[/$]|\.(cpp|hpp|txt|msg)$", span)]
        words = {word for span in spans for word in re.findall(r"\b[a-z]+_\w+|\b[a-z]\w+(?=[(<])|(?<=::)\w+|(?<=\)\.)\w+", span)}
        self.assertGreater(len(words), 30)
        self.assertEqual(words - known, set())

    def test_every_link_of_these_pages_leads_to_a_file(self):
        for path in QUICK_START, RCLCPP:
            links = re.findall(r"\]\(([^)]+)\)", page.text_of(path.read_text()))
            self.assertTrue(links)
            self.assertEqual([link for link in links if not (ROOT / "docs" / link).exists()], [])

    def test_the_first_program_of_the_readme_is_built_as_it_says_and_runs(self):
        blocks = page.blocks_of((ROOT / "README.md").read_text())
        folder = work / "readme"
        folder.mkdir()
        [program] = [block.text for block in blocks if block.language == "cpp"]
        (folder / "my_node.cpp").write_text(program)
        [commands] = [block.text for block in blocks if "my_node.cpp" in block.text]
        (folder / "opt").mkdir()
        (folder / "opt/sinew").symlink_to(prefix)
        must(["bash", "-e", "-c", commands], env={"HOME": str(folder), "PKG_CONFIG_PATH": ""}, cwd=folder)
        with Domain() as domain:
            self.assertRegex(self.assert_ends_well(domain, domain.start(folder / "my_node")), r"(?m)^0\.\d: 1000 ranges$")


class Replacement(Case):
    """Where operator new is replaced a loan is built in place; where it cannot be, the message is copied, and right all the same."""

    @classmethod
    def setUpClass(cls):
        cls.programs = work / "programs"
        cls.programs.mkdir(exist_ok=True)
        cls.build("receiver", "receiver.cpp", after=flags())

    @classmethod
    def build(cls, name, source, before=(), after=(), compiler="c++", standard="-std=c++20"):
        must([compiler, standard, HERE / "programs" / source, *before, *after, "-o", cls.programs / name])
        return cls.programs / name

    def bytes_copied(self, *sender):
        """How many bytes `sender` copied for a receiver that got every reading right."""
        with Domain() as domain:
            sending = domain.start(*sender)
            self.assert_ends_well(domain, domain.start(self.programs / "receiver"))
            said = self.assert_ends_well(domain, sending)
        return int(re.search(r"^bytes_copied=(\d+)$", said, re.MULTILINE).group(1))

    def plugin(self, name):
        return self.build(name, "sender.cpp", before=["-shared", "-fPIC", "-DPLUGIN"], after=flags())

    def test_S10_a_program_builds_loans_in_place(self):
        self.assertEqual(self.bytes_copied(self.build("sender", "sender.cpp", after=flags())), 0)

    def test_S10_an_optimized_program_builds_loans_in_place(self):
        self.assertEqual(self.bytes_copied(self.build("optimized", "sender.cpp", before=["-O2"], after=flags())), 0)

    def test_S10_a_program_with_a_static_cpp_library_builds_loans_in_place(self):
        program = self.build("static", "sender.cpp", before=["-static-libstdc++", "-static-libgcc"], after=flags())
        self.assertEqual(self.bytes_copied(program), 0)

    def test_S10_a_program_linked_with_the_cpp_library_first_builds_loans_in_place(self):
        self.assertEqual(self.bytes_copied(self.build("late", "sender.cpp", before=["-lstdc++"], after=flags())), 0)

    def test_a_program_linked_with_jemalloc_or_mimalloc_builds_loans_in_place_in_whatever_order(self):
        for allocator in "-ljemalloc", "-lmimalloc":
            for name, before, after in ("first", [allocator], flags()), ("last", [], [*flags(), allocator]):
                with self.subTest(allocator=allocator, order=name):
                    program = self.build(f"{allocator[2:]}-{name}", "sender.cpp", before=["-Wl,--no-as-needed", *before], after=after)
                    self.assertIn(allocator[2:], must(["ldd", program]))
                    self.assertEqual(self.bytes_copied(program), 0)

    def test_F4_two_plugins_that_know_nothing_of_each_other_hand_a_message_on(self):
        maker = self.build("libmaker.so", "maker.cpp", before=["-shared", "-fPIC"], after=flags())
        user = self.build("libuser.so", "user.cpp", before=["-shared", "-fPIC"])
        c = {"compiler": "cc", "standard": "-std=c11"}
        for name, plugins, kind in (
            ("knowing", (maker, user), {"before": ["-Wl,--no-as-needed"], "after": flags()}),
            ("unknowing", (maker, user), {"before": ["-Wl,--no-as-needed"]}),
            ("c_maker_first", (maker, user), c),
            # Who comes first brings the C++ library, whose operator new is its own then: what is inside of it would free the loan's memory.
            ("c_user_first", (user, maker), c),
        ):
            with self.subTest(host=name), Domain() as domain:
                host = self.build(f"plugin_host_{name}", "plugin_host.c", **kind)
                self.assert_ends_well(domain, domain.start(host, *plugins))

    def test_S10_a_plugin_in_a_cpp_program_that_does_not_know_sinew_copies(self):
        host = self.build("host", "host.cpp")
        self.assertGreater(self.bytes_copied(host, self.plugin("plugin.so")), 0)

    def test_S10_a_plugin_in_a_c_program_builds_loans_in_place(self):
        host = self.build("c_host", "host.c", compiler="cc", standard="-std=c11")
        self.assertEqual(self.bytes_copied(host, self.plugin("c_plugin.so")), 0)


class OtherLibrary(Case):
    """Programs built with libc++ and with libstdc++ in one domain: in place among their like, in pieces between the two."""

    CLANG = "clang++-19"

    @classmethod
    def setUpClass(cls):
        other, build = work / "with-libcxx", work / "build-with-libcxx"
        must(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "--log-level=WARNING", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={cls.CLANG}",
              "-DCMAKE_CXX_FLAGS=-stdlib=libc++", "-DSINEW_TESTS=OFF", "-DSINEW_BENCH=OFF", "-DSINEW_EXAMPLES=OFF"])
        must(["cmake", "--build", build, "--parallel", os.environ.get("JOBS", "2")], seconds=1200)
        must(["cmake", "--install", build, "--prefix", other])
        cls.programs = {}
        for name, compiler, of in ("libstdc++", ["c++"], prefix), ("libc++", [cls.CLANG, "-stdlib=libc++"], other):
            cls.programs[name] = work / f"either-{name}"
            must([*compiler, "-std=c++20", HERE / "programs/either.cpp", *flags(of), "-o", cls.programs[name]])

    def test_S16_a_variant_of_the_same_size_has_another_layout(self):
        said = {}
        for compiler in ("c++",), (self.CLANG, "-stdlib=libc++"):
            program = work / "layout"
            must([*compiler, "-std=c++20", f"-I{prefix}/include", HERE / "programs/layout.cpp", "-o", program])
            said[compiler] = must([program]).split()
        (size, layout), (other_size, other_layout) = said.values()
        self.assertEqual(size, other_size)
        self.assertNotEqual(layout, other_layout)

    def assert_arrive(self, sender, receiver, delivery):
        with self.subTest(sender=sender, receiver=receiver), Domain() as domain:
            sending = domain.start(self.programs[sender], "send", "40")
            receiving = domain.start(self.programs[receiver], "receive", "40")
            self.assertEqual(self.assert_ends_well(domain, receiving), f"{delivery}=40\n")
            self.assert_ends_well(domain, sending)

    def test_messages_between_programs_with_different_libraries_arrive_in_pieces(self):
        self.assert_arrive("libstdc++", "libc++", "view")
        self.assert_arrive("libc++", "libstdc++", "view")

    def test_messages_between_programs_with_the_same_library_are_read_in_place(self):
        self.assert_arrive("libc++", "libc++", "native")
        self.assert_arrive("libstdc++", "libstdc++", "native")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    unittest.main()
