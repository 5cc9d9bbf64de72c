#!/usr/bin/env python3
"""Writes the headers of message definitions of ROS 2 by msggen, and sources that list their structures for the test.

Usage: list.py OUTPUT FOLDER...     each FOLDER: REPOSITORY/PACKAGE/{msg,srv,action}/NAME.{msg,srv,action}

OUTPUT gets the headers, PACKAGE.cpp that lists the structures of a package, and listing.cpp that calls these. Of definitions with the same name the first counts.
One that contains another that is nowhere is listed with that as the reason why it has no structure, and its header is empty.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "msggen"))

from sinew_msggen import cpp
from sinew_msggen.definition import Array, Dialect
from sinew_msggen.errors import DefinitionError
from sinew_msggen.resolve import Definitions
from sinew_msggen.signature import signature


def read(folders):
    """The definitions, and the repository of each by its name."""
    definitions, repositories = Definitions(dialect=Dialect.ROS2, standard=None), {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).glob("*/*/*/*")):
            repository, package, kind, file = path.relative_to(folder).parts
            name = f"{package}/{kind}/{path.stem}"
            if file.endswith(f".{kind}") and name not in repositories:
                definitions.add(path)
                repositories[name] = repository
    return definitions, repositories


def entries(definitions, interface, repository, missing):
    """The lines that list the structures of one definition."""
    for structure in interface.structures:
        where = f'"{repository}", "{interface.name}.{interface.kind}", "{structure.name}"'
        if missing:
            yield f"  into.add_missing({where}, {cpp.literal('string', missing)});\n"
            continue
        yield f"  into.add<{structure.name.replace('/', '::')}>({where}, {cpp.literal('string', signature_of(definitions, structure))});\n"
        for field in structure.fields:
            elements = field.type.size if field.type.array is Array.BOUNDED else 0
            if elements or field.type.characters:
                yield f'  into.bounds["{structure.name}.{field.name}"] = {{{elements}, {field.type.characters}}};\n'


def signature_of(definitions, structure):
    """Nothing for what msggen says that sinew does not carry."""
    try:
        return signature(structure.name, definitions)
    except DefinitionError:
        return ""


def source(includes, body):
    text = "".join(f'#include "{header}"\n' for header in includes)
    return f'// Written by list.py.\n{text}#include "definition.hpp"\n\nnamespace sinew::coverage {{\n{body}}}  // namespace sinew::coverage\n'


def main():
    output, *folders = map(pathlib.Path, sys.argv[1:])
    definitions, repositories = read(folders)
    packages = {}
    for name, repository in repositories.items():
        includes, lines = packages.setdefault(name.split("/")[0], ([], []))
        try:
            definitions.in_order([name])
            missing = ""
            cpp.write(output, [definitions.interface(name)])
            includes.append(cpp.file_of(name))
        except DefinitionError as error:
            missing = error.complaints[0].sentence
            cpp.write_file(output / cpp.file_of(name), f"// {missing}\n")
        lines += entries(definitions, definitions.interface(name), repository, missing)
    for package, (includes, lines) in packages.items():
        cpp.write_file(output / f"{package}.cpp", source(includes, f"void list_{package}(Listing& into) {{\n{''.join(lines)}}}\n"))
    declarations = "".join(f"void list_{package}(Listing& into);\n" for package in sorted(packages))
    calls = "".join(f"  list_{package}(listing);\n" for package in sorted(packages))
    cpp.write_file(output / "listing.cpp", source([], f"{declarations}\nListing listing_of_all() {{\n  Listing listing;\n{calls}  return listing;\n}}\n"))


if __name__ == "__main__":
    main()
