#!/usr/bin/env python3
"""Writes what help() says of the classes of the native module, which is what its stub says of them: manual.py OUT

OUT is a module with these classes, which have their texts, and methods that do nothing, with their signatures and texts; `_texts.py` takes them from there. OPTIONS has the names of the options of each kind.
"""

import ast
import inspect
import pathlib
import pprint
import sys
import textwrap

STUB = pathlib.Path(__file__).resolve().parent / "sinew" / "_native.pyi"
# Type checkers alone know these as classes.
OPTIONS = {"create_publisher": "PublisherOptions", "subscribe": "SubscriberOptions", "create_client": "ClientOptions", "provide": "ProviderOptions"}
HEAD = '''"""Made by manual.py of _native.pyi."""
# mypy: ignore-errors
from __future__ import annotations

'''


def attributes_of(node):
    """What a class has beside methods, with what is said of each."""
    told = [(each, node.body[at + 1] if at + 1 < len(node.body) else None) for at, each in enumerate(node.body) if isinstance(each, ast.AnnAssign)]
    return "".join(entry(f"{each.target.id}: {ast.unparse(each.annotation)}", behind.value.value if isinstance(behind, ast.Expr) else "") for each, behind in told)


def headline(name, arguments):
    """How an object of the class is made."""
    arguments.args = arguments.args[1:]  # without `self`
    return f"{name}({ast.unparse(arguments)})"


def entry(head, said):
    return f"\n{head}" + ("\n" + textwrap.indent(inspect.cleandoc(said), "    ") if said else "")


def with_text(node, text):
    """The class or function without what it does, and with this text."""
    rest = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    node.body = [ast.Expr(ast.Constant(text.strip())), *rest] if text.strip() else rest or [ast.Expr(ast.Constant(...))]
    return node


def method_of(function, options):
    """Of overloads, the last one stands for all, and says what they do."""
    text = ast.get_docstring(function) or ""
    if function.name in OPTIONS:
        text += "\n\nOptions:\n" + attributes_of(options[OPTIONS[function.name]])
    function.decorator_list = [each for each in function.decorator_list if ast.unparse(each) == "property"]
    return with_text(function, text)


def class_of(node, options):
    made = "".join(entry(headline(node.name, each.args), ast.get_docstring(each) or "") for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
    text = (ast.get_docstring(node) or "") + "\n" + made + attributes_of(node)
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")}
    return with_text(ast.ClassDef(node.name, [], [], [method_of(each, options) for each in methods.values()], []), text)


def write(out):
    classes = {node.name: node for node in ast.parse(STUB.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)}
    options = {name: classes.pop(name) for name in OPTIONS.values()}
    names = {method: [each.target.id for each in options[name].body if isinstance(each, ast.AnnAssign)] for method, name in OPTIONS.items()}
    module = ast.fix_missing_locations(ast.Module([class_of(node, options) for node in classes.values()], []))
    out.write_text(f"{HEAD}OPTIONS = {pprint.pformat(names, width=200)}\n\n{ast.unparse(module)}\n", encoding="utf-8")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
