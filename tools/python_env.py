#!/usr/bin/env python3
"""Makes a virtual environment of Python: python_env.py [REQUIREMENTS FOLDER]

What is in it is what the file of requirements says, in these versions, and as wheels: nothing is compiled, and no code of theirs runs while they are installed.
Without arguments that is python_env.txt, the tools of others that tests compare sinew with. Prints the interpreter, for the variable SINEW_TEST_PYTHON. What is
there already is not made again.
"""

import os
import pathlib
import shutil
import sys

import bounded

REQUIREMENTS = pathlib.Path(__file__).with_suffix(".txt")
FOLDER = REQUIREMENTS.resolve().parent.parent / "build-rust" / "python"
# Debian's, for which tools/setup installs python3-venv; another one may come first in PATH.
PYTHON = "/usr/bin/python3"
SECONDS = 600


def make(requirements=REQUIREMENTS, folder=FOLDER):
    """The interpreter, or None when it could not be made; then it was said why."""
    interpreter = folder / "bin" / "python"
    made_of = folder / requirements.name
    wanted = requirements.read_text(encoding="utf-8")
    if made_of.exists() and made_of.read_text(encoding="utf-8") == wanted and interpreter.exists():
        return interpreter
    shutil.rmtree(folder, ignore_errors=True)
    for command in (
        [PYTHON if os.access(PYTHON, os.X_OK) else sys.executable, "-m", "venv", folder],
        [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
         "--requirement", requirements],
    ):
        status, output = bounded.run(command, seconds=SECONDS, capture=True)
        if status != 0:
            print(f"{output}{requirements.name} could not be installed; the words of what failed are above. It needs a package index that pip reaches, and python3-venv.")
            return None
    # Last, so that a run that was interrupted is not taken for a whole one.
    made_of.write_text(wanted, encoding="utf-8")
    return interpreter


def main():
    if len(sys.argv) not in (1, 3):
        sys.exit("python_env.py has no arguments, or a file of requirements and a folder")
    interpreter = make(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))
    if interpreter is None:
        return 1
    print(interpreter)
    return 0


if __name__ == "__main__":
    sys.exit(main())
