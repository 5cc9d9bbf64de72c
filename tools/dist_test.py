#!/usr/bin/env python3
"""Installs what `make dist` has made into bare Debians, as those do who get it, and uses it there; ends with a table of what was tried.

Usage: dist_test.py [--keep] [PART...]        parts: debian wheel archive; without names all

Each part has a fresh Debian 12 (tools/bare_root.py), which has nothing of this machine but the files of build/dist. Needs root, and the registries of packages.
All that was printed is in build/dist/test-PART.log.
"""

import argparse
import dataclasses
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

import bare_root
import dist

# Of one step; the longest compiles all of sinew.
SECONDS = 2400
SOURCES = f"/srv/sinew-{dist.version()}"
APT = "apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq --yes -o APT::Keep-Downloaded-Packages=0 "
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
find_package(sinew 0.1 REQUIRED)
foreach(program talker listener)
  add_executable(${program} %s/examples/${program}.cpp)
  target_link_libraries(${program} PRIVATE sinew::sinew)
endforeach()
""" % SOURCES
# What there is but for what is known to be of others: the packages of apt, the loader's list, logs.
FILES = "find / -xdev \\( -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log -o -path /root -o -path /srv -o -path /tmp \\) -prune -o -print | sort"


@dataclasses.dataclass
class Step:
    what: str
    command: str
    wanted: str = ""  # what has to be printed


def talk(talker, listener):
    """The listener prints three messages of the talker."""
    enough = "grep -c 'hello for time number' /tmp/said | grep -v '^[012]$'"
    return f"{talker} & {listener} > /tmp/said & for _ in {{1..300}}; do sleep 0.1; if {enough}; then break; fi; done; cat /tmp/said; kill $(jobs -p); {enough}"


def compiled(into):
    return f'mkdir -p {into} && for program in talker listener; do c++ -std=c++20 -O2 {SOURCES}/examples/$program.cpp $(pkg-config --cflags --libs sinew) -o {into}/$program || exit 1; done'


def debian():
    """apt install ./sinew_*.deb ./sinew-dev_*.deb"""
    return [
        Step("apt installs the compilers", APT + "install --no-install-recommends g++ pkg-config cmake ninja-build python3"),
        Step("what is there before", f"{FILES} > /tmp/before && wc -l /tmp/before"),
        Step("apt install ./*.deb", "DEBIAN_FRONTEND=noninteractive apt-get -qq --yes install --no-install-recommends /srv/*.deb"),
        Step("nothing of Fast DDS came with it", "! dpkg-query --show | grep -i -E 'fastrtps|fastcdr'"),
        Step("no file names where it was built", "! dpkg -L sinew sinew-dev | while read -r path; do [ -d $path ] || echo $path; done | xargs grep -l -E 'build/dist|debian/tmp'"),
        Step("pkg-config: talker and listener", f"{compiled('/tmp/by-pkg-config')} && ! ldd /tmp/by-pkg-config/talker | grep 'not found'"),
        Step("pkg-config: messages arrive", talk("/tmp/by-pkg-config/talker", "/tmp/by-pkg-config/listener"), "talker: hello"),
        Step("find_package(): talker and listener", f"mkdir /tmp/user && cd /tmp/user && printf %s {shlex.quote(PROJECT)} > CMakeLists.txt && cmake -G Ninja -B build && cmake --build build"),
        Step("find_package(): messages arrive", talk("/tmp/user/build/talker", "/tmp/user/build/listener"), "talker: hello"),
        Step("sinew-msggen", "sinew-msggen signature sensor_msgs/msg/Image", "sensor_msgs/msg/Image{"),
        Step("sinew topic list", "/tmp/user/build/talker & talker=$!; sleep 2; sinew topic list; kill $talker", "chatter"),
        Step("sinew doctor", "sinew doctor || [ $? = 1 ]", "sinew"),
        Step("sinew launch --help", "sinew launch --help", "launch"),
        Step("sinew-gateway certs init", "sinew-gateway certs init --folder /tmp/certs"),
        Step("completions of bash, zsh and fish", "ls /usr/share/bash-completion/completions/sinew /usr/share/zsh/vendor-completions/_sinew /usr/share/fish/vendor_completions.d/sinew.fish"),
        Step("apt remove leaves nothing", f"apt-get -qq --yes purge sinew sinew-dev && {FILES} > /tmp/after && grep --quiet /usr/bin/pkg-config /tmp/before && diff /tmp/before /tmp/after"),
    ]


def wheel():
    """pip install sinew-*.whl"""
    return [
        Step("apt installs python3-venv", APT + "install --no-install-recommends python3-venv"),
        Step("pip install", "python3 -m venv /root/env && /root/env/bin/pip install --disable-pip-version-check --quiet /srv/*.whl"),
        Step("messages arrive", talk(f"/root/env/bin/python -u {SOURCES}/examples/python/talker.py", f"/root/env/bin/python -u {SOURCES}/examples/python/listener.py"), "hello"),
        Step("messages of ROS 2 are known", "/root/env/bin/python -c 'import sinew.msgs.sensor_msgs.msg as m; print(m.Image())'"),
    ]


def archive():
    """make install PREFIX=... in the unpacked archive"""
    found = "export PKG_CONFIG_PATH=/root/opt/sinew/lib/pkgconfig PATH=/root/opt/sinew/bin:$PATH; "
    return [
        Step("make install", f"make -C {SOURCES} install PREFIX=/root/opt/sinew"),
        Step("pkg-config: talker and listener", found + compiled("/tmp/by-pkg-config")),
        Step("messages arrive", talk("/tmp/by-pkg-config/talker", "/tmp/by-pkg-config/listener"), "talker: hello"),
        Step("sinew topic list", found + "/tmp/by-pkg-config/talker & talker=$!; sleep 2; sinew topic list; kill $talker", "chatter"),
    ]


PARTS = {part.__name__: part for part in (debian, wheel, archive)}


def do(root, step, log):
    """Whether it went well. What it prints is in the log meanwhile."""
    log.write(f"\n$ {step.command}\n")
    log.flush()
    command = root.command(["timeout", "--kill-after=5", str(SECONDS), "bash", "-c", step.command], cwd="/root")
    before = pathlib.Path(log.name).stat().st_size
    status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    said = pathlib.Path(log.name).read_bytes()[before:].decode(errors="replace")
    log.write(f"# status {status}\n")
    log.flush()
    return status == 0 and step.wanted in said


def tried(name, keep):
    """Rows of the table: (part, step, seconds, how it went). A step that fails is the last one."""
    root = bare_root.make()
    rows = []
    try:
        shutil.copy("/etc/resolv.conf", root.path("/etc/resolv.conf"))
        made = {"debian": "*.deb", "wheel": "*.whl"}.get(name)
        for path in dist.OUT.glob(made) if made else ():
            shutil.copy(path, root.path("/srv"))
        subprocess.run(["tar", "--extract", "--file", dist.OUT / f"sinew-{dist.version()}.tar.gz", "--directory", root.path("/srv")], check=True)
        (dist.OUT / f"test-{name}.log").unlink(missing_ok=True)
        with root, open(dist.OUT / f"test-{name}.log", "a", encoding="utf-8") as log:
            for step in PARTS[name]():
                start = time.monotonic()
                well = do(root, step, log)
                rows.append((name, step.what, time.monotonic() - start, "ok" if well else f"FAILED: see build/dist/test-{name}.log"))
                print("{:<8} {:<40} {:6.1f} s  {}".format(*rows[-1]), flush=True)
                if not well:
                    break
    finally:
        if keep:
            print(f"dist_test.py: kept; to look around: tools/bare_root.py --root {shlex.quote(str(root.folder))} --keep", file=sys.stderr)
        else:
            bare_root.remove(root)
    return rows


def main():
    described = "\n".join(f"  {name:<10}{part.__doc__}" for name, part in PARTS.items())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=f"parts:\n{described}")
    parser.add_argument("--keep", action="store_true", help="do not remove the roots afterwards")
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.parts if name not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)}; there are: {', '.join(PARTS)}")
    try:
        rows = [row for name in arguments.parts or PARTS for row in tried(name, arguments.keep)]
    except bare_root.Impossible as error:
        print(f"dist_test.py: {error}", file=sys.stderr)
        return 2
    failed = sum(row[3] != "ok" for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
