#!/usr/bin/env python3
"""Boots the kernel of an older Debian in an emulator (qemu), and runs the tests of the suite dev there, on the files of this machine.

Usage: old_kernel.py [--jobs N] [--debian RELEASE] [PROGRAM...]
       RELEASE: bullseye (Linux 5.10, the default) or bookworm (6.1)

    tools/old_kernel.py os_test shm_window_test

The emulator interprets: what takes a second here takes ten there. It sees the files of this machine, and can write none of them. The kernel comes by apt, from
where this machine takes its packages, and is kept in build/kernel/ for the next times. What is printed there is in build/kernel/RELEASE/console.log.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import bare_root
import bounded

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "build/kernel"
RELEASES = ("bullseye", "bookworm")
# Of the suite dev; those of the data path first. What is left out: benchmarks, examples and what needs minutes of a processor here.
PROGRAMS = (
    "base_test", "os_test", "shm_ring_test", "shm_death_test", "shm_window_test", "shm_scope_test", "wire_test", "msg_test", "manager_state_test",
    "manager_server_test", "session_test", "c_test", "message_filters_test", "rclcpp_test", "service_test", "system_test",
)  # fmt: skip
MEMORY = 8192  # MiB
FETCH_SECONDS, BOOT_SECONDS, PROGRAM_SECONDS = 600, 120, 1800
# What 9p over virtio and its file system need, in an order in which they can be loaded. A release lacks some, and has them in the kernel.
MODULES = ("virtio", "virtio_ring", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "netfs", "fscache", "9pnet", "9pnet_virtio", "9p")

# The first process there.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
for module in {modules}; do [ -f /modules/$module.ko ] && insmod /modules/$module.ko; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 machine /machine
mount -t tmpfs root /root
cd /root
mkdir -p etc proc sys dev run tmp {mounted}
for link in bin sbin lib lib64; do ln -s usr/$link $link; done
for folder in {mounted}; do mount --bind /machine/$folder $folder; done
for name in passwd group nsswitch.conf hosts ld.so.cache alternatives; do cp -a /machine/etc/$name etc/; done
mount -t proc proc proc
mount -t sysfs sys sys
mount --rbind /dev dev
mkdir -p dev/shm dev/pts
mount -t devpts pts dev/pts
for folder in dev/shm run tmp; do mount -t tmpfs -o mode=1777 tmpfs $folder; done
ip link set lo up
echo "=== Linux $(uname -r)"
for program in {programs}; do
  echo "=== $program"
  chroot . /usr/bin/env --chdir=/tmp HOME=/tmp PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin timeout {seconds} {bin}/$program --gtest_color=no 2>&1
  echo "=== $program ended with status $?"
done
poweroff -f
"""


def fetch(release):
    """The folder of the release's newest kernel as its package has it."""
    folder = CACHE / release
    if (folder / "boot").is_dir():
        return folder
    print(f"old_kernel.py: fetching the kernel of Debian's {release}, once", flush=True)
    apt = folder / "apt"
    for each in "lists/partial", "cache/archives/partial":
        (apt / each).mkdir(parents=True, exist_ok=True)
    listed = next(line for line in bare_root.sources(None).splitlines() if f" {bare_root.SUITE} " in line)
    (apt / "sources.list").write_text(listed.replace(f" {bare_root.SUITE} ", f" {release} ") + "\n")
    options = [f"-oDir::Etc::SourceList={apt}/sources.list", "-oDir::Etc::SourceParts=-", f"-oDir::State::Lists={apt}/lists", f"-oDir::Cache={apt}/cache"]

    def run(*command):
        status, said = bounded.run([command[0], *options, *command[1:]], seconds=FETCH_SECONDS, capture=True, cwd=apt)
        if status != 0:
            raise bare_root.Impossible(f"{' '.join(command)} with the sources of {release} failed:\n{said}")
        return said

    run("apt-get", "-qq", "update")
    package = re.search(r"Depends: (linux-image-\S+)", run("apt-cache", "depends", "linux-image-amd64"))[1]
    run("apt-get", "-qq", "download", package)
    subprocess.run(["dpkg-deb", "--extract", next(apt.glob("*.deb")), folder / "unpacked"], check=True)
    shutil.rmtree(apt)
    for part in "boot", "lib":
        (folder / "unpacked" / part).rename(folder / part)
    return folder


def make_init(folder, programs):
    """An archive of the first files that the kernel sees."""
    files = folder / "init"
    shutil.rmtree(files, ignore_errors=True)
    for each in "bin", "modules", "proc", "dev", "machine", "root":
        (files / each).mkdir(parents=True)
    shutil.copy("/bin/busybox", files / "bin/busybox")
    for module in MODULES:
        for path in (folder / "lib").rglob(f"{module}.ko"):
            shutil.copy(path, files / "modules")
    mounted = ["usr", str(ROOT).lstrip("/")]
    (files / "init").write_text(
        INIT.format(
            modules=" ".join(MODULES),
            mounted=" ".join(mounted),
            programs=" ".join(programs),
            seconds=PROGRAM_SECONDS,
            bin=ROOT / "build-dev/bin",
        )
    )
    (files / "init").chmod(0o755)
    archive = folder / "init.cpio"
    names = "\n".join(str(path.relative_to(files)) for path in sorted(files.rglob("*")))
    with open(archive, "wb") as sink:
        subprocess.run(["cpio", "--quiet", "--create", "--format=newc"], input=names.encode(), stdout=sink, cwd=files, check=True)
    return archive


def boot(folder, archive, programs):
    """What was printed there."""
    [kernel] = (folder / "boot").glob("vmlinuz-*")
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(os.cpu_count()), "-m", str(MEMORY), "-no-reboot"]
    command += ["-display", "none", "-vga", "none", "-serial", "stdio", "-monitor", "none"]
    command += ["-kernel", kernel, "-initrd", archive, "-append", "console=ttyS0 quiet panic=-1"]
    command += ["-virtfs", "local,path=/,mount_tag=machine,security_model=none,readonly=on,multidevs=remap"]
    _, said = bounded.run(command, seconds=BOOT_SECONDS + PROGRAM_SECONDS * len(programs), capture=True)
    (folder / "console.log").write_text(said)
    return said


def results(said, programs):
    """(passed, failed, skipped, what failed) of what was printed there."""
    passed = len(re.findall(r"^\[       OK \] ", said, re.MULTILINE))
    skipped = len(set(re.findall(r"^\[  SKIPPED \] ([\w/]+\.[\w/]+)", said, re.MULTILINE)))
    failures = []
    for program, status in re.findall(r"^=== (\w+) ended with status (\d+)", said, re.MULTILINE):
        words, said = said.split(f"=== {program} ended with status", 1)
        failed = dict.fromkeys(re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", words, re.MULTILINE))
        failures += [f"failed: {name}" for name in failed] or ([f"failed: {program} ended with status {status}"] if status != "0" else [])
        programs = [each for each in programs if each != program]
    failures += [f"failed: {program} was not run to its end" for program in programs]
    return passed, len(failures), skipped, failures


def run(release, programs):
    """(passed, failed, skipped, what failed), of programs that are built."""
    folder = fetch(release)
    said = boot(folder, make_init(folder, programs), programs)
    # What the firmware says before it is of no use.
    print(said[max(said.find("=== Linux "), 0) :], flush=True)
    return results(said, programs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--debian", choices=RELEASES, default=RELEASES[0], metavar="RELEASE")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", default=[])
    arguments = parser.parse_args()
    programs = arguments.programs or PROGRAMS
    if os.uname().machine != "x86_64":
        parser.error("this boots kernels for x86-64")
    for command in (
        ["cmake", "--log-level=WARNING", "--preset", "dev"],
        ["cmake", "--build", "--preset", "dev", "--parallel", str(arguments.jobs), "--target", *programs, "sinewd"],
    ):
        if bounded.run(command, seconds=3000, cwd=ROOT)[0] != 0:
            return 1
    try:
        passed, failed, skipped, failures = run(arguments.debian, programs)
    except bare_root.Impossible as why:
        sys.exit(f"old_kernel.py: {why}")
    print("\n".join(failures))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
