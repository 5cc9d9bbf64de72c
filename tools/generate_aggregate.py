#!/usr/bin/env python3
"""Writes include/sinew/msg/aggregate_table.hpp: for every number of members, the code that C++20 cannot write with a pack.

  tools/generate_aggregate.py > include/sinew/msg/aggregate_table.hpp     to make it
  tools/generate_aggregate.py --check include/sinew/msg/aggregate_table.hpp   fails when the file is not what this script writes
"""
import sys

MOST = 128  # members of one structure; more costs every translation unit parse time

HEAD = """\
// Made by tools/generate_aggregate.py. Change the script, not this file.
// Long because: structured bindings have no packs before C++26, so each number of members has its own text here.
#pragma once
// clang-format off

#include <cstddef>

#include "sinew/msg/row.hpp"

namespace sinew::msg {

inline constexpr std::size_t most_members = %d;

/// What can be asked of an aggregate if it has N members. `fits`: N members can be initialised from {}. `followed`: and there is one more.
/// `row`: the types and addresses of exactly N members, or NotAddressable when one of them is a bit-field.
template <std::size_t N>
struct Arity;

template <>
struct Arity<0> {
  template <class T> static constexpr bool fits = requires { T{}; };
  template <class T> static constexpr bool followed = requires { T{Anything{}}; };
  template <class T> static constexpr auto row(T&) { return row_of<>(); }
};
""" % MOST

TAIL = """
}  // namespace sinew::msg
"""


def arity(n):
    names = [f"m{i}" for i in range(n)]
    braces = ", ".join(["{}"] * n)
    return f"""
template <>
struct Arity<{n}> {{
  template <class T> static constexpr bool fits = requires {{ T{{{braces}}}; }};
  template <class T> static constexpr bool followed = requires {{ T{{{braces}, Anything{{}}}}; }};
  template <class T> static constexpr auto row(T& t) {{
    auto& [{", ".join(names)}] = t;
    if constexpr (requires {{ {" ".join(f"&{m};" for m in names)} }}) {{
      return row_of<{", ".join(f"decltype({m})" for m in names)}>({", ".join(f"&{m}" for m in names)});
    }} else {{
      return NotAddressable{{}};
    }}
  }}
}};
"""


def main():
    text = HEAD + "".join(arity(n) for n in range(1, MOST + 1)) + TAIL
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2], encoding="utf-8") as file:
            if file.read() != text:
                sys.exit(f"{sys.argv[2]} is not what {sys.argv[0]} writes: run {sys.argv[0]} > {sys.argv[2]}")
    else:
        sys.stdout.write(text)


main()
