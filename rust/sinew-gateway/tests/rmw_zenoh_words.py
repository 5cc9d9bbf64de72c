"""What nodes with rmw_zenoh say, by its published rules, for rmw_zenoh_peer.py."""

import json
import struct
import threading
import time

import xxhash

# A call takes at most.
SECONDS = 60
saying = threading.Lock()


def say(**what):
    with saying:
        print(json.dumps(what), flush=True)


def gid_of(token):
    return xxhash.xxh3_128_intdigest(token.encode()).to_bytes(16, "little")


def beside(number, gid, age=0):
    return struct.pack("<qqB16s", number, time.time_ns() - age * 10**9, 16, gid)


def read_beside(attachment):
    """The number and the gid; raises where it is not as it should be."""
    if attachment is None:
        raise ValueError("there is no attachment")
    number, at, size, gid = struct.unpack("<qqB16s", attachment.to_bytes())
    if number < 1 or size != 16 or abs(time.time_ns() - at) > 3600 * 10**9:
        raise ValueError(f"the attachment is {attachment.to_bytes().hex()}")
    return number, gid


def qos_of(asked):
    reliability, durability = "" if asked.get("reliable", True) else 2, 1 if asked.get("transient_local") else ""
    deadline = f"0,{asked['deadline_ms'] * 10**6}" if "deadline_ms" in asked else ","
    return f"{reliability}:{durability}:,{asked.get('depth', 10)}:{deadline}:,:,,"


def wait(until):
    begin = time.monotonic()
    while not (found := until()):
        if time.monotonic() - begin > 20:
            raise TimeoutError("in vain")
        time.sleep(0.002)
    return found
