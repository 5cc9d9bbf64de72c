"""Networks of two machines, "robot" and "base", for bench/gateway.py: namespaces of the kernel, and a cable between them that is as good or bad as is wanted."""
import contextlib
import os
import pathlib
import subprocess

from compare.processes import Failed

CABLE = "wire"
ADDRESSES = {"robot": "10.77.0.1", "base": "10.77.0.2"}
# A burst that the kernel's timer can serve; what waits longer than its latency is lost, as in a radio's queue.
TBF = ("tbf", "rate", "{rate}bit", "burst", "64kb", "latency", "50ms")
PATIENCE_S = 20


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode != 0:
        raise Failed(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Network:
    """Two namespaces, while it is entered. `link`: None, a plain cable; {"tbf": bits a second}; or {"rate": bits a second, "delay": ms, "loss": percent}, by the emulator."""

    def __init__(self, link, emulator):
        self.link, self.emulator = link or {}, emulator
        self.names = {side: f"sinew_bench_{os.getpid()}_{side}" for side in ADDRESSES}

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for name in self.names.values():
                ip("netns", "add", name)
                stack.callback(ip, "netns", "del", name)
                ip("-n", name, "link", "set", "lo", "up")
            if "delay" in self.link:
                self.emulate(stack)
            else:
                ip("link", "add", CABLE, "netns", self.names["robot"], "type", "veth", "peer", "name", CABLE, "netns", self.names["base"])
            for side, name in self.names.items():
                ip("-n", name, "addr", "add", f"{ADDRESSES[side]}/24", "dev", CABLE)
                ip("-n", name, "link", "set", CABLE, "up")
                if "tbf" in self.link:
                    words = [word.format(rate=self.link["tbf"]) for word in TBF]
                    subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", CABLE, "root", *words], check=True, timeout=PATIENCE_S)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def emulate(self, stack):
        ends = [word for side, flag in (("robot", "--a"), ("base", "--b")) for word in (flag, f"{self.names[side]}:{CABLE}")]
        process = subprocess.Popen([self.emulator, *ends, *(word for key, value in self.link.items() for word in (f"--{key}", str(value)))],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stack.callback(process.wait, PATIENCE_S)
        stack.callback(process.stdin.close)
        if process.stdout.readline() != b"ready\n":
            raise Failed("there is no emulated network: see above")

    def inside(self, side):
        """What goes before a command that is to run on that machine."""
        return ["ip", "netns", "exec", self.names[side]]

    def sent_bytes(self):
        """By both ends of the cable so far: Ethernet frames, without what goes around them."""
        def of(side):
            command = [*self.inside(side), "cat", f"/sys/class/net/{CABLE}/statistics/tx_bytes"]
            return int(subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE_S).stdout)
        return sum(map(of, self.names))


def probe():
    """Why networks cannot be made here; None: they can."""
    if os.geteuid() != 0:
        return "networks are made by root alone"
    if not pathlib.Path("/dev/net/tun").exists():
        return "the cable that loses packets needs /dev/net/tun, which is not there, as in many containers"
    try:
        with Network(None, pathlib.Path()):
            return None
    except (Failed, OSError) as why:
        return str(why)
