"""A program of Cyclone DDS, for the tests of the bridge to ROS 2: ros2_peer.py DOMAIN_ID < REQUESTS > ANSWERS

A request is a line of JSON, and so is what it says. "do" is
  "type": makes a type of the definition "text" of "name" (ros2msg), with "header" as a request or reply of rmw_cyclonedds;
  "write": makes a writer "id" on "topic" of the type "name", with "qos", which writes "first" as soon as it is connected, where that is said; "publish": writes the message "stream" with it, "times" times;
  "read": makes a reader "id" likewise, whose messages are told as {"got": id, "stream": ...}, or are not taken, where it is "idle", until it is to "wake";
  "acknowledged": waits until all readers have what writer "id" has written, and tells whether they do; "close": closes writer or reader "id"; "matched": tells with how many others writer or reader "id" is connected;
  "serve": answers calls of the service "add" of example_interfaces/srv/AddTwoInts as rmw_cyclonedds does, or of "clear" of std_srvs/srv/Empty, where "service" says so; "call": calls it, as several
  clients "clients" do that have their own numbers, once for each of "numbers", all at once, and tells whose replies were wrong, or not theirs;
  "execute": executes goals of "action", which is of example_interfaces/action/Fibonacci, as a server of rmw_cyclonedds: those of 1000 numbers and more until they are cancelled,
  and "cancelled" tells how many were; "goals": sends it a goal for each of "orders", with ids from "first" on, all at once, and tells what became of them; "cancel": sends one of "order" and cancels
  it when it is executed, then once more, and then one that nobody knows, and tells the codes of the answers.
Every request is answered by {"done": what was done, ...}, or {"error": ...}. Streams are in hexadecimal digits, as Cyclone DDS encodes and decodes them.
"""

import gc
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
# Which C++ cannot do without, and so each message of ROS 2 without fields has it.
MEMBER = "structure_needs_at_least_one_member"
# What a service of this name is of, the fields of requests, and the one of responses, which is their sum.
SERVED = {
    "add": ("example_interfaces/srv/AddTwoInts_", {"a": "int64", "b": "int64"}, {"sum": "int64"}),
    "clear": ("std_srvs/srv/Empty_", {MEMBER: "uint8"}, {MEMBER: "uint8"}),
}
FIBONACCI = "example_interfaces/action/Fibonacci_"
WITHOUT_END = 1000
BEHIND = "\n" + "=" * 80 + "\nMSG: "
UUID = BEHIND + "unique_identifier_msgs/UUID\nuint8[16] uuid\n"
TIME = BEHIND + "builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
GOAL_ID = "unique_identifier_msgs/UUID goal_id\n"
INFO = BEHIND + "action_msgs/GoalInfo\nunique_identifier_msgs/UUID goal_id\nbuiltin_interfaces/Time stamp\n" + UUID + TIME


def part(name, fields):
    return BEHIND + f"example_interfaces/Fibonacci_{name}\n{fields}\n"


# What an action consists of, by the names of the types: definitions, and whether they are of a service.
ACTION = {
    FIBONACCI + "SendGoal_Request": (GOAL_ID + "example_interfaces/Fibonacci_Goal goal\n" + UUID + part("Goal", "int32 order"), True),
    FIBONACCI + "SendGoal_Response": ("bool accepted\nbuiltin_interfaces/Time stamp\n" + TIME, True),
    FIBONACCI + "GetResult_Request": (GOAL_ID + UUID, True),
    FIBONACCI + "GetResult_Response": ("int8 status\nexample_interfaces/Fibonacci_Result result\n" + part("Result", "int32[] sequence"), True),
    FIBONACCI + "FeedbackMessage": (GOAL_ID + "example_interfaces/Fibonacci_Feedback feedback\n" + UUID + part("Feedback", "int32[] sequence"), False),
    "action_msgs/srv/CancelGoal_Request": ("action_msgs/GoalInfo goal_info\n" + INFO, True),
    "action_msgs/srv/CancelGoal_Response": ("int8 return_code\naction_msgs/GoalInfo[] goals_canceling\n" + INFO, True),
    "action_msgs/msg/GoalStatusArray": ("action_msgs/GoalStatus[] status_list\n" + BEHIND + "action_msgs/GoalStatus\naction_msgs/GoalInfo goal_info\nint8 status\n" + INFO, False),
}
EXECUTING, SUCCEEDED, CANCELLED = 2, 4, 5
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
    policies = [Policy.Reliability.Reliable(duration(seconds=asked.get("patience", 1))) if asked.get("reliable", True) else Policy.Reliability.BestEffort]
    policies.append(Policy.Durability.TransientLocal if asked.get("transient_local") else Policy.Durability.Volatile)
    depth = asked.get("depth", 10)
    policies.append(Policy.History.KeepLast(depth) if depth else Policy.History.KeepAll)
    if asked.get("transient_local"):
        # What comes late gets so many, whatever the history is.
        policies.append(Policy.DurabilityService(duration(seconds=0), Policy.History.KeepLast(depth or 1), -1, -1, -1))
    if "most" in asked:
        policies.append(Policy.ResourceLimits(max_samples=asked["most"]))
    if "deadline_ms" in asked:
        policies.append(Policy.Deadline(duration(milliseconds=asked["deadline_ms"])))
    if "lifespan_ms" in asked:
        policies.append(Policy.Lifespan(duration(milliseconds=asked["lifespan_ms"])))
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

    def do_write(self, id, topic, name, qos={}, first=None):
        self.ends[id] = DataWriter(self.participant, self.topic(topic, name), qos=qos_of(qos))
        if first:
            while self.do_matched(id) == 0:
                time.sleep(0)
            self.do_publish(id, first, name)

    def do_read(self, id, topic, name, qos={}, idle=False):
        self.ends[id] = DataReader(self.participant, self.topic(topic, name), qos=qos_of(qos), listener=None if idle else Told(id))

    def do_wake(self, id):
        told = Told(id)
        self.ends[id].set_listener(told)
        told.on_data_available(self.ends[id])

    def do_publish(self, id, stream, name, times=1):
        message = self.types.made[name].deserialize(bytes.fromhex(stream))
        for _ in range(times):
            self.ends[id].write(message)

    def do_acknowledged(self, id):
        return self.ends[id].wait_for_acks(duration(seconds=20))

    def do_close(self, id):
        del self.ends[id]
        gc.collect()

    def do_matched(self, id):
        end = self.ends[id]
        return len(end.get_matched_subscriptions() if isinstance(end, DataWriter) else end.get_matched_publications())

    def served(self, service):
        """The types of its requests and responses, their topics, and how they are written and read."""
        ty, *parts = SERVED[service]
        for part, fields in zip(("Request", "Response"), parts):
            self.types.make(ty + part, "".join(f"{kind} {field}\n" for field, kind in fields.items()), header=True)
        made = [self.types.made[ty + part] for part in ("Request", "Response")]
        topics = [Topic(self.participant, topic, each) for topic, each in zip((f"rq/{service}Request", f"rr/{service}Reply"), made)]
        return made, topics, Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepAll)

    def do_serve(self, service="add"):
        (_, answer), (request, reply), qos = self.served(service)
        replier = DataWriter(self.participant, reply, qos=qos)
        _, asks, (told,) = SERVED[service]

        class Serving(Listener):
            def on_data_available(self, reader):
                for asked in filter(lambda each: isinstance(each, IdlStruct), reader.take(100)):
                    answered = {told: sum(getattr(asked, field) for field in asks)}
                    replier.write(answer(client_guid=asked.client_guid, sequence=asked.sequence, **answered))

        self.ends["serve"] = replier, DataReader(self.participant, request, qos=qos, listener=Serving())

    def do_execute(self, action):
        self.ends["execute"] = Executing(self, action)

    def do_cancelled(self):
        return self.ends["execute"].cancelled

    def do_goals(self, action, first, orders):
        sending = self.sending(action)
        ids, accepted = sending.send(first, orders)
        results = sending.results([id for id, is_accepted in zip(ids, accepted) if is_accepted])
        expected = sum(order for order in orders if order > 0)
        feedback = []
        sending.wait(lambda: feedback.extend(bytes(told.goal_id.uuid) for told in taken(sending.feedback)) or len(feedback) >= expected)
        if not results:
            return [{"accepted": is_accepted} for is_accepted in accepted]
        return [
            {"accepted": is_accepted, "status": result.status, "sequence": list(result.result.sequence), "feedback": feedback.count(bytes(id))}
            for id, is_accepted, result in zip(ids, accepted, results)
        ]

    def do_cancel(self, action, order):
        sending = self.sending(action)
        (id,), _ = sending.send(200, [order])
        first = sending.cancel(id)
        (result,) = sending.results([id])
        seen = [first, sending.cancel(id), sending.cancel([201] * 16)]
        return {
            "codes": [told.return_code for told in seen],
            "cancelling": len(first.goals_canceling),
            "status": result.status,
            "sequence": list(result.result.sequence),
        }

    def sending(self, action):
        if "send" not in self.ends:
            self.ends["send"] = Sending(self, action)
        return self.ends["send"]

    def do_call(self, clients, numbers, service="add"):
        (ask, _), (request, reply), qos = self.served(service)
        _, asks, (told_in,) = SERVED[service]
        reader, writer = DataReader(self.participant, reply, qos=qos), DataWriter(self.participant, request, qos=qos)
        while not reader.get_matched_publications() or not writer.get_matched_subscriptions():
            time.sleep(0.01)
        numbers_of = (lambda client, number: (client, number)) if service == "add" else (lambda *_: (0,))
        waiting = {(client, number): numbers_of(client, number) for client in range(1, clients + 1) for number in range(numbers)}
        for (client, number), asked in waiting.items():
            writer.write(ask(client_guid=client, sequence=number, **dict(zip(asks, asked))))
        wrong, until = [], time.monotonic() + 60
        while waiting and time.monotonic() < until:
            for told in reader.take(100) or [time.sleep(0.002)]:
                if told is not None and sum(waiting.pop((told.client_guid, told.sequence), [-1])) != getattr(told, told_in):
                    wrong.append([told.client_guid, told.sequence, getattr(told, told_in)])
        return {"wrong": wrong, "unanswered": len(waiting)}


class Action:
    """What both sides of one have."""

    def __init__(self, peer, name):
        for ty, (text, header) in ACTION.items():
            peer.types.make(ty, text, header)
        self.peer, self.name, self.made = peer, name, peer.types.made

    def of(self, ty, **fields):
        """A message. Fields that are structures are given as dictionaries."""
        return build(self.made[ty], fields)

    def topic(self, part, ty):
        return Topic(self.peer.participant, f"rt/{self.name}/_action/{part}", self.made[ty])

    def service(self, part, ty):
        """The topics of requests and replies."""
        named = f"{self.name}/_action/{part}"
        return (Topic(self.peer.participant, topic, self.made[ty + end]) for topic, end in ((f"rq/{named}Request", "Request"), (f"rr/{named}Reply", "Response")))


SERVICE = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepAll)
STATUS = qos_of({"transient_local": True, "depth": 1})
SERVICES = {"send_goal": FIBONACCI + "SendGoal_", "get_result": FIBONACCI + "GetResult_", "cancel_goal": "action_msgs/srv/CancelGoal_"}


class Executing(Action):
    """A server. What is asked is worked off by one thread."""

    def __init__(self, peer, name):
        super().__init__(peer, name)
        self.feedback = DataWriter(peer.participant, self.topic("feedback", FIBONACCI + "FeedbackMessage"), qos=SERVICE)
        self.status = DataWriter(peer.participant, self.topic("status", "action_msgs/msg/GoalStatusArray"), qos=STATUS)
        self.readers, self.writers = {}, {}
        for part, ty in SERVICES.items():
            requests, replies = self.service(part, ty)
            self.writers[part], self.readers[part] = DataWriter(peer.participant, replies, qos=SERVICE), DataReader(peer.participant, requests, qos=SERVICE)
        self.goals, self.waiting, self.cancelled = {}, [], 0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            for part, reader in self.readers.items():
                for asked in taken(reader):
                    getattr(self, part)(asked)
            time.sleep(0.001)

    def reply(self, part, asked, **fields):
        self.writers[part].write(self.of(SERVICES[part] + "Response", client_guid=asked.client_guid, sequence=asked.sequence, **fields))

    def tell(self):
        goals = [{"goal_info": {"goal_id": {"uuid": list(id)}, "stamp": {"sec": 1, "nanosec": 0}}, "status": status} for id, (status, _) in self.goals.items()]
        self.status.write(self.of("action_msgs/msg/GoalStatusArray", status_list=goals))

    def send_goal(self, asked):
        id, order = bytes(asked.goal_id.uuid), asked.goal.order
        accepted = order >= 0 and id not in self.goals
        self.reply("send_goal", asked, accepted=accepted, stamp={"sec": 1, "nanosec": 0})
        if not accepted:
            return
        self.goals[id] = (EXECUTING, [])
        self.tell()
        if order >= WITHOUT_END:
            return
        for at in range(1, order + 1):
            self.feedback.write(self.of(FIBONACCI + "FeedbackMessage", goal_id={"uuid": list(id)}, feedback={"sequence": fibonacci(at)}))
        self.end(id, SUCCEEDED, fibonacci(order))

    def end(self, id, status, sequence):
        self.goals[id] = (status, sequence)
        self.tell()
        waiting, self.waiting = self.waiting, []
        for asked in waiting:
            self.get_result(asked)

    def get_result(self, asked):
        status, sequence = self.goals.get(bytes(asked.goal_id.uuid), (0, []))
        if status == EXECUTING:
            self.waiting.append(asked)
        else:
            self.reply("get_result", asked, status=status, result={"sequence": sequence})

    def cancel_goal(self, asked):
        id = bytes(asked.goal_info.goal_id.uuid)
        is_executed = self.goals.get(id, (0, []))[0] == EXECUTING
        self.reply("cancel_goal", asked, return_code=0 if is_executed else 2, goals_canceling=[])
        if is_executed:
            self.cancelled += 1
            self.end(id, CANCELLED, [42])


class Sending(Action):
    """A client."""

    def __init__(self, peer, name):
        super().__init__(peer, name)
        self.feedback = DataReader(peer.participant, self.topic("feedback", FIBONACCI + "FeedbackMessage"), qos=qos_of({"depth": 0}))
        self.status = DataReader(peer.participant, self.topic("status", "action_msgs/msg/GoalStatusArray"), qos=STATUS)
        self.readers, self.writers = {}, {}
        for part, ty in SERVICES.items():
            requests, replies = self.service(part, ty)
            self.readers[part], self.writers[part] = DataReader(peer.participant, replies, qos=SERVICE), DataWriter(peer.participant, requests, qos=SERVICE)
        self.number = 0
        self.wait(lambda: all(reader.get_matched_publications() for reader in (self.feedback, self.status, *self.readers.values())))
        self.wait(lambda: all(writer.get_matched_subscriptions() for writer in self.writers.values()))

    def wait(self, until):
        begin = time.monotonic()
        while not (found := until()):
            if time.monotonic() - begin > 20:
                raise TimeoutError("in vain")
            time.sleep(0.002)
        return found

    def ask(self, part, **fields):
        self.number += 1
        self.writers[part].write(self.of(SERVICES[part] + "Request", client_guid=77, sequence=self.number, **fields))
        return self.number

    def replies(self, part, numbers):
        """By those numbers."""
        got = {}

        def all_there():
            got.update({reply.sequence: reply for reply in taken(self.readers[part]) if reply.client_guid == 77})
            return set(numbers) <= set(got)

        self.wait(all_there)
        return [got[number] for number in numbers]

    def send(self, first, orders):
        """The ids of the goals, and whether they are accepted."""
        ids = [[first + n] * 16 for n in range(len(orders))]
        asked = [self.ask("send_goal", goal_id={"uuid": id}, goal={"order": order}) for id, order in zip(ids, orders)]
        return ids, [reply.accepted for reply in self.replies("send_goal", asked)]

    def results(self, ids):
        return self.replies("get_result", [self.ask("get_result", goal_id={"uuid": id}) for id in ids])

    def cancel(self, id):
        return self.replies("cancel_goal", [self.ask("cancel_goal", goal_info={"goal_id": {"uuid": id}, "stamp": {"sec": 0, "nanosec": 0}})])[0]


def taken(reader):
    """Messages: beside them it gives that a writer is gone."""
    return [message for message in reader.take(1000) if isinstance(message, IdlStruct)]


def fibonacci(order):
    numbers = [0, 1]
    while len(numbers) <= order:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers[: order + 1]


def build(ty, fields):
    def value(ty, given):
        if isinstance(given, dict):
            return build(ty, given)
        if isinstance(given, list) and given and isinstance(given[0], dict):
            return [build(ty.__metadata__[0].subtype, each) for each in given]
        return given

    return ty(**{name: value(ty.__annotations__[name], given) for name, given in fields.items()})


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
