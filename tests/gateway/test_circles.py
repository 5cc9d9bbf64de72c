#!/usr/bin/env python3
"""What keeps messages between machines from going round in circles, for `make seeded`: tests of the gateway, which are in Rust, built and run by name (rust/sinew-gateway/tests/onward.rs).

By hand: tests/gateway/test_circles.py [-v] [Class.test...]. With SINEW_CIRCLES_PREFIX, where the library is installed, that is not built.
"""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
import bounded
import rust

BUILD_SECONDS = 1700
RUN_SECONDS = 300


def setUpModule():
    global environment
    environment = rust.environment("test")
    if prefix := os.environ.get("SINEW_CIRCLES_PREFIX"):
        environment |= {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig", "LD_LIBRARY_PATH": f"{prefix}/lib", "CARGO_TARGET_DIR": os.environ["CARGO_TARGET_DIR"]}
    elif not rust.install(os.environ.get("JOBS", "2")):
        raise AssertionError("the library does not build")


class Circles(unittest.TestCase):
    def assert_passes(self, name):
        # With all features, as the tests of the workspace: what they have built is not built again.
        test = ["cargo", "test", "--package", "sinew-gateway", "--all-features", "--locked", "--test", "onward"]
        for command, seconds in ([[*test, "--no-run"], BUILD_SECONDS], [[*test, "--", "--exact", name], RUN_SECONDS]):
            status, said = bounded.run(command, seconds=seconds, capture=True, env=environment, cwd=rust.WORKSPACE, kill_rest=True)
            self.assertEqual(status, 0, said)
        self.assertIn("test result: ok. 1 passed", said)

    def test_G1_what_a_gateway_has_brought_itself_it_sends_to_no_peer(self):
        self.assert_passes("what_a_gateway_has_brought_itself_it_sends_to_no_peer")

    def test_G1_in_a_ring_of_gateways_nothing_goes_round_and_nothing_is_wanted_for_ever(self):
        self.assert_passes("in_a_ring_of_gateways_that_all_send_onward_nothing_goes_round_and_nothing_is_wanted_for_ever")


if __name__ == "__main__":
    unittest.main()
