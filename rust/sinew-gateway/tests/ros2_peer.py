"""A program of Cyclone DDS, for the tests of the bridge to ROS 2: ros2_peer.py DOMAIN_ID < REQUESTS > ANSWERS

A request is a line of JSON, and so is what it says. "do" is
  "type": makes a type of the definition "text" of "name" (ros2msg), with "header" as a request or reply of rmw_cyclonedds;
  "write": makes a writer "id" on "topic" of the type "name", with "qos"; "publish": writes the message "stream" with it;
  "read": makes a reader "id" likewise, whose messages are told as {"got": id, "stream": ...};
  "matched": tells with how many others writer or reader "id" is connected;
  "serve": answers calls of the service "add" of example_interfaces/srv/AddTwoInts as rmw_cyclonedds does; "call": calls it, as several clients "clients" do that have
  their own numbers, once for each of "numbers", all at once, and tells whose replies were wrong, or not theirs.
Every request is answered by {"done": what was done, ...}, or {"error": ...}. Streams are in hexadecimal digits, as Cyclone DDS encodes and decodes them.
"""

import json
import sys
import threading
import time

from cyclonedds.core import Listener, Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct, make_idl_struct, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.interfaces import Nodetype

NUMBERS = {f"{sign}int{bits}": getattr(types, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
NUMBERS |= {"float32": types.float32, "float64": types.float64, "byte": types.uint8, "octet": types.uint8, "char": types.uint8, "bool": bool}
ADD = "example_interfaces/srv/AddTwoInts_"
saying = threading.Lock()


def say(**what):
    with saying:
        print(json.dumps(what), flush=True)


def dds_name(name):
    package, kind, base = name.split("/")
    return f"{package}.{kind}.dds_.{base}_"


class Types:
    """Made of definitions."""

    def __init__(self):
        self.made = {}

    def make(self, name, text, header):
        store = get_typestore(Stores.EMPTY)
        found = get_types_from_msg(text, name)
        store.register(found)
        self.made[name] = self.structure(store, next(iter(found)), name, header)

    def structure(self, store, known_as, name, header=False):
        """`known_as` is what rosbags makes of a name that is of no message."""
        fields = {"client_guid": types.uint64, "sequence": types.int64} if header else {}
        fields |= {field: self.of(store, node) for field, node in store.fielddefs[known_as][1]}
        return make_idl_struct(name.split("/")[-1] + "_", dds_name(name), fields)

    def of(self, store, node):
        kind, what = node
        if kind == Nodetype.BASE:
            base, bound = what
            return NUMBERS.get(base) or (types.bounded_str[bound] if bound else str)
        if kind == Nodetype.NAME:
            return self.structure(store, what, what)
        element, count = what
        inner = self.of(store, element)
        if kind == Nodetype.ARRAY:
            return types.array[inner, count]
        return types.sequence[inner, count] if count else types.sequence[inner]


def qos_of(asked):
    policies = [Policy.Reliability.Reliable(duration(seconds=1)) if asked.get("reliable", True) else Policy.Reliability.BestEffort]
    policies.append(Policy.Durability.TransientLocal if asked.get("transient_local") else Policy.Durability.Volatile)
    depth = asked.get("depth", 10)
    policies.append(Policy.History.KeepLast(depth) if depth else Policy.History.KeepAll)
    if asked.get("transient_local"):
        # What comes late gets so many, whatever the history is.
        policies.append(Policy.DurabilityService(duration(seconds=0), Policy.History.KeepLast(depth or 1), -1, -1, -1))
    if "user_data" in asked:
        policies.append(Policy.Userdata(asked["user_data"].encode()))
    return Qos(*policies)


class Told(Listener):
    """Of a reader: tells what came."""

    def __init__(self, name):
        super().__init__()
        self.name = name

    def on_data_available(self, reader):
        for message in reader.take(100):
            if isinstance(message, IdlStruct):
                say(got=self.name, stream=message.serialize().hex())


class Peer:
    def __init__(self, domain):
        self.participant = DomainParticipant(domain)
        self.types = Types()
        self.ends = {}

    def act(self, asked):
        return getattr(self, "do_" + asked.pop("do"))(**asked)

    def do_type(self, name, text, header=False):
        self.types.make(name, text, header)

    def topic(self, topic, name):
        return Topic(self.participant, topic, self.types.made[name])

    def do_write(self, id, topic, name, qos={}):
        self.ends[id] = DataWriter(self.participant, self.topic(topic, name), qos=qos_of(qos))

    def do_read(self, id, topic, name, qos={}):
        self.ends[id] = DataReader(self.participant, self.topic(topic, name), qos=qos_of(qos), listener=Told(id))

    def do_publish(self, id, stream, name):
        self.ends[id].write(self.types.made[name].deserialize(bytes.fromhex(stream)))

    def do_matched(self, id):
        end = self.ends[id]
        return len(end.get_matched_subscriptions() if isinstance(end, DataWriter) else end.get_matched_publications())

    def adding(self):
        for part, text in ("Request", "int64 a\nint64 b\n"), ("Response", "int64 sum\n"):
            self.types.make(ADD + part, text, header=True)
        request, reply = (Topic(self.participant, topic, self.types.made[ADD + part]) for topic, part in (("rq/addRequest", "Request"), ("rr/addReply", "Response")))
        return request, reply, Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepAll)

    def do_serve(self):
        request, reply, qos = self.adding()
        replier = DataWriter(self.participant, reply, qos=qos)
        answer = self.types.made[ADD + "Response"]

        class Serving(Listener):
            def on_data_available(self, reader):
                for asked in reader.take(100):
                    replier.write(answer(client_guid=asked.client_guid, sequence=asked.sequence, sum=asked.a + asked.b))

        self.ends["serve"] = replier, DataReader(self.participant, request, qos=qos, listener=Serving())

    def do_call(self, clients, numbers):
        request, reply, qos = self.adding()
        reader, writer = DataReader(self.participant, reply, qos=qos), DataWriter(self.participant, request, qos=qos)
        while not reader.get_matched_publications() or not writer.get_matched_subscriptions():
            time.sleep(0.01)
        ask = self.types.made[ADD + "Request"]
        waiting = {(client, number): client + number for client in range(1, clients + 1) for number in range(numbers)}
        for client, number in waiting:
            writer.write(ask(client_guid=client, sequence=number, a=client, b=number))
        wrong, until = [], time.monotonic() + 60
        while waiting and time.monotonic() < until:
            for told in reader.take(100) or [time.sleep(0.002)]:
                if told is not None and waiting.pop((told.client_guid, told.sequence), None) != told.sum:
                    wrong.append([told.client_guid, told.sequence, told.sum])
        return {"wrong": wrong, "unanswered": len(waiting)}


def main():
    peer = Peer(int(sys.argv[1]))
    for line in sys.stdin:
        asked = json.loads(line)
        done = asked["do"]
        try:
            say(done=done, result=peer.act(asked))
        except Exception as error:
            say(error=f"{done}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
