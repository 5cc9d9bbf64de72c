"""The action example_interfaces/action/Fibonacci as rcl_action has it over rmw_zenoh: three services and two topics, for rmw_zenoh_peer.py. Nothing in it is of sinew: hashes and streams are made by rosbags."""

import itertools
import threading

import numpy
import zenoh
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from rmw_zenoh_words import SECONDS, beside, qos_of, read_beside, say, wait

FIBONACCI = "example_interfaces/action/Fibonacci"
CANCEL_GOAL = "action_msgs/srv/CancelGoal"
STATUSES = "action_msgs/msg/GoalStatusArray"
GOAL_ID = "unique_identifier_msgs/UUID goal_id\n"
MESSAGES = {
    "unique_identifier_msgs/msg/UUID": "uint8[16] uuid\n",
    "builtin_interfaces/msg/Time": "int32 sec\nuint32 nanosec\n",
    # Where rosidl has char, which is an uint8 to it.
    "service_msgs/msg/ServiceEventInfo": "uint8 event_type\nbuiltin_interfaces/Time stamp\nuint8[16] client_gid\nint64 sequence_number\n",
    "action_msgs/msg/GoalInfo": GOAL_ID + "builtin_interfaces/Time stamp\n",
    "action_msgs/msg/GoalStatus": "action_msgs/GoalInfo goal_info\nint8 status\n",
    STATUSES: "action_msgs/GoalStatus[] status_list\n",
    FIBONACCI + "_Goal": "int32 order\n",
    FIBONACCI + "_Result": "int32[] sequence\n",
    FIBONACCI + "_Feedback": "int32[] sequence\n",
    FIBONACCI + "_FeedbackMessage": GOAL_ID + f"{FIBONACCI}_Feedback feedback\n",
}
# Of an action, by what is behind its name.
SERVICES = {"send_goal": FIBONACCI + "_SendGoal", "get_result": FIBONACCI + "_GetResult", "cancel_goal": CANCEL_GOAL}
REQUESTS = {
    FIBONACCI + "_SendGoal": (GOAL_ID + f"{FIBONACCI}_Goal goal\n", "bool accepted\nbuiltin_interfaces/Time stamp\n"),
    FIBONACCI + "_GetResult": (GOAL_ID, f"int8 status\n{FIBONACCI}_Result result\n"),
    CANCEL_GOAL: ("action_msgs/GoalInfo goal_info\n", "int8 return_code\naction_msgs/GoalInfo[] goals_canceling\n"),
}
EXECUTING, SUCCEEDED, CANCELLED = 2, 4, 5
WITHOUT_END = 1000
LATCHED = {"transient_local": True, "depth": 1}


class Messages:
    """Those of actions, with their hashes. Messages are dictionaries here."""

    def __init__(self):
        self.store = get_typestore(Stores.EMPTY)
        for name, text in MESSAGES.items():
            self.register(name, text)
        for name, (request, response) in REQUESTS.items():
            self.register(name + "_Request", request)
            self.register(name + "_Response", response)
            self.register(name + "_Event", f"service_msgs/ServiceEventInfo info\n{name}_Request[<=1] request\n{name}_Response[<=1] response\n")
            self.register(name, f"{name}_Request request_message\n{name}_Response response_message\n{name}_Event event_message\n")

    def register(self, name, text):
        def named(node):
            """rosbags makes messages of what is of services."""
            kind, what = node
            if kind == Nodetype.NAME:
                return kind, what.replace("/srv/msg/", "/srv/")
            return node if kind == Nodetype.BASE else (kind, (named(what[0]), what[1]))

        ((_, fields),) = get_types_from_msg(text, "any/msg/Any").values()
        self.store.register({name: ([], [(field, named(node)) for field, node in fields])})

    def type(self, name):
        package, kind, base = name.split("/")
        return f"{package}::{kind}::dds_::{base}_", self.store.hash_rihs01(name)

    def encode(self, name, **fields):
        return bytes(self.store.serialize_cdr(self.made((Nodetype.NAME, name), fields), name))

    def made(self, node, given):
        kind, what = node
        if kind == Nodetype.NAME:
            return self.store.types[what](**{field: self.made(inner, given[field]) for field, inner in self.store.fielddefs[what][1]})
        if kind == Nodetype.BASE:
            return given
        inner = what[0]
        if inner[0] == Nodetype.NAME:
            return [self.made(inner, each) for each in given]
        return numpy.array(list(given), inner[1][0])

    def decode(self, name, stream):
        return self.told((Nodetype.NAME, name), self.store.deserialize_cdr(stream, name))

    def told(self, node, message):
        kind, what = node
        if kind == Nodetype.NAME:
            return {field: self.told(inner, getattr(message, field)) for field, inner in self.store.fielddefs[what][1]}
        if kind == Nodetype.BASE:
            return message
        return [self.told(what[0], each) for each in message] if what[0][0] == Nodetype.NAME else message.tolist()


class Executing:
    """A server."""

    def __init__(self, peer, action):
        self.peer, self.messages = peer, peer.messages
        self.lock, self.goals, self.waiting, self.cancelled, self.ends = threading.Lock(), {}, [], 0, []
        peer.write("feedback", f"{action}/_action/feedback", *self.messages.type(FIBONACCI + "_FeedbackMessage"), {})
        peer.write("status", f"{action}/_action/status", *self.messages.type(STATUSES), LATCHED)
        for part, name in SERVICES.items():
            topic, (ty, digest) = f"{action}/_action/{part}", self.messages.type(name)
            queryable = peer.session.declare_queryable(
                peer.key(topic, ty, digest), lambda query, part=part: self.called(part, query), complete=True)
            self.ends.append((queryable, peer.token("SS", topic, ty, digest, qos_of({}))))

    def called(self, part, query):
        try:
            asked = self.messages.decode(SERVICES[part] + "_Request", query.payload.to_bytes())
            with self.lock:
                getattr(self, part)(query, asked)
        except Exception as error:
            say(error=f"a call of {part}: {type(error).__name__}: {error}")

    def reply(self, part, query, **fields):
        with query:
            stream = self.messages.encode(SERVICES[part] + "_Response", **fields)
            query.reply(str(query.key_expr), stream, attachment=beside(*read_beside(query.attachment)))

    def tell(self):
        goals = [{"goal_info": {"goal_id": {"uuid": id}, "stamp": {"sec": 1, "nanosec": 0}}, "status": status} for id, (status, _) in self.goals.items()]
        self.peer.publish("status", self.messages.encode(STATUSES, status_list=goals))

    def send_goal(self, query, asked):
        id, order = bytes(asked["goal_id"]["uuid"]), asked["goal"]["order"]
        accepted = order >= 0 and id not in self.goals
        self.reply("send_goal", query, accepted=accepted, stamp={"sec": 1, "nanosec": 0})
        if not accepted:
            return
        self.goals[id] = (EXECUTING, [])
        self.tell()
        if order >= WITHOUT_END:
            return
        for at in range(1, order + 1):
            feedback = {"goal_id": {"uuid": id}, "feedback": {"sequence": fibonacci(at)}}
            self.peer.publish("feedback", self.messages.encode(FIBONACCI + "_FeedbackMessage", **feedback))
        self.end(id, SUCCEEDED, fibonacci(order))

    def end(self, id, status, sequence):
        self.goals[id] = (status, sequence)
        self.tell()
        waiting, self.waiting = self.waiting, []
        for query, asked in waiting:
            self.get_result(query, asked)

    def get_result(self, query, asked):
        status, sequence = self.goals.get(bytes(asked["goal_id"]["uuid"]), (0, []))
        if status == EXECUTING:
            self.waiting.append((query, asked))
        else:
            self.reply("get_result", query, status=status, result={"sequence": sequence})

    def cancel_goal(self, query, asked):
        id = bytes(asked["goal_info"]["goal_id"]["uuid"])
        is_executed = self.goals.get(id, (0, []))[0] == EXECUTING
        self.reply("cancel_goal", query, return_code=0 if is_executed else 2, goals_canceling=[])
        if is_executed:
            self.cancelled += 1
            self.end(id, CANCELLED, [42])


class Sending:
    """A client."""

    def __init__(self, peer, action):
        self.peer, self.messages, self.action = peer, peer.messages, action
        # Ids of goals that there was feedback of, and how goals stand.
        self.feedback, self.status = [], []
        self.numbers, self.tokens, self.answers = itertools.count(1), {}, {}
        peer.read("feedback of goals", f"{action}/_action/feedback", *self.messages.type(FIBONACCI + "_FeedbackMessage"), {}, self.fed)
        peer.read("status of goals", f"{action}/_action/status", *self.messages.type(STATUSES), LATCHED, self.stand)
        for part, name in SERVICES.items():
            topic, (ty, digest) = f"{action}/_action/{part}", self.messages.type(name)
            mangled = topic.replace("/", "%")
            wait(lambda: any("/SS/" in token and f"/%{mangled}/{ty}/{digest}/" in token for token in list(peer.there)))
            self.tokens[part] = peer.token("SC", topic, ty, digest, qos_of({}))

    def fed(self, stream, *_):
        self.feedback.append(bytes(self.messages.decode(FIBONACCI + "_FeedbackMessage", stream)["goal_id"]["uuid"]))

    def stand(self, stream, *_):
        self.status = [goal["status"] for goal in self.messages.decode(STATUSES, stream)["status_list"]]

    def ask(self, part, **fields):
        """A number by which the reply is known."""
        number, (_, gid) = next(self.numbers), self.tokens[part]
        ty, digest = self.messages.type(SERVICES[part])

        def answered(reply):
            if reply.ok is None:
                self.answers[number] = reply.err.payload.to_string()
            elif read_beside(reply.ok.attachment) == (number, gid):
                self.answers[number] = self.messages.decode(SERVICES[part] + "_Response", reply.ok.payload.to_bytes())

        self.peer.session.get(
            self.peer.key(f"{self.action}/_action/{part}", ty, digest), answered,
            payload=self.messages.encode(SERVICES[part] + "_Request", **fields), attachment=beside(number, gid),
            target=zenoh.QueryTarget.ALL_COMPLETE, consolidation=zenoh.ConsolidationMode.NONE, timeout=SECONDS)
        return number

    def replies(self, numbers):
        wait(lambda: all(number in self.answers for number in numbers))
        return [self.answers[number] for number in numbers]

    def send(self, id, order):
        return self.ask("send_goal", goal_id={"uuid": id}, goal={"order": order})

    def cancel(self, id):
        return self.replies([self.ask("cancel_goal", goal_info={"goal_id": {"uuid": id}, "stamp": {"sec": 0, "nanosec": 0}})])[0]


def result_of(reply):
    return {"status": reply["status"], "sequence": reply["result"]["sequence"]}


def uuid(number):
    return bytes([number] * 16)


def fibonacci(order):
    numbers = [0, 1]
    while len(numbers) <= order:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers[: order + 1]
