#!/usr/bin/env python3
"""Holds what CONTRIBUTING.md says of atomics. An access with an order belongs to a pair, `// sync: NAME (with FUNCTION)`, whose other side
is in FUNCTION; the pair is described once, `// pair NAME: why` beside an atomic or as a row of a table in spec/shared-memory.md; `NAME / OTHER`
is one that stores its own word and then looks at the other's (Dekker). A relaxed access, or the atomic where it is declared, says `// relaxed: why`.
Prints each violation as file:line: sentence; exits with 1 when there is one.

Usage: sync_pairs.py [ROOT]
"""

import collections
import functools
import pathlib
import re
import sys

ROOMS = ["include", "src", "manager"]
SPEC = "spec/shared-memory.md"

ORDER = re.compile(r"memory_order(?:_|::)(relaxed|consume|acquire|release|acq_rel|seq_cst)")
METHOD = re.compile(r"(?:\.|->)(load|store|exchange|compare_exchange_weak|compare_exchange_strong|fetch_\w+|test_and_set|wait|notify_one|notify_all)\(")
BUILTIN = re.compile(r"\b(fence|atomic_thread_fence|atomic_signal_fence|__atomic_\w+|__sync_\w+)\(")
ATOMIC = r"(?:(?:std::)?atomic(?:_ref)?<[^;()=]*?>|\bWord(?:32|64)|(?:std::)?atomic_flag)"
DECLARED = re.compile(ATOMIC + r"([>&*]*)\s+((?:\w+(?:\[\w*\])?(?:\s*\{[^;{}]*\}|\s*=\s*[^;,{}]+)?\s*,\s*)*\w+)\s*(?:\[[^\]]*\])*(?:\{[^;]*\}|\s*=[^;]+)?\s*[;),]")
CONDITION = re.compile(r"condition_variable(?:_any)?&?\s+(\w+)")
NAMES = r"([A-Z_]+(?:, [A-Z_]+)*(?: / [A-Z_]+(?:, [A-Z_]+)*)?)"
DESCRIBED = re.compile(r"//+ pair " + NAMES + r"(?:,? (seq_cst))?: \S")
SPEC_ROW = re.compile(r"^\| " + NAMES + r"() \|")
TAG = re.compile(r"// sync: (.*)$")
SIDE = re.compile(r"([A-Z_]+) \(with ([\w:~]+(?:, [\w:~]+)*)(?:;[^)]*)?\)")
RELAXED = re.compile(r"//.*\brelaxed(?:, [\w ]+)?: \S")
KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "defined", "noexcept", "constexpr", "alignas"}
# What an access with an order does: stores for those who load it (R), loads what they stored (A).
STORES, LOADS = "R", "A"

Access = collections.namedtuple("Access", "file line function roles orders sides")


def without_comments(text):
    """The text with comments and what stands in quotes replaced by blanks: lines and columns stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def functions_of(code):
    """For each line the names of what encloses it, outermost first: classes and functions, no namespaces, lambdas or blocks."""
    lines, stack, head, line = [], [], "", 0
    names = [[]]
    for sign in code:
        if sign == "{":
            stack.append(name_of(head))
            head = ""
        elif sign == "}":
            if stack:
                stack.pop()
            head = ""
        elif sign == ";":
            head = ""
        else:
            head += sign
        if sign == "\n":
            line += 1
            names.append(None)
        if sign == "{" or names[line] is None:
            names[line] = [part for name in stack if name for part in name.split("::")]
        del lines[:]
    return names


def name_of(head):
    """What a block with this text before it is called: of a function or a class, or ""."""
    head = " ".join(head.split())
    if found := re.search(r"\b(?:class|struct|union)\s+(?:alignas\([^)]*\)\s*)?(?:SINEW_API\s+)?(?:\[\[\w+\]\]\s*)?([\w:]+)[^()]*$", head):
        return found.group(1)
    if re.search(r"\[[^\[\]]*\]\s*(?:\([^()]*\))?[^()]*$", head) and not re.search(r"operator", head):
        return ""
    depth, ends = 0, []
    # The first parenthesis at the outermost level after a name opens the parameters.
    for at, sign in enumerate(head):
        if sign == "(":
            if depth == 0 and (found := re.search(r"([\w:~]+)\s*$", head[:at])):
                ends.append(found.group(1))
            depth += 1
        elif sign == ")":
            depth -= 1
    return next((name for name in ends if name.split("::")[-1] not in KEYWORDS), "")


class File:
    def __init__(self, root, name):
        self.name = name
        self.text = (root / name).read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        code = without_comments(self.text)
        self.code = code.splitlines()
        self.functions = functions_of(code)
        self.includes = re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', self.text, re.MULTILINE)
        self.conditions = set(CONDITION.findall(code))
        self.atomics = {}  # name: lines where it is declared
        self.referred = set()  # those of them that are pointers or references to one
        for found in DECLARED.finditer(code):
            for declarator in re.split(r",(?![^{]*\})", found.group(2)):
                name = re.match(r"\s*(\w+)", declarator).group(1)
                self.atomics.setdefault(name, []).append(code.count("\n", 0, found.start()) + 1)
                if found.group(1).strip(">"):
                    self.referred.add(name)

    def statement(self, line):
        """The lines (from 0) of the statement that `line` is part of, by where statements end."""
        first = last = line
        while first > 0 and (before := self.code[first - 1].strip()) and before[-1] not in ";{}:" and not before.startswith("#"):
            first -= 1
        while last + 1 < len(self.code) and self.code[last].strip() and self.code[last].strip()[-1] not in ";{}":
            last += 1
        return first, last

    def is_comment(self, line):
        return not self.code[line].strip() and self.lines[line].strip().startswith("//")

    def said_of(self, line, pattern, is_access):
        """What comments that fit the pattern say of a line: in its statement, or above a row of statements that are all accesses."""
        first, last = self.statement(line)
        own = [found for at in range(line, line + 1) if (found := pattern.search(self.lines[at]))]
        own = own or [found for at in range(first, last + 1) if (found := pattern.search(self.lines[at]))]
        while not own:
            above = first - 1
            while above >= 0 and self.is_comment(above):
                if found := pattern.search(self.lines[above]):
                    return found
                above -= 1
            if above != first - 1 or above < 0 or not self.code[above].strip():
                return None
            first, last = self.statement(above)
            if not any(is_access(at) for at in range(first, last + 1)):
                return None
        return own[0]


def files_below(root):
    paths = sorted(path for room in ROOMS for path in (root / room).rglob("*") if path.suffix in {".hpp", ".cpp", ".h", ".inc"})
    return {name: File(root, name) for path in paths if "/tests/" not in (name := path.relative_to(root).as_posix())}


class Pairs:
    """All of one tree, and what is wrong with it."""

    def __init__(self, root):
        self.files = files_below(root)
        self.wrong = []
        self.places = {}  # name of a pair: where it is described
        self.dekker = set()  # (one, other)
        self.single = set()  # has a reason of its own to be seq_cst
        self.read_descriptions(root)
        self.accesses = [access for file in self.files.values() for access in self.accesses_of(file)]

    def complain(self, file, line, sentence):
        self.wrong.append(f"{file}:{line}: {sentence}")

    def describe(self, file, line, words, is_single):
        names, *others = (part.split(", ") for part in words.split(" / "))
        for name in names:
            if name in self.places:
                self.complain(file, line, f"{name} is described already at {self.places[name]}")
            self.places[name] = f"{file}:{line}"
            self.dekker.update((name, other) for other in sum(others, []))
            if is_single:
                self.single.add(name)

    def read_descriptions(self, root):
        spec = root / SPEC
        for number, line in enumerate(spec.read_text(encoding="utf-8").splitlines() if spec.exists() else [], 1):
            if found := SPEC_ROW.match(line):
                self.describe(SPEC, number, *found.groups())
        for file in self.files.values():
            for number, line in enumerate(file.lines, 1):
                if found := DESCRIBED.search(line):
                    self.describe(file.name, number, *found.groups())

    def nearest(self, file):
        """The file and what it includes itself."""
        folder = str(pathlib.PurePosixPath(file.name).parent)
        places = [place for each in file.includes for place in (f"src/{each}", f"include/{each}", each, f"{folder}/{each}")]
        return [file] + [self.files[name] for name in places if name in self.files]

    @functools.cache
    def visible(self, file):
        """The file and all that it includes, nearest first."""
        found = [file]
        for each in found:
            found += [other for other in self.nearest(each) if other not in found]
        return found

    def access_at(self, file, line, found):
        """(word, method, orders) of what looks like an access, or None."""
        code = "\n".join(file.code[line:])[found.start() :]
        start = code.index("(")
        depth = 0
        for end in range(start, len(code)):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            if depth == 0:
                break
        method = found.group(1)
        orders = set(ORDER.findall(code[start:end]))
        before = file.code[line][: found.start()]
        if not before.strip() and line > 0:
            before = file.code[line - 1]
        word = re.search(r"(\w+)\s*(?:\[(?:[^\[\]]|\[[^\]]*\])*\]|\([^()]*\))*\)?$", before.rstrip())
        return (word.group(1) if word else ""), method, orders

    def accesses_of(self, file):
        hits = []
        for line, code in enumerate(file.code):
            for found in METHOD.finditer(code):
                word, method, orders = self.access_at(file, line, found)
                if method in ("wait", "notify_one", "notify_all"):
                    near = self.visible(file)
                    here = next((each for each in near if word in each.atomics or word in each.conditions), None)
                    if not here or word in here.conditions:
                        continue
                hits.append((line, word, method, orders))
            for found in BUILTIN.finditer(code):
                _, method, orders = self.access_at(file, line, found)
                if orders or method.startswith("__"):
                    hits.append((line, "", method, orders))
        self.look_for_hidden(file)
        at = {line for line, *_ in hits}
        for line, word, method, orders in hits:
            yield from self.judged(file, line, word, method, orders, at.__contains__)

    def look_for_hidden(self, file):
        """Accesses that look like those of plain variables: they are seq_cst, which nobody can see."""
        places = [(name, each) for each in self.visible(file) for name in each.atomics.keys() - each.referred]
        for name, place in sorted(places, key=lambda each: each[0]):
            is_own = pathlib.PurePosixPath(file.name).stem == pathlib.PurePosixPath(place.name).stem
            if any(name in self.others(each) for each in ([file, place] if is_own else self.visible(file))) and not (is_own and name.endswith("_")):
                continue  # something else has the name, too
            hidden = rf"(?:\+\+|--|\(\*|^\s*\*|!\*|\bif \(|\bwhile \(|!|&& |\|\| |[^=!<>]= |\breturn ){name}(?!\w|\.|->|\[|\()|(?<!\w){name}(?:\+\+|--| [-+|&^]?= | && | \|\| )"
            for line, code in enumerate(file.code):
                if line + 1 not in file.atomics.get(name, []) and re.search(hidden, code):
                    self.complain(file.name, line + 1, f"`{name}` is an atomic: say load() or store(), and the order")

    @functools.cache
    def others(self, file):
        """The names in a file that may be declared as something else than an atomic."""
        declared = {line for lines in file.atomics.values() for line in lines}
        plain = "\n".join(code for line, code in enumerate(file.code, 1) if line not in declared)
        return set(re.findall(r"(?<=[\w>&*])(?<!return)(?<!case)[ \t]+(\w+)\b(?!\()", plain) + re.findall(r"[,[] *(\w+) = ", plain))

    def judged(self, file, line, word, method, orders, is_access):
        ordered = orders - {"relaxed"} or ({"seq_cst"} if not orders else set())
        if not ordered:
            if not file.said_of(line, RELAXED, is_access) and not self.is_relaxed_word(file, word):
                self.complain(file.name, line + 1, f"why is relaxed enough for `{word}`? Say `// relaxed: why` here, or where it is declared")
            return
        if not orders and not method.startswith("notify"):
            self.complain(file.name, line + 1, f"say which order {method}() of `{word}` has")
        tag = file.said_of(line, TAG, is_access)
        if not tag:
            self.complain(file.name, line + 1, f"which pair does {method}() of `{word}` belong to? Say `// sync: NAME (with FUNCTION)`")
            return
        sides = SIDE.findall(tag.group(1))
        if not sides:
            self.complain(file.name, line + 1, f"not understood: `// sync: {tag.group(1)}`; it is `// sync: NAME (with FUNCTION)`")
        roles = ""
        if method.startswith("notify"):
            ordered = set()  # it tells of what was stored before, and has no order of its own
        else:
            if ordered & {"release", "acq_rel", "seq_cst"} and method not in ("load", "wait"):
                roles += STORES
            if ordered & {"acquire", "acq_rel", "seq_cst"} and method != "store":
                roles += LOADS
        yield Access(file.name, line + 1, file.functions[line], roles, ordered, [(name, with_.split(", ")) for name, with_ in sides])

    def is_relaxed_word(self, file, word):
        for each in self.visible(file):
            if lines := each.atomics.get(word):
                return any(self.is_declared_relaxed(each, line - 1) for line in lines)
        return False

    @staticmethod
    def is_declared_relaxed(file, line):
        declared = set(number - 1 for lines in file.atomics.values() for number in lines)
        return file.said_of(line, RELAXED, declared.__contains__) is not None

    def check(self):
        by_name = collections.defaultdict(list)
        for access in self.accesses:
            for name, partners in access.sides:
                by_name[name].append((access, partners))
        for name, members in sorted(by_name.items()):
            self.check_pair(name, members)
        for name, place in sorted(self.places.items()):
            if name not in by_name:
                self.complain(*place.split(":"), f"nobody has {name}")
        for one, other in sorted(self.dekker):
            for name in one, other:
                for role, what in (STORES, "stores"), (LOADS, "loads"):
                    if name in by_name and not any("seq_cst" in access.orders and role in access.roles for access, _ in by_name[name]):
                        self.complain(*self.places[one].split(":"), f"{one} and {other} each store and then look at the other: nobody {what} {name} with seq_cst")
        return sorted(set(self.wrong))

    def check_pair(self, name, members):
        first = members[0][0]
        if name not in self.places and not any(name == other for _, other in self.dekker):
            self.complain(first.file, first.line, f"{name} is described nowhere: say `// pair {name}: why` beside the atomic, or in {SPEC}")
        for role, what in (STORES, "release"), (LOADS, "acquire"):
            if not any(role in access.roles for access, _ in members):
                self.complain(first.file, first.line, f"{name} has no {what} side")
        if name not in self.single and not any(name in pair for pair in self.dekker):
            for access, _ in members:
                if access.orders == {"seq_cst"} and all(not any(each in pair for pair in self.dekker) for each, _ in access.sides):
                    self.complain(access.file, access.line, f"seq_cst, but {name} is no `NAME / OTHER`: release and acquire are enough, or its description says `{name} seq_cst: why`")
        for access, partners in members:
            for partner in partners:
                words = partner.split("::")
                there = [other for other, _ in members if other.function and other.function[-len(words) :] == words]
                if not there:
                    self.complain(access.file, access.line, f"{partner}() has nothing of {name}")
                elif access.roles and not any(set(other.roles) - set(access.roles) or other.roles == STORES + LOADS or len(access.roles) == 2 for other in there):
                    self.complain(access.file, access.line, f"{partner}() is on the same side of {name}")


if __name__ == "__main__":
    complaints = Pairs(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()).check()
    for text in complaints:
        print(text)
    sys.exit(1 if complaints else 0)
