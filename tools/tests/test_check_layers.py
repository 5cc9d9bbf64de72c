"""The sentences that tools/check_layers.py stands for, each on a small tree of its own."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import check_layers


class CheckLayers(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return check_layers.check(folder)

    def assert_one(self, files, *parts):
        found = self.violations(files)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_a_layer_may_include_itself_and_what_is_below(self):
        self.assertEqual(
            self.violations(
                {
                    "include/sinew/error.hpp": "#include <string>\n",
                    "src/os/fd.hpp": '#include <unistd.h>\n#include "sinew/error.hpp"\n',
                    "src/shm/ring.hpp": '#include "os/fd.hpp"\n#include "shm/layout.hpp"\n',
                    "src/shm/layout.hpp": "#include <atomic>\n",
                    "src/api/node.cpp": '#include "shm/ring.hpp"\n',
                }
            ),
            [],
        )

    def test_a_layer_beside_is_refused_with_file_and_line(self):
        self.assert_one(
            {"src/wire/a.cpp": '#include <vector>\n#include "shm/ring.hpp"\n', "src/shm/ring.hpp": ""},
            "src/wire/a.cpp:2: ",
            "'wire' includes src/shm/ring.hpp of layer 'shm'",
        )

    def test_a_layer_above_is_refused(self):
        self.assert_one({"src/os/a.cpp": '#include "session/s.hpp"\n', "src/session/s.hpp": ""}, "stands on base only")

    def test_msg_may_not_use_os(self):
        self.assert_one({"src/msg/a.cpp": '#include "os/fd.hpp"\n', "src/os/fd.hpp": ""}, "layer 'msg'")

    def test_the_manager_may_not_use_shared_memory(self):
        self.assert_one({"manager/server/d.hpp": '#include "shm/ring.hpp"\n', "src/shm/ring.hpp": ""}, "layer 'manager'")

    def test_what_is_pure_may_not_use_os(self):
        for pure in "src/wire/", "src/msg/", "manager/state/":
            self.assert_one({pure + "d.hpp": '#include "os/fd.hpp"\n', "src/os/fd.hpp": ""}, "of layer 'os'")

    def test_topics_stand_without_services(self):
        core, service = '#include "api/core.hpp"\n', '#include "api/service_impl.hpp"\n'
        files = {"src/api/core.hpp": "", "src/api/service_impl.hpp": core, "src/api/action_core.cpp": core + service}
        self.assertEqual(self.violations(files), [])
        self.assert_one({**files, "src/api/core.cpp": service}, "layer 'api'", "'api services'")

    def test_an_include_relative_to_its_file_counts_too(self):
        self.assert_one({"src/wire/a.cpp": '#include "../shm/ring.hpp"\n', "src/shm/ring.hpp": ""}, "layer 'wire'")

    def test_an_installed_header_includes_only_installed_headers(self):
        self.assert_one({"include/sinew/node.hpp": '#include "session/s.hpp"\n', "src/session/s.hpp": ""}, "not installed")

    def test_examples_see_what_users_see(self):
        self.assert_one(
            {
                "examples/demo/a.cpp": '#include "link.hpp"\n#include <sinew/node.hpp>\n#include "os/fd.hpp"\n',
                "examples/demo/link.hpp": "",
                "include/sinew/node.hpp": "",
                "src/os/fd.hpp": "",
            },
            "examples/demo/a.cpp:3: ",
        )

    def test_only_what_measures_the_inside_sees_layers(self):
        inside = '#include "parts/part.hpp"\n#include "msg/walk.hpp"\n'
        files = {"bench/parts/inside/a.cpp": inside, "bench/parts/part.hpp": "", "src/msg/walk.hpp": "", "src/session/s.hpp": ""}
        self.assertEqual(self.violations(files), [])
        self.assert_one({**files, "bench/parts/a.cpp": inside}, "bench/parts/a.cpp:2: ", "not installed")
        self.assert_one({**files, "bench/parts/inside/b.cpp": '#include "session/s.hpp"\n'}, "layer 'bench inside'")

    def test_only_the_seam_makes_system_calls(self):
        self.assert_one({"src/wire/a.cpp": "#include <sys/socket.h>\n"}, "makes no system calls")
        self.assert_one({"manager/state/a.cpp": "#include <unistd.h>\n"}, "makes no system calls")
        self.assert_one({"src/session/a.cpp": "#include <unistd.h>\n"}, "makes no system calls")
        self.assert_one({"include/sinew/a.hpp": "#include <unistd.h>\n"}, "makes no system calls")
        self.assertEqual(self.violations({"src/os/a.cpp": "#include <unistd.h>\n", "src/wire/tests/t.cpp": "#include <unistd.h>\n"}), [])

    def test_a_circle_is_told_once_with_its_way(self):
        self.assert_one(
            {"src/os/a.hpp": '#include "os/b.hpp"\n', "src/os/b.hpp": '\n#include "os/c.hpp"\n', "src/os/c.hpp": '#include "os/a.hpp"\n'},
            "src/os/a.hpp:1: ",
            "src/os/a.hpp -> src/os/b.hpp -> src/os/c.hpp -> src/os/a.hpp",
        )

    def test_two_ways_to_one_header_are_no_circle(self):
        self.assertEqual(
            self.violations(
                {
                    "src/os/a.hpp": '#include "os/b.hpp"\n#include "os/c.hpp"\n',
                    "src/os/b.hpp": '#include "os/d.hpp"\n',
                    "src/os/c.hpp": '#include "os/d.hpp"\n',
                    "src/os/d.hpp": "",
                }
            ),
            [],
        )


if __name__ == "__main__":
    unittest.main()
