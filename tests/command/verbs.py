"""Which verbs the command has, as its --help says."""

import re
import subprocess


def verbs(sinew, *words):
    """["topic list", "topic info", ..., "top"]: all that do something themselves."""
    told = subprocess.run([sinew, *words, "--help"], stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout
    section = re.search(r"(?m)^Commands:\n((?:.+\n)+)", told)
    if not section:
        return [" ".join(words)]
    names = re.findall(r"(?m)^  (\w\S*)", section[1])
    return [verb for name in names for verb in verbs(sinew, *words, name)]
