"""The command sinew-msggen."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys

from . import cpp
from .definition import Dialect
from .errors import Complaint, DefinitionError
from .resolve import Definitions
from .schema import schema
from .signature import signature

EPILOG = """examples:
  sinew-msggen cpp include my_msgs/msg/Track.msg my_msgs/srv/Find.srv    # include/my_msgs/msg/track.hpp and include/my_msgs/srv/find.hpp
  sinew-msggen cpp include src                                           # of all packages in src
  sinew-msggen cpp include --ros 1 -I catkin_ws/src old_msgs             # a package of ROS 1, whose messages refer to others in a workspace
  sinew-msggen cpp include --package my_msgs Track.msg                   # a file that lies elsewhere
  sinew-msggen schema sensor_msgs/msg/Image
  sinew-msggen hash -I src my_msgs/srv/Find

Files are PACKAGE/{msg,srv,action}/Name.{msg,srv,action}. What they refer to is looked for among them, beside them, in the folders of -I, and among the
standard packages that come along. Of what is only referred to no header is written: those of the standard packages come with sinew.
"""


def main(arguments=None) -> int:
    """Does what the command line says; returns the exit status."""
    parsed = parser().parse_args(arguments)
    try:
        parsed.run(parsed, Definitions(parsed.folders, Dialect(parsed.ros) if parsed.ros else None))
        sys.stdout.flush()
    except DefinitionError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Who reads has seen enough. What is left in the buffer is not for anybody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def parser():
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "-I", action="append", default=[], dest="folders", metavar="FOLDER", help="where to look for what is referred to: a folder of packages, or PACKAGE=FOLDER for one package"
    )
    common.add_argument(
        "--ros",
        choices=[dialect.value for dialect in Dialect],
        help="whose definitions they are, all but the standard packages; without it the package.xml of each package tells, or else it is of ROS 2",
    )
    whole = argparse.ArgumentParser(
        "sinew-msggen",
        description="Reads message definitions of ROS, and writes C++ headers and what tools ask for.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = whole.add_subparsers(metavar="VERB", required=True)

    def verb(name, run, **described):
        made = verbs.add_parser(name, parents=[common], description=f"{described['help'][0].upper()}{described['help'][1:]}.", fromfile_prefix_chars="@", **described)
        made.set_defaults(run=run)
        return made

    made = verb("cpp", write_headers, help="write C++ headers, each only when it changes")
    made.add_argument("--package", default="", help="the package of the files, instead of the folder above msg, srv or action")
    made.add_argument("out", metavar="OUT", help="the folder for include paths: the headers are OUT/PACKAGE/msg/name.hpp")
    made.add_argument("paths", nargs="+", metavar="PATH", help="a definition, or a folder with packages; @FILE stands for the lines of a file")
    for name, function, what in (
        ("schema", schema, "print a type as others read it: ros2msg, as in rosbag2, MCAP and Foxglove"),
        ("signature", signature, "print the signature of a type, as sinew compares it (spec/types.md)"),
        ("hash", type_hash, "print the type hash of ROS 2 (RIHS01)"),
    ):
        made = verb(name, lambda parsed, definitions, function=function: print(function(parsed.type, definitions).rstrip("\n")), help=what)
        made.add_argument("type", metavar="TYPE", help="as sensor_msgs/msg/Image, or std_srvs/srv/SetBool_Request")
    verb("list", lambda _, definitions: print("\n".join(definitions.names())), help="print the names of all definitions that are found")
    return whole


def type_hash(name, definitions):
    from . import rihs01  # nobody else needs hashlib

    return rihs01.type_hash(name, definitions)


def write_headers(parsed, definitions):
    names = []
    complaints = []
    for path in map(pathlib.Path, parsed.paths):
        try:
            names += definitions.add_folder(path, parsed.package) if path.is_dir() else [definitions.add(path, parsed.package)]
        except DefinitionError as error:
            complaints += error.complaints
    if complaints:
        raise DefinitionError(complaints)
    names = set(names)
    interfaces = [interface for interface in definitions.in_order(sorted(names)) if interface.name in names]
    cpp.write(parsed.out, interfaces)
    for interface in interfaces:
        if not definitions.is_standard(interface.path):
            tell_of_wide_strings(interface)


def tell_of_wide_strings(interface):
    """Their structs are there, as in ROS 2, but sinew does not carry them."""
    for structure in interface.structures:
        for field in structure.fields:
            if field.type.base == "wstring":
                advice = "note: sinew does not carry `wstring`, so this struct cannot be published: make it a `string`, which holds any text as UTF-8."
                print(Complaint(field.type_place, advice), file=sys.stderr)
