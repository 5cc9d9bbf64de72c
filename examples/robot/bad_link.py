"""A bad link between two gateways on one machine: what comes to one port goes on to another, late, unevenly, and not all of it; now and then nothing goes for a while.

Usage: bad_link.py FROM-PORT TO-PORT [--loss PERCENT] [--delay MS] [--jitter MS] [--down SECONDS --every SECONDS]
"""

import argparse
import asyncio
import contextlib
import random
import time


class Link(asyncio.DatagramProtocol):
    """One direction: whatever arrives is handed to `send` after a while, or lost."""

    def __init__(self, options, send):
        self.options, self.send, self.transport, self.newest = options, send, None, 0.0

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        options = self.options
        is_down = options.every > 0 and time.monotonic() % options.every < options.down
        if is_down or random.random() * 100 < options.loss:
            return
        # Late, but in order: what overtakes looks to QUIC as if the rest were lost.
        loop = asyncio.get_running_loop()
        self.newest = max(self.newest + 1e-6, loop.time() + max(0.0, random.gauss(options.delay, options.jitter)) / 1000)
        loop.call_at(self.newest, self.send, data, address)

    def error_received(self, _):
        """Nobody listens there yet: what was sent is lost, as on any link."""


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("listen", metavar="FROM-PORT", type=int)
    parser.add_argument("to", metavar="TO-PORT", type=int)
    parser.add_argument("--loss", type=float, default=2.0, help="percent of the packets (default %(default)s)")
    parser.add_argument("--delay", type=float, default=40.0, help="milliseconds, one way (default %(default)s)")
    parser.add_argument("--jitter", type=float, default=10.0, help="milliseconds (default %(default)s)")
    parser.add_argument("--down", type=float, default=0.0, help="for so many seconds nothing goes ...")
    parser.add_argument("--every", type=float, default=0.0, help="... once in so many seconds")
    options = parser.parse_args()
    loop = asyncio.get_running_loop()
    ways = {}  # who came from where: the socket that speaks for it on the far side

    async def open_way(client):
        back = Link(options, lambda data, _: near.sendto(data, client))
        ways[client], _ = await loop.create_datagram_endpoint(lambda: back, remote_addr=("127.0.0.1", options.to))

    def forward(data, client):
        if client not in ways:
            ways[client] = None
            opening.add(task := loop.create_task(open_way(client)))
            task.add_done_callback(opening.discard)
        elif ways[client] is not None:
            ways[client].sendto(data)

    opening = set()
    near, _ = await loop.create_datagram_endpoint(lambda: Link(options, forward), local_addr=("127.0.0.1", options.listen))
    await asyncio.Event().wait()


with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main())
