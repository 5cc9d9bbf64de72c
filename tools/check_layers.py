#!/usr/bin/env python3
"""Holds the layer rule: a file includes only its own layer and layers below it, nothing includes in circles, and what claims to
make no system calls cannot make one. Prints each violation as file:line: sentence; exits with 1 when there is one.

Usage: check_layers.py [ROOT]
"""

import pathlib
import re
import sys

# The rooms of `session`. A node has publishers and subscribers, and these know the node whose they are: those three are one, the "ends".
SESSION = {"session", "session io", "session callbacks", "session qos", "session in_process", "session ends"}

# What each layer stands on. Beside these, a layer includes itself and the standard library.
BELOW = {
    "base": set(),
    "os": {"base"},
    "wire": {"base"},
    "shm": {"os", "base"},
    "msg": {"base"},
    "session": {"wire", "shm", "os", "base"},
    "session io": {"session", "wire", "shm", "os", "base"},
    "session callbacks": {"session io", "session", "wire", "shm", "os", "base"},
    "session qos": {"session io", "session", "wire", "shm", "os", "base"},
    "session in_process": {"session callbacks", "session qos", "session io", "session", "wire", "shm", "os", "base"},
    "session ends": SESSION | {"wire", "shm", "os", "base"},
    "api": SESSION | {"msg", "wire", "shm", "os", "base"},
    # Services, and actions, which are made of them: topics stand without.
    "api services": SESSION | {"api", "msg", "wire", "shm", "os", "base"},
    # The names that users of ROS 2 know, on what users have; the kernel is asked for signals and waiting only.
    "rclcpp": {"api services", "api", "session", "msg", "os", "base"},
    # Which messages belong together: stamps and pointers.
    "message filters": {"api", "session", "base"},
    # The C interface is made of what C++ has, and of streams.
    "c": {"api services", "api", "session", "base"},
    "manager": {"manager state", "wire", "os", "base"},
    "manager state": {"wire", "msg", "base"},
    # Programs that show what a user writes get only what a user gets: the installed headers.
    "examples": set(),
    "bench": set(),
    # Measures single layers, which the shared library does not show.
    "bench inside": {"bench", "msg", "wire", "shm", "os", "base"},
}

# The longest matching prefix names the layer of a file.
PLACES = {
    "include/sinew/": "api",
    "include/sinew/error.hpp": "base",
    "include/sinew/detail/language.hpp": "base",
    "include/sinew/detail/never.hpp": "base",
    "include/sinew/domain.hpp": "session",
    "include/sinew/events.hpp": "session",
    "include/sinew/ghost.hpp": "session",
    "include/sinew/message.hpp": "msg",
    "include/sinew/buffer.hpp": "session",
    "include/sinew/message_info.hpp": "session",
    "include/sinew/thread_options.hpp": "os",
    "include/sinew/msg/": "msg",
    "include/sinew/rclcpp": "rclcpp",
    "include/sinew/message_filters": "message filters",
    "src/rclcpp/": "rclcpp",
    "src/message_filters/": "message filters",
    "src/api/service_": "api services",
    "src/api/action_": "api services",
    "bindings/c/": "c",
    "bindings/c/tests/": None,
    "manager/": "manager",
    "manager/state/": "manager state",
    "examples/": "examples",
    "bench/": "bench",
    "bench/parts/inside/": "bench inside",
    "bench/graphs/udp/": "bench inside",
    "bench/registration/": "bench inside",
    "bench/serialization/": "bench inside",
} | {f"src/{layer}/": layer for layer in ("base", "os", "wire", "shm", "msg", "session", "api")} | {
    f"src/session/{room}/": f"session {room}" for room in ("io", "callbacks", "qos", "in_process")
} | {f"src/session/{room}/": "session ends" for room in ("publisher", "subscriber", "node", "tests")}

PUBLIC = "include/"
USERS = ("examples/", "bench/")

# Only these speak with the kernel: what a second operating system would have to replace. `base` writes its log lines.
SEAM = ("src/os/", "src/base/")
KERNEL = re.compile(
    r"^(sys/|linux/|net/|netinet/|arpa/|asm/|(cerrno|csignal|ctime|filesystem|fstream)$"
    r"|(dirent|dlfcn|errno|fcntl|glob|grp|ifaddrs|malloc|mqueue|netdb|poll|pthread|pwd|sched|semaphore|signal|spawn|syslog|time|unistd)\.h$)"
)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".hpp", ".cpp", ".h", ".c", ".inc"}


def layer_of(path):
    fitting = [prefix for prefix in PLACES if path.startswith(prefix)]
    return PLACES[max(fitting, key=len)] if fitting else None


def includes_of(path):
    """(line number, quoted or angled name) of each include of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match.group(2)


def resolve(root, includer, name):
    """The file of this repository that `name` means, relative to the root, or None for what is not ours."""
    for folder in (root / includer).parent, root / "include", root / "src", root:
        candidate = (folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def complaint(includer, included, name):
    """Why `includer` may not include `included` (None: not ours, known as `name`), or None."""
    if included is None:
        if not includer.startswith(SEAM + USERS) and "/tests/" not in includer and KERNEL.match(name):
            return f"<{name}> belongs to the kernel: this folder makes no system calls, those are in src/os"
        return None
    if includer.startswith(PUBLIC) and not included.startswith(PUBLIC):
        return f"an installed header includes {included}, which is not installed"
    if includer.startswith(USERS) and layer_of(includer) != "bench inside":
        own = included.startswith(includer.split("/")[0] + "/")
        return None if own or included.startswith(PUBLIC) else f"{included} is not installed: write this as a user of sinew would"
    here, there = layer_of(includer), layer_of(included)
    if here is None or here == there or there in BELOW[here]:
        return None
    allowed = ", ".join(sorted(BELOW[here])) or "nothing"
    return f"layer '{here}' includes {included} of layer '{there or 'none'}', but stands on {allowed} only"


def circles(graph):
    """Each circle of includes once, as a list of files that begins and ends with the same one."""
    found, done = [], set()
    for start in sorted(graph):
        if start in done:
            continue
        path, on_path, stack = [start], {start}, [(start, iter(graph[start]))]
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                path.pop()
                on_path.discard(node)
                done.add(node)
            elif following in on_path:
                found.append([*path[path.index(following) :], following])
            elif following in graph and following not in done:
                path.append(following)
                on_path.add(following)
                stack.append((following, iter(graph[following])))
    return found


def check(root):
    """All violations below `root`, as "file:line: sentence"."""
    root = pathlib.Path(root).resolve()
    rooms = ["include", "src", "bindings", "manager", "examples", "bench"]
    files = sorted(
        path.relative_to(root).as_posix() for room in rooms for path in (root / room).rglob("*") if path.suffix in SOURCES
    )
    violations, graph, line_of = [], {}, {}
    for file in files:
        graph[file] = []
        for line, name in includes_of(root / file):
            included = resolve(root, file, name)
            if sentence := complaint(file, included, name):
                violations.append(f"{file}:{line}: {sentence}")
            if included is not None:
                graph[file].append(included)
                line_of[file, included] = line
    for circle in circles(graph):
        violations.append(f"{circle[0]}:{line_of[circle[0], circle[1]]}: includes go in a circle: {' -> '.join(circle)}")
    return violations


if __name__ == "__main__":
    complaints = check(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    for text in complaints:
        print(text)
    sys.exit(1 if complaints else 0)
