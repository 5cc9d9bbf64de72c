"""What tests compare msggen with: definitions of others, which are not in this repository, and rosbags (PyPI), which reads and encodes them by itself."""

import functools
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "msggen"), str(ROOT / "tools")]

import python_env  # noqa: E402

DEFINITIONS = ROOT / "msggen" / "definitions"
ORACLE = pathlib.Path(__file__).resolve().parent / "oracle.py"
SECONDS = 600


def folders_of_ros_2():
    """Folders of packages as ROS 2 has them, on whose absence a test is skipped."""
    shared = pathlib.Path(os.environ.get("SINEW_MESSAGE_DEFINITIONS") or ROOT.parent / "shared" / "data" / "msgs")
    folders = sorted(folder for folder in shared.iterdir() if folder.is_dir()) if shared.is_dir() else []
    if not folders:
        raise unittest.SkipTest(f"there are no definitions of ROS 2 in {shared} (SINEW_MESSAGE_DEFINITIONS), as REPOSITORY/PACKAGE/msg/Name.msg")
    return folders


def definitions_in(folder):
    """Files PACKAGE/{msg,srv,action}/Name.{msg,srv,action} of a folder, by names such as std_msgs/msg/String."""
    found = {}
    for kind in ("msg", "srv", "action"):
        for path in sorted(folder.glob(f"*/{kind}/*.{kind}")):
            found[f"{path.parent.parent.name}/{kind}/{path.stem}"] = path
    return found


@functools.lru_cache(maxsize=None)
def interpreter():
    """A Python that has rosbags."""
    made = os.environ.get("SINEW_TEST_PYTHON") or python_env.make()
    if not made:
        raise AssertionError("there is no rosbags to compare with: tools/python_env.py could not install it")
    return str(made)


def ask(*words, **question):
    """What the oracle answers."""
    asked = subprocess.run([interpreter(), ORACLE, *words], input=json.dumps(question), capture_output=True, text=True, timeout=SECONDS, check=False)
    if asked.returncode != 0:
        raise AssertionError(f"{ORACLE.name} {' '.join(words)}: {asked.stderr}")
    return json.loads(asked.stdout)
