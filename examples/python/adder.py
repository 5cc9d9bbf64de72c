"""A service, and who calls it, here in one program: in two it would look just the same."""

from typing import List

import sinew


@sinew.message
class Terms:
    terms: List[int]


@sinew.message
class Sum:
    total: int


def add(request: Terms) -> Sum:
    if not len(request.terms):
        raise ValueError("nothing to add")
    return Sum(sum(request.terms))


with sinew.Node("adder") as node:
    node.provide("sum", Terms, Sum, add)
    client = node.create_client("sum", Terms, Sum)
    print(client.call(Terms([1, 2, 3])).total)
    try:
        client.call(Terms([]), timeout=10.0)  # waits at most ten seconds
    except sinew.CallFailed as error:
        print(error)  # what the provider raised
