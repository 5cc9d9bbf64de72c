"""Answers what rosbags makes of definitions. Run by an interpreter that has it: oracle.py WORD <QUESTION >ANSWER, both in JSON.

typestores: of the releases of ROS 2 that have type hashes, the definition and the hash of each message.
"""

import json
import sys

from rosbags.typesys import Stores, get_typestore

RELEASES = ("ROS2_IRON", "ROS2_JAZZY", "ROS2_KILTED", "ROS2_LYRICAL")


def typestores():
    answer = {}
    for release in RELEASES:
        store = get_typestore(Stores[release])
        answer[release] = {name: {"text": store.gendefhash(name, {}, 2)[0], "hash": store.hash_rihs01(name)} for name in store.fielddefs}
    return answer


if __name__ == "__main__":
    json.dump({"typestores": typestores}[sys.argv[1]](**json.load(sys.stdin)), sys.stdout)
