#!/usr/bin/env python3
"""Installs sinew into a fresh prefix and uses it as a stranger would: only what is installed there, found by pkg-config or by CMake.

Run by `make test`; by hand: tests/install/test_install.py [-v] [Class.test...]. What each program prints is shown when it fails. With SINEW_INSTALL_PREFIX, where sinew is installed
already, it is not installed anew.
"""

import json
import os
import re
import shlex
import shutil
import signal
import sys
import time
import unittest
import unittest.mock

from installed import EXAMPLES, HERE, ROOT, RUN_SECONDS, Case, Domain, compile_example, flags, install_command, installed, must


def setUpModule():
    global work, prefix
    work, prefix = installed()


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
        must([ROOT / "tools/check_headers.py", "--include", prefix / "include", "c++"])

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
        must(["cmake", "-S", HERE / "project", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXAMPLES={ROOT / 'examples'}", f"-DPROGRAMS={HERE / 'programs'}"])
        must(["cmake", "--build", build, "--parallel", "2", "--target", *EXAMPLES])
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


class Callbacks(Case):
    def test_of_every_kind_change_what_they_captured_by_reference_however_the_program_is_optimised(self):
        for level in "-O0", "-O1", "-Os", "-O2", "-O3":
            program = work / f"captures{level}"
            must(["c++", "-std=c++20", level, HERE / "programs/captures.cpp", *flags(), "-o", program])
            with self.subTest(level), Domain() as domain:
                self.assertEqual(self.assert_ends_well(domain, domain.start(program)), "all seen\n")

    def test_of_every_kind_end_the_program_with_the_text_of_an_exception_that_leaves_them(self):
        program = work / "exceptions"
        must(["c++", "-std=c++20", "-O2", HERE / "programs/exceptions.cpp", *flags(), "-o", program])
        kinds = "timer dispatch subscriber shared event watch call call_at_the_end feedback result filter ros_timer ros_subscription ros_answer"
        for kind in kinds.split():
            with self.subTest(kind), Domain() as domain:
                process = domain.start(program, kind)
                self.assertEqual(domain.finish(process), -signal.SIGABRT, domain.story())
                self.assertIn("no such calibration", domain.said(process))


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
            flow = json.loads(self.assert_ends_well(domain, domain.start(prefix / "bin/sinew", "topic", "hz", "--json", "--count", "1", "--interval", "5s", "chatter")))
            self.assertGreater(flow["hz"], 0)

    def test_of_another_domain_sees_nothing(self):
        with Domain() as domain:
            self.assertRegex(self.assert_ends_well(domain, domain.start(prefix / "bin/sinew", "node", "list")), r"\A[^\n]* has no nodes\n\Z")

    def test_is_installed_anew_while_it_runs_and_what_runs_goes_on(self):
        other = work / "installed-anew"
        (other / "bin").mkdir(parents=True)
        shutil.copytree(prefix / "lib", other / "lib", symlinks=True)
        for name in ("sinew", "sinewd"):
            shutil.copy(prefix / "bin" / name, other / "bin")
        with unittest.mock.patch.multiple(install_command, BUILD=work / "built", MANIFEST=work / "manifest"), Domain() as domain:
            (work / "built/release").mkdir(parents=True)
            shutil.copy(prefix / "bin/sinew", work / "built/release")
            running = domain.start(other / "bin/sinew", "domain", "watch")
            self.assertTrue(install_command.install("sinew", other))
            self.assertIsNone(running.poll(), domain.story())
            self.assertEqual(sorted(path.name for path in (other / "bin").iterdir()), ["sinew", "sinewd"])


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

    def test_S10_a_program_whose_library_links_sinew_for_itself_alone_or_not_builds_loans_in_place(self):
        build = work / "by-cmake-with-libraries"
        must(["cmake", "-S", HERE / "project", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXAMPLES={ROOT / 'examples'}", f"-DPROGRAMS={HERE / 'programs'}"])
        names = [f"{program}-{kind}-{how}" for program in ("one", "both") for kind in ("STATIC", "OBJECT", "SHARED") for how in ("PRIVATE", "PUBLIC")]
        must(["cmake", "--build", build, "--parallel", "2", "--target", *names])
        for name in names:
            with self.subTest(name):
                self.assertEqual(self.bytes_copied(build / name), 0)

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

    def test_a_loan_on_the_heap_may_push_out_a_message_whose_deleter_ends_the_publisher(self):
        host, plugin = self.build("host", "host.cpp"), self.build("ends.so", "ends.cpp", before=["-shared", "-fPIC"], after=flags())
        with Domain() as domain:
            receiver = domain.start(self.programs / "receiver")
            # What is freed is overwritten.
            self.assert_ends_well(domain, domain.start("env", "MALLOC_PERTURB_=165", host, plugin))
            domain.kill(receiver)

    def test_S10_a_preloaded_plugin_in_a_cpp_program_that_does_not_know_sinew_builds_loans_in_place(self):
        host, plugin = self.build("host", "host.cpp"), self.plugin("plugin.so")
        self.assertEqual(self.bytes_copied("env", f"LD_PRELOAD={plugin}", host, plugin), 0)

    def test_S10_a_plugin_in_a_c_program_builds_loans_in_place(self):
        host = self.build("c_host", "host.c", compiler="cc", standard="-std=c11")
        self.assertEqual(self.bytes_copied(host, self.plugin("c_plugin.so")), 0)


class Viewers(Case):
    """One program run five times beside a camera of full-HD images, each under a name of its own by SINEW_NODE. Each looks at every byte of every image, and of the three that it holds."""

    NAMES = [f"viewer{number}" for number in range(1, 6)]

    @classmethod
    def setUpClass(cls):
        for name in "camera", "viewer":
            # They fill and read hundreds of megabytes a second.
            must(["c++", "-std=c++20", "-O2", HERE / f"programs/{name}.cpp", *flags(), "-o", work / f"images-{name}"])

    def start(self, domain, name):
        return domain.start("env", f"SINEW_NODE={name}", work / "images-viewer")

    def start_all(self, domain):
        """The camera, and of each viewer its name and process, when each holds three images."""
        camera = domain.start(work / "images-camera")
        viewers = {name: self.start(domain, name) for name in self.NAMES}
        self.assert_viewed_by(domain, camera, self.NAMES, 1)
        self.assert_go_on(domain, viewers.values())
        return camera, viewers

    def assert_go_on(self, domain, viewers):
        """Each gets thirty more images, of which it holds three."""
        until = {viewer: len(self.images(domain, viewer)) + 30 for viewer in viewers}
        for viewer, times in until.items():
            self.assert_prints(domain, viewer, r"(?m)^image \d+, native, holds 3$", times)

    def assert_viewed_by(self, domain, camera, names, times):
        """By these and nobody else, as often as that was so."""
        self.assert_prints(domain, camera, rf"(?m)^viewed by {' '.join(names)}$", times)

    def images(self, domain, viewer):
        return re.findall(r"(?m)^image \d+, .+$", domain.said(viewer))

    def assert_viewers_end_well(self, domain, viewers):
        """With all images right, and three still held."""
        for viewer in viewers:
            viewer.terminate()
        for viewer in viewers:
            said = self.assert_ends_well(domain, viewer)
            self.assertRegex(said, rf"(?m)^seen {len(self.images(domain, viewer))}, held 3, wrong 0, not in place 0$", domain.story())

    def assert_camera_copied_nothing(self, domain, camera):
        camera.terminate()
        self.assertRegex(self.assert_ends_well(domain, camera), r"(?m)^published [1-9]\d*, refused 0, bytes copied 0$")

    def test_of_one_program_renamed_by_SINEW_NODE_get_right_images_in_place_five_times_and_nothing_is_copied(self):
        with Domain() as domain:
            camera, viewers = self.start_all(domain)
            self.assert_viewers_end_well(domain, viewers.values())
            self.assert_camera_copied_nothing(domain, camera)

    def test_go_on_beside_one_that_is_killed_while_it_holds_images_and_beside_the_next_of_its_name(self):
        with Domain() as domain:
            camera, viewers = self.start_all(domain)
            others = [name for name in self.NAMES if name != "viewer3"]
            # Once where viewer3 was the last to come.
            before = len(re.findall(rf"(?m)^viewed by {' '.join(others)}$", domain.said(camera)))
            domain.kill(viewers["viewer3"])
            self.assertEqual(viewers["viewer3"].returncode, -signal.SIGKILL)
            self.assert_viewed_by(domain, camera, others, before + 1)
            viewers["viewer3"] = self.start(domain, "viewer3")
            self.assert_viewed_by(domain, camera, self.NAMES, 2)
            self.assert_go_on(domain, viewers.values())
            self.assert_viewers_end_well(domain, viewers.values())
            self.assert_camera_copied_nothing(domain, camera)

    def test_hold_right_images_of_a_camera_that_is_killed_and_get_those_of_the_next(self):
        with Domain() as domain:
            killed, viewers = self.start_all(domain)
            domain.kill(killed)
            self.assertEqual(killed.returncode, -signal.SIGKILL)
            for viewer in viewers.values():
                self.assert_prints(domain, viewer, r"(?m)^cameras 0$", 1)
            # Two look at what they hold while there is no camera, the others also when the first image of the next one comes.
            self.assert_viewers_end_well(domain, [viewers.pop(name) for name in self.NAMES[:2]])
            camera = domain.start(work / "images-camera")
            self.assert_viewed_by(domain, camera, viewers, 1)
            self.assert_go_on(domain, viewers.values())
            self.assert_viewers_end_well(domain, viewers.values())
            self.assert_camera_copied_nothing(domain, camera)


class Subproject(Case):
    """sinew in the build of somebody else."""

    def test_is_what_is_installed_without_tests_and_points_at_which_they_kill(self):
        folder = work / "parent"
        folder.mkdir()
        (folder / "main.cpp").write_text("#include <sinew/sinew.hpp>\n#include <std_msgs/msg/string.hpp>\nint main() {}\n")
        (folder / "CMakeLists.txt").write_text(f"""
            cmake_minimum_required(VERSION 3.25)
            project(parent LANGUAGES CXX)
            add_subdirectory({ROOT} sinew)
            add_executable(program main.cpp)
            target_link_libraries(program PRIVATE sinew::sinew sinew::messages)
        """)
        must(["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja"])
        commands = (folder / "build/compile_commands.json").read_text()
        self.assertIn("src/api/node.cpp", commands)
        for word in "SINEW_TEST_POINTS", "_test.dir", "bench/", "examples/":
            self.assertNotIn(word, commands)


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
