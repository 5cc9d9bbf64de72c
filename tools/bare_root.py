#!/usr/bin/env python3
"""Runs a command in a bare Debian 12: what a minimal system has, git, make and ca-certificates, and nothing that this machine has beside.

Usage: bare_root.py [options] [-- COMMAND...]        without a command: a shell

    tools/bare_root.py -- apt-get --version                   in a root that is thrown away afterwards
    tools/bare_root.py --clone -- make -C sinew demo          with a clone of what is committed here, in the home folder
    tools/bare_root.py --root /tmp/robot --keep               in one that stays, and is taken as it is the next time

The root is a folder with namespaces of mounts and processes of its own, and the network of this machine: what the command mounts is gone with
it, and whatever it leaves running ends with it. It is no jail: the command is root. It takes packages from where this machine takes them, as apt, pip and
cargo are set up here. The first time, debootstrap makes the root, which takes one to three minutes; it is kept in build/bare/ for the next times. Needs root.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "build/bare"
SUITE = "bookworm"
# Beside what is essential in Debian, apt, and what these need. A minimal installation has certificates; the README asks for the other two.
PACKAGES = "ca-certificates,git,make"
USER = "stranger"
# How to reach what is elsewhere, and whom to trust there. Nothing that says who asks.
PASSED_ON = re.compile(r"((https?|ftp|all|no)_proxy|SSL_CERT_(FILE|DIR)|(REQUESTS_CA|CURL_CA)_BUNDLE|GIT_SSL_CAINFO|PIP_\w+|CARGO_(HTTP|NET|REGISTRIES|SOURCE)_\w+)", re.IGNORECASE)
SECRET = re.compile("TOKEN|PASSWORD|SECRET|CREDENTIAL", re.IGNORECASE)
APT_NETWORK = re.compile(r"Acquire::(https?|ftp|Proxy|Retries|ForceIPv|Check-|Max-ValidTime|AllowInsecure|AllowWeak|AllowDowngrade)", re.IGNORECASE)

# Runs as the first process of its namespace, which stays until the command has ended, and ends all others. The folder becomes the root of the namespace: in a
# mere chroot, what makes containers finds the paths of this machine.
ENTER = r"""
root=$1 user=$2; shift 2
mount --make-rprivate / && mount --bind "$root" "$root" && cd "$root" || exit 125
{
  mount -t proc proc proc
  mount --rbind /sys sys
  mount -t tmpfs -o mode=755 tmpfs run
  mount -t tmpfs -o mode=755,nosuid tmpfs dev
  mkdir dev/pts dev/shm dev/net
  mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
  mount -t tmpfs -o mode=1777 tmpfs dev/shm
  for node in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "dev/${node%:*}" c 1 "${node#*:}"; done
  mknod -m 666 dev/tty c 5 0
  mknod -m 666 dev/net/tun c 10 200
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  for number in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${number%:*}" "dev/${number#*:}"; done
} || exit 125
pivot_root . . && umount --lazy . && cd / || exit 125
chroot --userspec="$user" / "$@"
exit $?
"""


class Impossible(Exception):
    """A sentence about what is missing, and what to do."""


def sources(mirror):
    """Lines of apt's sources of the suite: those of this machine, or of a mirror that somebody names."""
    if mirror:
        return f"deb {mirror} {SUITE} main\n"
    known = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    here = known.get("VERSION_CODENAME", SUITE).strip('"')
    folder = pathlib.Path("/etc/apt")
    found = []
    for path in [folder / "sources.list", *sorted(folder.glob("sources.list.d/*.list")), *sorted(folder.glob("sources.list.d/*.sources"))]:
        if not path.is_file():
            continue
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        # A paragraph of deb822, or a line.
        for entry in re.split(r"\n\s*\n", "\n".join(lines)) if path.suffix == ".sources" else lines:
            kept = one_line_sources(entry) if path.suffix == ".sources" else [entry]
            found += [re.sub(rf"(?<![\w-]){here}(?=[-/ ]|$)", SUITE, line) for line in kept if re.search(rf"^deb .*\s{here}(-updates|-security|/updates)?\s", line)]
    if not found:
        raise Impossible(f"apt has no source of Debian's {here} here: name a mirror that this machine reaches, --mirror URL")
    return "".join(f"{line}\n" for line in found)


def one_line_sources(paragraph):
    fields = dict(re.findall(r"(?m)^([\w-]+):[ \t]*(.*)$", paragraph))
    if "deb" not in fields.get("Types", "").split() or fields.get("Enabled", "yes") == "no":
        return []
    return [f"deb {uri} {suite} {fields.get('Components', '')}" for uri in fields.get("URIs", "").split() for suite in fields.get("Suites", "").split()]


def apt_settings():
    """What apt is told here about reaching its sources."""
    dumped = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    return "".join(f"{line}\n" for line in dumped.splitlines() if APT_NETWORK.match(line))


def environment(root, user):
    """Of the command: that of a new terminal, and the way to the network."""
    home = "/root" if user == "root" else f"/home/{user}"
    own = {"HOME": home, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": os.environ.get("TERM", "dumb"),
           "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" if user == "root" else "/usr/local/bin:/usr/bin:/bin"}
    for name, value in os.environ.items():
        # A path that is here and not there is nothing to pass on.
        if PASSED_ON.fullmatch(name) and not SECRET.search(name) and not (value.startswith("/") and not (root / value.lstrip("/")).exists()):
            own[name] = value
    return own


def copy(source, target):
    """A file, when there is one."""
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def set_up(root, listed, settings):
    """Has the root reach what this machine reaches."""
    (root / "etc/apt/sources.list").write_text(listed)
    if settings:
        (root / "etc/apt/apt.conf.d/90-of-the-host").write_text(settings)
    here = pathlib.Path("/usr/local/share/ca-certificates")
    for path in here.rglob("*.crt") if here.is_dir() else ():
        copy(path, root / "usr/local/share/ca-certificates" / path.relative_to(here))
    copy(pathlib.Path("/etc/pip.conf"), root / "etc/pip.conf")
    cargo = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    for home in root / "root", root / "home" / USER:
        for name in "config", "config.toml":
            copy(cargo / name, home / ".cargo" / name)
        copy(pathlib.Path.home() / ".config/pip/pip.conf", home / ".config/pip/pip.conf")


def make_tarball(mirror, anew):
    """The path of a tarball of the root, made unless it is there and was made of the same."""
    listed, settings = sources(mirror), apt_settings()
    # debootstrap has one mirror; what is newer comes by apt.
    first = next(line for line in listed.splitlines() if f" {SUITE} " in line)
    made_of = f"{listed}{settings}{PACKAGES}\n"
    tarball, description = CACHE / f"{SUITE}.tar", CACHE / f"{SUITE}.txt"
    if not anew and tarball.exists() and description.exists() and description.read_text() == made_of:
        return tarball
    print(f"bare_root.py: making a bare Debian ({SUITE}), once; takes one to three minutes", file=sys.stderr, flush=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="new-") as folder:
        root = pathlib.Path(folder) / "root"
        uri = next(word for word in re.sub(r"\[.*?\]", "", first).split() if "://" in word)
        log = CACHE / "debootstrap.log"
        with open(log, "wb") as sink:
            command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, root, uri]
            # Like everything that mounts: in namespaces that end with it.
            if subprocess.run(["unshare", "--mount", *command], stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, check=False).returncode != 0:
                tail = "\n".join(log.read_text(errors="replace").splitlines()[-5:])
                raise Impossible(f"debootstrap made no {SUITE} out of {uri}; all of its words are in {log}, the last ones:\n{tail}")
        set_up(root, listed, settings)
        inside = "update-ca-certificates && apt-get -qq update && apt-get -qq --yes upgrade && apt-get clean && rm -rf /var/lib/apt/lists/*"
        inside += f" && useradd --create-home --shell /bin/bash {USER} && chown -R {USER}: /home/{USER}"
        with open(log, "ab") as sink:
            if BareRoot(root).run(["sh", "-c", inside], stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env={"DEBIAN_FRONTEND": "noninteractive"}) != 0:
                raise Impossible(f"apt in the new root failed; its words are at the end of {log}")
        unfinished = CACHE / f"{SUITE}.tar.new"
        subprocess.run(["tar", "--create", "--numeric-owner", "--xattrs", "--file", unfinished, "--directory", root, "."], check=True)
        description.unlink(missing_ok=True)
        unfinished.replace(tarball)
        description.write_text(made_of)
    return tarball


class BareRoot:
    """A root in a folder. Each command has namespaces of its own, and nothing is mounted or runs but while it does; inside of a `with` of the root they all
    share theirs, as in the terminals of one machine, until its end."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.holder, self.first = None, None

    def __enter__(self):
        self.holder = subprocess.Popen(self.command(["sh", "-c", "echo ready; exec sleep infinity"]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
        if self.holder.stdout.readline() != b"ready\n":
            self.__exit__()
            raise Impossible(f"no namespaces could be made for {self.folder}; why not stands above")
        [self.first] = pathlib.Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text().split()
        return self

    def __exit__(self, *_):
        """Ends all that runs there."""
        self.holder.kill()
        self.holder.stdout.close()
        self.holder.wait()
        self.holder, self.first = None, None

    def path(self, inside):
        """Where in this machine that is which the root has as `inside`."""
        return self.folder / str(inside).lstrip("/")

    def command(self, words, *, user="root", env=None, cwd=None):
        """What to run here, so that it runs `words` there. Killing it ends all that they started; inside of a `with`, killing its process group does so."""
        own = environment(self.folder, user) | (env or {})
        inside = ["env", "-i", "--chdir", str(cwd or own["HOME"]), *(f"{name}={value}" for name, value in own.items()), *map(str, words)]
        if self.first:
            return ["nsenter", f"--target={self.first}", "--mount", "--pid", "chroot", f"--userspec={self.ids(user)}", "/", *inside]
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", str(self.folder), self.ids(user), *inside]

    def ids(self, user):
        for line in self.path("/etc/passwd").read_text().splitlines():
            name, _, uid, gid, *_ = line.split(":")
            if name == user:
                return f"{uid}:{gid}"
        raise Impossible(f"{self.folder} has no user {user}; there are root and {USER}")

    def run(self, words, *, user="root", env=None, cwd=None, **how):
        """Its exit status; `how` is what subprocess.run() takes."""
        # The names that are resolved may have other servers than at the last command.
        shutil.copy("/etc/resolv.conf", self.path("/etc/resolv.conf"))
        return subprocess.run(self.command(words, user=user, env=env, cwd=cwd), check=False, **how).returncode

    def put_repository(self, inside="/srv/sinew.git", user="root"):
        """What is committed here, as a repository for the user to clone: git takes none of others that is a folder."""
        target = self.path(inside)
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", "--bare", "--no-hardlinks", "--single-branch", ROOT, target], check=True)
        subprocess.run(["chown", "--recursive", self.ids(user), target], check=True)
        return inside

    def allow_sudo(self):
        """The user may do everything, without a password."""
        if self.run(["sh", "-c", "apt-get -qq update && apt-get -qq --yes install --no-install-recommends sudo >/dev/null && rm -rf /var/lib/apt/lists/*"], env={"DEBIAN_FRONTEND": "noninteractive"}) != 0:
            raise Impossible("apt could not install sudo there; its words are above")
        self.path(f"/etc/sudoers.d/{USER}").write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n")


def make(folder=None, *, mirror=None, anew=False):
    """A fresh root in `folder`, or in one of its own in build/bare/. What is in `folder` already, whole, is taken as it is."""
    if os.geteuid() != 0:
        raise Impossible("this makes namespaces and a root of Debian, which needs root: run it as root, or with sudo")
    if missing := [name for name in ("debootstrap", "unshare", "nsenter", "apt-config", "tar", "git") if not shutil.which(name)]:
        raise Impossible(f"not installed here: {', '.join(missing)}. `tools/setup bare` installs what this needs, on Debian")
    if folder and (pathlib.Path(folder) / "etc/debian_version").exists():
        return BareRoot(folder)
    tarball = make_tarball(mirror, anew)
    folder = pathlib.Path(folder or tempfile.mkdtemp(dir=CACHE, prefix="root-"))
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise Impossible(f"{folder} has files, and is no root of Debian: name a folder that is empty, or not there")
    subprocess.run(["tar", "--extract", "--numeric-owner", "--xattrs", "--preserve-permissions", "--file", tarball, "--directory", folder], check=True)
    folder.chmod(0o755)
    # sudo looks itself up.
    (folder / "etc/hosts").write_text(f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {socket.gethostname()}\n")
    return BareRoot(folder)


def remove(root):
    """All of it, unless something is still mounted there, which nobody here does."""
    if f" {root.folder}" in pathlib.Path("/proc/mounts").read_text():
        raise Impossible(f"something is mounted below {root.folder}: unmount it, then remove the folder")
    shutil.rmtree(root.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, metavar="FOLDER", help="where to make it, or one that was kept (default: a new folder in build/bare/)")
    parser.add_argument("--keep", action="store_true", help="do not remove it afterwards")
    parser.add_argument("--user", default="root", help=f"who runs the command: root, or {USER}")
    parser.add_argument("--clone", action="store_true", help="put a clone of what is committed here into the home folder, as `sinew`")
    parser.add_argument("--mirror", metavar="URL", help="of Debian, in place of the sources that apt has here")
    parser.add_argument("--anew", action="store_true", help="make the cached root anew, with the packages of today")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    try:
        root = make(arguments.root, mirror=arguments.mirror, anew=arguments.anew)
        try:
            if arguments.clone:
                where = root.put_repository(user=arguments.user)
                if root.run(["git", "clone", "--quiet", where, "sinew"], user=arguments.user) != 0:
                    return 1
            return root.run(command or ["bash", "--login"], user=arguments.user)
        finally:
            if arguments.keep:
                print(f"bare_root.py: kept; again: tools/bare_root.py --root {shlex.quote(str(root.folder))} --keep", file=sys.stderr)
            else:
                remove(root)
    except Impossible as error:
        print(f"bare_root.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
