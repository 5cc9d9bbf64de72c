"""Programs of ROS 1, for the tests of the bridge to it, run by the Python that has Debian's packages.

ros1_peer.py master PORT: a master at this port, or, where that is 0, at one that is free, which it says as {"uri": ...}; until its input ends.

ros1_peer.py node NAME < REQUESTS > ANSWERS: a node. A request is a line of JSON, and so is what it says. "do" is
  "type": makes a class of the definition "text" of "name", and tells its MD5 sum;
  "write": makes a publisher "id" on "topic" of the type "name", which latches if "latch"; "publish": writes the message "message" with it;
  "read": makes a subscriber "id" likewise, or, without "name", one that takes whatever comes; its messages are told as {"got": id, "message": ...};
  "close": unregisters publisher or subscriber "id"; "connected": tells with how many others it is connected;
  "random": tells a message of "name" with random values;
  "topics": tells what the master knows of topics: their types, publishers and subscribers;
  "where": tells where publisher "node" of "topic" answers questions, and where it gives messages;
  "stall": subscribes to "topic" at that place, and reads nothing of what comes;
  "drain": reads it then, until the other one ends, and tells how many messages came whole; "pause": between two of them, in seconds.
Every request is answered by {"done": what was done, "result": ...}, or {"error": ...}. Messages are in hexadecimal digits, as rospy writes and reads them.
"""

import io
import json
import random
import socket
import struct
import sys
import threading
import time
import xmlrpc.client

BUILT_IN = {f"{sign}int{bits}": (0 if sign else -(2 ** (bits - 1)), 2 ** (bits if sign else bits - 1) - 1) for sign in ("", "u") for bits in (8, 16, 32, 64)}
BUILT_IN |= {"byte": BUILT_IN["int8"], "char": BUILT_IN["uint8"]}
saying = threading.Lock()


def say(**what):
    with saying:
        print(json.dumps(what), flush=True)


def written(message):
    into = io.BytesIO()
    message.serialize(into)
    return into.getvalue()


class Types:
    """Made of definitions."""

    def __init__(self):
        self.classes = {}

    def make(self, name, text):
        import genpy.dynamic

        made = genpy.dynamic.generate_dynamic(name, text)
        # Each has parts of its own, whose classes are not those of another.
        self.classes[name] = made[name], made

    def __getitem__(self, name):
        return self.classes[name][0]

    def random(self, name):
        cls, parts = self.classes[name]
        return self.value(cls, parts)

    def value(self, cls, parts):
        message = cls()
        for slot, ty in zip(cls.__slots__, cls._slot_types):
            setattr(message, slot, self.of(ty, parts))
        # Which only the header of the message itself has, and rospy counts there.
        if cls._type == "std_msgs/Header":
            message.seq = 0
        return message

    def of(self, ty, parts):
        import genpy

        if ty.endswith("]"):
            base, _, length = ty[:-1].rpartition("[")
            count = int(length) if length else random.randrange(4)
            if base in ("uint8", "char"):
                return random.randbytes(count)
            return [self.of(base, parts) for _ in range(count)]
        if ty in BUILT_IN:
            return random.randint(*BUILT_IN[ty])
        if ty == "bool":
            return random.random() < 0.5
        if ty in ("float32", "float64"):
            return struct.unpack("<f", struct.pack("<f", random.uniform(-1e6, 1e6)))[0]
        if ty == "string":
            return "".join(random.choices("abcdefgh /_ä€", k=random.randrange(9)))
        if ty == "time":
            return genpy.Time(random.randrange(2**31), random.randrange(10**9))
        if ty == "duration":
            return genpy.Duration(random.randrange(-(2**31), 2**31), random.randrange(10**9))
        return self.value(parts[ty], parts)


class Node:
    def __init__(self, name):
        import rospy

        self.rospy = rospy
        self.types = Types()
        self.ends = {}
        self.stalled = []
        rospy.init_node(name, disable_signals=True, disable_rosout=True)

    def act(self, asked):
        return getattr(self, "do_" + asked.pop("do"))(**asked)

    def do_type(self, name, text):
        self.types.make(name, text)
        return self.types[name]._md5sum

    def do_write(self, id, topic, name, latch=False):
        self.ends[id] = self.rospy.Publisher(topic, self.types[name], queue_size=1000, latch=latch)

    def do_publish(self, id, name, message):
        self.ends[id].publish(self.types[name]().deserialize(bytes.fromhex(message)))

    def do_read(self, id, topic, name=None):
        cls = self.types[name] if name else self.rospy.AnyMsg

        def got(message):
            say(got=id, message=(written(message) if name else message._buff).hex())

        self.ends[id] = self.rospy.Subscriber(topic, cls, got, tcp_nodelay=True)

    def do_close(self, id):
        self.ends.pop(id).unregister()

    def do_connected(self, id):
        end = self.ends[id]
        if isinstance(end, self.rospy.Subscriber):
            # rospy counts a publisher that it has yet to dial; it has its MD5 sum when that has answered.
            return sum(each.md5sum is not None for each in end.impl.connections)
        return end.get_num_connections()

    def do_random(self, name):
        return written(self.types.random(name)).hex()

    def do_topics(self):
        import rosgraph

        master = rosgraph.Master(self.rospy.get_name())
        publishers, subscribers, _ = master.getSystemState()
        return {"types": dict(master.getTopicTypes()), "publishers": dict(publishers), "subscribers": dict(subscribers)}

    def do_where(self, topic, node):
        import rosgraph

        uri = rosgraph.Master(self.rospy.get_name()).lookupNode(node)
        status, text, place = xmlrpc.client.ServerProxy(uri).requestTopic(self.rospy.get_name(), topic, [["TCPROS"]])
        if status != 1:
            raise RuntimeError(text)
        return {"questions": int(uri.rstrip("/").rsplit(":", 1)[1]), "messages": place[2]}

    def do_stall(self, topic, port):
        stalled = socket.create_connection(("localhost", port))
        fields = [f"{name}={value}".encode() for name, value in (("callerid", "/stalled"), ("topic", topic), ("md5sum", "*"), ("type", "*"))]
        header = b"".join(struct.pack("<I", len(field)) + field for field in fields)
        stalled.sendall(struct.pack("<I", len(header)) + header)
        self.stalled.append(stalled)

    def do_drain(self, pause):
        with self.stalled.pop() as stalled, stalled.makefile("rb") as stream:

            def next_block():
                length = stream.read(4)
                size = struct.unpack("<I", length)[0] if len(length) == 4 else None
                return size is not None and len(stream.read(size)) == size

            next_block()  # the header
            count = 0
            while next_block():
                count += 1
                time.sleep(pause)
            return count


def main():
    role, what = sys.argv[1:]
    if role == "master":
        import rosmaster.master

        master = rosmaster.master.Master(int(what))
        master.start()
        say(uri=master.uri)
        sys.stdin.read()
        return
    node = Node(what)
    say(done="node", result=None)
    for line in sys.stdin:
        asked = json.loads(line)
        done = asked["do"]
        try:
            say(done=done, result=node.act(asked))
        except Exception as error:
            say(error=f"{done}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
