"""Quick runs of bench/command.py and bench/gateway.py measure everything. How fast anything is, is not what this is about: the programs are those of developers."""

import pathlib
import sys
import tempfile
import unittest

import programs
from programs import bounded

ROOT = programs.ROOT
sys.path.insert(0, str(ROOT / "bench"))
import gateway_networks

# Only bounds a hang: beside others they take a multiple of their time.
SECONDS = 900


class Bench(unittest.TestCase):
    def test_a_quick_run_measures_everything(self):
        built = programs.programs()
        with tempfile.TemporaryDirectory() as folder:
            programs_of = ["--prefix", built.prefix, "--sinew", built.sinew, "--load", built.load]
            command = [sys.executable, ROOT / "bench/command.py", "--quick", *programs_of, "--folder", folder, "--output", folder]
            status, output = bounded.run([str(word) for word in command], seconds=SECONDS, capture=True, kill_rest=True)
            self.assertEqual(status, 0, output)
            report = (pathlib.Path(folder) / "command.md").read_text()
        self.assertNotIn("not measured", report)
        for row in ("| beside sinew top | ", "| /bin/true | 3 | ", "| sinew topic echo -1, 5.5 MB at 30 Hz | 3 | ", "| one write each | sinew record | lost at 165 MB/s | "):
            self.assertIn(row, report)

    def test_a_quick_run_measures_everything_between_machines(self):
        if why := gateway_networks.probe():
            self.skipTest(why)
        built = programs.programs()
        with tempfile.TemporaryDirectory() as folder:
            # Without Zenoh, which is fetched for the benchmark alone.
            programs_of = ["--prefix", built.prefix, "--gateway", built.gateway, "--programs", built.traffic.parent, "--zenoh", "/none"]
            command = [programs.PYTHON, ROOT / "bench/gateway.py", "--quick", *programs_of, "--output", folder]
            status, output = bounded.run([str(word) for word in command], seconds=SECONDS, capture=True, kill_rest=True)
            self.assertEqual(status, 0, output)
            report = (pathlib.Path(folder) / "gateway.md").read_text()
        for missing in ("not measured", "nothing came"):
            self.assertNotIn(missing, report)
        for row in ("| bare quinn | ", "| two gateways | ", "| no gateway, again | ", "| no gateway, bare quinn sends beside | ", "| sinew | ", "## 50 Mbit/s, 20 ms, 5 % lost"):
            self.assertIn(row, report)


if __name__ == "__main__":
    unittest.main()
