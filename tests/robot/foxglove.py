"""Looks at a domain as Foxglove does: waits until all these topics are offered, and for a message of the first.

Usage: foxglove.py URL TOPIC...
Prints the schema of the first topic, and how many bytes its message has.
"""

import json
import sys

from websockets.sync.client import connect

PATIENCE = 60
MESSAGE_DATA = 1  # the first byte of a binary frame, before the subscription (4 bytes) and the time (8)


def main(url, *topics):
    with connect(url, subprotocols=["foxglove.sdk.v1"], max_size=None) as server:
        channels = {}
        while not set(topics) <= set(channels):
            said = server.recv(PATIENCE)
            for channel in json.loads(said).get("channels", []) if isinstance(said, str) else []:
                channels[channel["topic"]] = channel
        server.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": 7, "channelId": channels[topics[0]]["id"]}]}))
        while not (isinstance(said := server.recv(PATIENCE), bytes) and said[0] == MESSAGE_DATA):
            pass
        print(channels[topics[0]]["schemaName"], len(said) - 13)


main(*sys.argv[1:])
