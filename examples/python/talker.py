"""Says something twice a second, until Ctrl-C. Start it in as many terminals as you like (SINEW_NODE=other names another one)."""

import contextlib
import itertools

import sinew


@sinew.message
class Words:
    text: str
    count: sinew.uint32


with sinew.Node("talker") as node:
    words = node.create_publisher("chatter", Words)
    counts = itertools.count(1)
    node.create_timer(0.5, lambda: words.publish(Words("hello for time number", next(counts))))
    with contextlib.suppress(KeyboardInterrupt):
        node.spin()
