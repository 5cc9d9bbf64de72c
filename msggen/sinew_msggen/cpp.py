"""Writes C++ headers: plain structs, named and typed as those of ROS 2, and nothing else.

An interface PACKAGE/KIND/Name is in PACKAGE/KIND/name.hpp, and PACKAGE::KIND is its namespace.
"""

from __future__ import annotations

import math
import os
import pathlib
import re
import struct
import tempfile

from .definition import FLOATS, INTEGERS, PLACEHOLDER, STRINGS, Array, Constant, Field, Interface, Structure, Type
from .errors import Complaint, DefinitionError, Place

PLAIN = {"bool": "bool", "byte": "std::uint8_t", "char": "std::uint8_t", "float32": "float", "float64": "double", "string": "std::string", "wstring": "std::u16string"}
PLAIN.update({base: f"std::{base}_t" for base in INTEGERS if base not in PLAIN})
VIEWS = {"string": "std::string_view", "wstring": "std::u16string_view"}
# What a struct uses, and which header has that.
STANDARD = {
    "std::array<": "array",
    "int8_t": "cstdint", "int16_t": "cstdint", "int32_t": "cstdint", "int64_t": "cstdint",
    "std::numeric_limits<": "limits",
    "std::string ": "string", "std::string>": "string", "std::string,": "string", "std::u16string ": "string", "std::u16string>": "string", "std::u16string,": "string",
    "string_view ": "string_view",
    "std::vector<": "vector",
}  # fmt: skip
# Up to C++20, and the macros of every C++ program with GNU's extensions or with the headers that ours include.
WORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await co_return co_yield compl concept const
    const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
    inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return short
    signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void
    volatile wchar_t while xor xor_eq""".split()
)
# Those of <string>, which most of ours include and every program with the library does; the last are errors of the system.
MACROS = frozenset(
    """BIG_ENDIAN BUFSIZ BYTE_ORDER EOF errno EXIT_FAILURE EXIT_SUCCESS FD_SETSIZE FILENAME_MAX FOPEN_MAX HUGE_VAL HUGE_VALF i386 INFINITY linux LITTLE_ENDIAN
    MB_CUR_MAX NAN NFDBITS NULL PDP_ENDIAN RAND_MAX RENAME_EXCHANGE RENAME_NOREPLACE RENAME_WHITEOUT TMP_MAX unix WCONTINUED WEOF WEXITED WNOHANG WNOWAIT
    WSTOPPED WUNTRACED E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY
    ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN
    EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST
    ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH
    ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR
    ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT
    EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE
    ESTRPIPE ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL""".split()
)
# And those of them that are made alike.
ALIKE = re.compile(
    r"U?INT(?:_FAST|_LEAST)?(?:8|16|32|64|MAX|PTR)_(?:MAX|MIN|WIDTH)|(?:WCHAR|WINT|PTRDIFF|SIG_ATOMIC)_(?:MAX|MIN|WIDTH)|SIZE_(?:MAX|WIDTH)|SEEK_(?:SET|CUR|END|DATA|HOLE)"
    r"|LC_(?:ADDRESS|ALL|COLLATE|CTYPE|IDENTIFICATION|MEASUREMENT|MESSAGES|MONETARY|NAME|NUMERIC|PAPER|TELEPHONE|TIME)(?:_MASK)?|LC_GLOBAL_LOCALE"
)
# Of packages: they would hide a namespace that headers use.
HIDING = ("std", "msg", "srv", "action")
SIMPLE = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def file_of(name: str) -> str:
    """The header of an interface: sensor_msgs/msg/point_cloud2.hpp of sensor_msgs/msg/PointCloud2."""
    package, kind, base = name.split("/")
    base = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", base)
    base = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", base)
    return f"{package}/{kind}/{base.lower()}.hpp"


def header(interface: Interface) -> str:
    """The text of its header."""
    check(interface)
    body = "\n".join(structure_text(structure) for structure in interface.structures)
    if interface.kind != "msg":
        aliases = "".join(f"  using {part} = {interface.base}_{part};\n" for part in parts_of(interface))
        body += f"\n/// {'A service' if interface.kind == 'srv' else 'An action'}, by the names of its messages.\nstruct {interface.base} {{\n{aliases}}};\n"
    code = re.sub(r"//.*", "", body)
    standard = sorted({header for used, header in STANDARD.items() if used in code})
    others = sorted(map(file_of, interface.needs))
    includes = "\n".join("".join(lines) for lines in ([f"#include <{each}>\n" for each in standard], [f'#include "{each}"\n' for each in others]) if lines)
    space = f"{interface.package}::{interface.kind}"
    made_of = f"{interface.name}.{interface.kind}"
    return f"// Made by sinew-msggen of {made_of}.\n#pragma once\n\n{includes}\nnamespace {space} {{\n\n{body}\n}}  // namespace {space}\n"


def parts_of(interface):
    """What its messages are called within a service or an action: Request and Response of it."""
    return [structure.base[len(interface.base) + 1 :] for structure in interface.structures]


def check(interface):
    """Complains about names that C++ does not bear."""
    complaints = []
    whole = Place(interface.path)
    if interface.package in HIDING:
        complaints.append(Complaint(whole, f"a package cannot be called `{interface.package}` in C++, where this namespace is another one: rename it."))
    for what in interface.package, interface.base:
        complaints += [Complaint(whole, no_name(what))] if is_taken(what) else []
    if interface.kind != "msg" and interface.base in parts_of(interface):
        complaints.append(Complaint(whole, f"`{interface.base}` is also a part of itself, which C++ cannot call so, neither here nor with ROS 2: rename it."))
    for structure in interface.structures:
        for member in structure.members:
            if is_taken(member.name):
                complaints.append(Complaint(member.place, no_name(member.name)))
            elif member.name == structure.base:
                complaints.append(Complaint(member.place, f"`{member.name}` is the struct itself in C++, whose members have other names: rename it."))
    if complaints:
        raise DefinitionError(complaints)


def is_taken(name):
    return name in WORDS or name in MACROS or ALIKE.fullmatch(name)


def no_name(name):
    what = "word" if name in WORDS else "macro"
    return f"`{name}` is a {what} of C++, and cannot be a name there, neither here nor with ROS 2: rename it, as in `{name}_value`."


def structure_text(structure: Structure) -> str:
    lines = [f"///{line}" for line in comment(structure.above)] + [f"struct {structure.base} {{"]
    for member in structure.members:
        if member.sections and member is not structure.members[0]:
            lines.append("")
        for block in member.sections:
            lines += [f"  //{line}" for line in comment(block)] + [""]
        lines += [f"  ///{line}" for line in comment(member.above)]
        declared = "  " + (constant(member) if isinstance(member, Constant) else field(member))
        behind = comment(bound(member.type) + member.behind)
        lines.append(f"{declared}  ///<{behind[0]}" if behind else declared)
        lines += [f"{' ' * len(declared)}  ///<{line}" for line in behind[1:]]
    if not structure.fields:
        lines.append(f"  std::uint8_t {PLACEHOLDER}{{}};  ///< as ROS 2 has it, so that there is something to send")
    for block in structure.below:
        lines += ["", *(f"  //{line}" for line in comment(block))]
    return "\n".join(lines) + "\n};\n"


def comment(lines):
    """What follows the slashes of a comment."""
    lines = list(lines)
    while lines and not lines[0].strip():
        del lines[0]
    while lines and not lines[-1].strip():
        del lines[-1]
    made = []
    for line in lines:
        line = line if not line or line.startswith(" ") else f" {line}"
        # A line that ends so would go on in the next one.
        made.append(f"{line}." if line.endswith(("\\", "??/")) else line)
    return made


def bound(type: Type):
    """What the C++ type does not tell, as a comment."""
    elements = at_most(type.size, "element") if type.array is Array.BOUNDED else ""
    characters = at_most(type.characters, "byte") if type.characters else ""
    each = f"{characters} each" if type.array is not Array.NONE else characters
    return (f" {elements}, {each}" if elements and characters else f" {elements or each}",) if elements or characters else ()


def at_most(number, what):
    return f"at most {number} {what}{'s' if number > 1 else ''}"


def plain_type(type: Type) -> str:
    """The C++ type of one value."""
    return PLAIN[type.base] if type.is_primitive else f"{type.package}::msg::{type.base}"


def cpp_type(type: Type) -> str:
    """The C++ type of a field."""
    if type.array is Array.FIXED:
        return f"std::array<{plain_type(type)}, {type.size}>"
    return plain_type(type) if type.array is Array.NONE else f"std::vector<{plain_type(type)}>"


def constant(member: Constant) -> str:
    kind = VIEWS.get(member.type.base) or plain_type(member.type)
    return f"static constexpr {kind} {member.name} = {literal(member.type.base, member.value)};"


def field(member: Field) -> str:
    if member.default is None:
        value = ""
    elif member.type.array is Array.NONE:
        value = literal(member.type.base, member.default)
    else:
        value = ", ".join(literal(member.type.base, each) for each in member.default)
        value = f"{{{value}}}" if member.type.array is Array.FIXED else value
    return f"{cpp_type(member.type)} {member.name}{{{value}}};"


def literal(base: str, value) -> str:
    """A value in C++."""
    if base in STRINGS:
        characters = "".join(escaped(base, character) for character in value)
        characters = characters.replace("??", "?\\?")  # two of them may begin a trigraph
        return f'u"{characters}"' if base == "wstring" else f'"{characters}"'
    if base == "bool":
        return "true" if value else "false"
    if base in FLOATS:
        return floating(base, value)
    if value == -(2**63):
        return f"{value + 1} - 1"  # C++ has no literal for it
    return f"{value}U" if value >= 2**63 else str(value)


def floating(base, value):
    if math.isnan(value) or math.isinf(value):
        limits = f"std::numeric_limits<{PLAIN[base]}>"
        return f"{limits}::quiet_NaN()" if math.isnan(value) else f"{'-' if value < 0 else ''}{limits}::infinity()"
    if base == "float64":
        return repr(value)
    # Too small for a float is zero, of which compilers warn.
    return f"{0.0 if struct.unpack('<f', struct.pack('<f', value))[0] == 0 else value}F"


def escaped(base, character):
    """A character of a string literal."""
    if character in SIMPLE or character.isprintable():
        return SIMPLE.get(character, character)
    if base == "wstring" and ord(character) >= 0x80:
        return f"\\U{ord(character):08x}"
    return "".join(f"\\{byte:03o}" for byte in character.encode())


def write(folder, interfaces) -> list[str]:
    """Writes the headers of these into a folder, each at once and only when its text is another; returns which were written."""
    texts, complaints = {}, []
    for interface in interfaces:
        try:
            other = texts.setdefault(file_of(interface.name), (header(interface), interface))[1]
            if other is not interface:
                complaints.append(Complaint(Place(interface.path), f"has the same header as {other.path}, {file_of(interface.name)}: rename one of them."))
        except DefinitionError as error:
            complaints += error.complaints
    if complaints:
        raise DefinitionError(complaints)
    return [file for file, (text, _) in texts.items() if write_file(pathlib.Path(folder) / file, text)]


def write_file(path, text):
    """Whether the file had another text, or was not there."""
    content = text.encode()
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return True
