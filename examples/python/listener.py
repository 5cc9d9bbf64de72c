"""Prints what every talker says, until Ctrl-C. Declares no type: that comes from the domain, so this waits for the first talker."""

import contextlib

import sinew

with sinew.Node("listener") as node, contextlib.suppress(KeyboardInterrupt):
    for words, info in node.subscribe("chatter"):
        print(f"{info.publisher}: {words.text} {words.count}", flush=True)
