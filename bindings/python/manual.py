#!/usr/bin/env python3
"""Writes what help() says of the classes of the native module, which is what its stub says of them: manual.py OUT

OUT is a module whose DOCS has the text of each class: its own, and below it those of its methods and attributes. OPTIONS has the names of the options of each kind.
"""

import ast
import inspect
import pathlib
import pprint
import sys
import textwrap

STUB = pathlib.Path(__file__).resolve().parent / "sinew" / "_native.pyi"


def text_of(node):
    """The text of a class."""
    parts = [ast.get_docstring(node) or ""]
    for at, member in enumerate(node.body):
        behind = node.body[at + 1] if at + 1 < len(node.body) else None
        if isinstance(member, ast.AnnAssign):
            said = behind.value.value if isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant) else ""
            parts.append(entry(f"{ast.unparse(member.target)}: {ast.unparse(member.annotation)}", said))
        elif isinstance(member, ast.FunctionDef) and (member.name == "__init__" or not member.name.startswith("__")):
            parts.append(entry(headline(member), ast.get_docstring(member) or ""))
    return "\n".join(part for part in parts if part)


def headline(function):
    is_property = any(isinstance(each, ast.Name) and each.id == "property" for each in function.decorator_list)
    returned = f"{ast.unparse(function.returns)}" if function.returns else ""
    if is_property:
        return f"{function.name}: {returned}"
    return f"{function.name}({ast.unparse(function.args)}) -> {returned}"


def entry(head, said):
    return f"\n{head}" + ("\n" + textwrap.indent(inspect.cleandoc(said), "    ") if said else "")


def write(out):
    module = ast.parse(STUB.read_text(encoding="utf-8"))
    docs = {node.name: text_of(node) for node in module.body if isinstance(node, ast.ClassDef)}
    # These are known to type checkers alone.
    options = {node.name: [each.target.id for each in node.body if isinstance(each, ast.AnnAssign)] for node in module.body if isinstance(node, ast.ClassDef) and node.name.endswith("Options")}
    docs["Node"] += "".join(f"\n\n{name}\n\n{docs.pop(name)}" for name in options)
    out.write_text(f'"""Made by manual.py of _native.pyi."""\n\nDOCS = {pprint.pformat(docs, width=200)}\n\nOPTIONS = {pprint.pformat(options, width=200)}\n', encoding="utf-8")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
