"""A node of ROS 2 with rmw_zenoh, by its published rules, for the tests of the bridge: rmw_zenoh_peer.py ENDPOINT DOMAIN_ID [ID OF ITS SESSION] < REQUESTS > ANSWERS

Nothing in it is of sinew: keys, tokens and attachments are made here, hashes by rosbags, gids by xxhash, and what is kept for those who come late is kept and asked for by Zenoh's own extension,
as rmw_zenoh does it. A request is a line of JSON, and so is what it says. "do" is
  "type": makes the type of the definition "text" of "name" (ros2msg) known;
  "write": makes a publisher "id" on "topic" of the type "name", with "qos", and tells its gid; "publish": publishes the message "stream" with it, "bare": without what belongs beside it, "age": as if so
  many seconds ago, "times": so often;
  "read": makes a subscription "id" likewise, whose messages are told as {"got": id, "stream": ...}; "told": tells what stood beside them, as [number, gid] for each;
  "close": ends a publisher or subscription; "tokens": tells all tokens that are there, each with its gid;
  "serve": answers calls of the service "add" of example_interfaces/srv/AddTwoInts, or of "clear" of std_srvs/srv/Empty, where "service" says so, "silently": takes them, and never does, and "kept" tells how many those are; "call": calls it,
  as several "clients", once for each of "numbers", all at once, and tells whose replies were wrong, or not theirs, how many calls were not answered, and what was said of those;
  "execute": executes goals of "action", which is of example_interfaces/action/Fibonacci, as a server of rcl_action does: those of 1000 numbers and more until they are cancelled, and "cancelled" tells how
  many were; "goals": sends it a goal for each of "orders", with ids from "first" on, all at once, and tells what became of them; "cancel": sends one of "order" and cancels it when it is executed, then once
  more, and then one that nobody knows, and tells the codes of the answers; "send": sends one with the id "id", and tells whether it is accepted; "result": tells what has become of that;
  "stand": waits until the status has so many goals as "count" says, and tells how they stand.
Every request is answered by {"done": what was done, ...}, or {"error": ...}. Streams are in hexadecimal digits.
"""

import itertools
import json
import re
import struct
import sys
import threading
import time

import zenoh
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from zenoh import ext

from rmw_zenoh_action import Executing, Messages, Sending, result_of, uuid
from rmw_zenoh_words import SECONDS, beside, gid_of, qos_of, read_beside, say, wait

# The type of a service of this name, its hash, the numbers in requests, as struct calls them, and the one in responses, which is their sum.
SERVED = {
    "add": ("example_interfaces::srv::dds_::AddTwoInts_", "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a", "qq", "q"),
    "clear": ("std_srvs::srv::dds_::Empty_", "RIHS01_5888399dedec5ccc85ea6451949fd2c9f97bfdf963f9a588821639fcd31b5d19", "B", "B"),
}


def encoded(kinds, *numbers):
    return struct.pack("<4s" + kinds, b"\0\1\0\0", *numbers)


class Peer:
    def __init__(self, endpoint, domain, id=None):
        quiet = {"multicast": {"enabled": False}, "gossip": {"enabled": False}}
        config = {"mode": "client", "connect": {"endpoints": [endpoint]}, "scouting": quiet, "timestamping": {"enabled": True}}
        if id is not None:
            config["id"] = id
        self.session = zenoh.open(zenoh.Config.from_json5(json.dumps(config)))
        self.domain = domain
        self.ids = itertools.count(1)
        self.hashes = {}
        self.messages = Messages()
        self.ends = {}
        self.told = {}
        self.kept = []
        self.there = set()
        live = self.session.liveliness()
        self.prefix = f"@ros2_lv/{domain}/{self.session.zid()}/0"
        self.graph = live.declare_subscriber(f"@ros2_lv/{domain}/**", self.seen, history=True)
        self.node = live.declare_token(f"{self.prefix}/0/NN/%/%/peer")

    def act(self, asked):
        return getattr(self, "do_" + asked.pop("do"))(**asked)

    def seen(self, sample):
        token = str(sample.key_expr)
        (self.there.add if sample.kind == zenoh.SampleKind.PUT else self.there.discard)(token)

    def key(self, topic, ty, digest):
        return f"{self.domain}/{topic}/{ty}/{digest}"

    def token(self, kind, topic, ty, digest, qos):
        """With its gid."""
        mangled = "%" + topic.replace("/", "%")
        text = f"{self.prefix}/{next(self.ids)}/{kind}/%/%/peer/{mangled}/{ty}/{digest}/{qos}"
        return self.session.liveliness().declare_token(text), gid_of(text)

    def type(self, name):
        package, kind, base = name.split("/")
        return f"{package}::{kind}::dds_::{base}_", self.hashes[name]

    def do_type(self, name, text):
        store = get_typestore(Stores.EMPTY)
        # It has hashes of `char` as a type of its own, where ROS 2 has `uint8`.
        store.register(get_types_from_msg(re.sub(r"(?m)^\s*char\b", "uint8", text), name))
        self.hashes[name] = store.hash_rihs01(name)

    def do_write(self, id, topic, name, qos={}):
        self.write(id, topic, *self.type(name), qos)
        return self.ends[id]["gid"].hex()

    def write(self, id, topic, ty, digest, qos):
        key, reliable, depth = self.key(topic, ty, digest), qos.get("reliable", True), qos.get("depth", 10)
        if qos.get("transient_local"):
            detection = ext.MissDetectionConfig(heartbeat=None, sporadic_heartbeat=0.5) if reliable else None
            publisher = ext.declare_advanced_publisher(
                self.session, key, cache=ext.CacheConfig(depth), publisher_detection=True, sample_miss_detection=detection)
        else:
            publisher = self.session.declare_publisher(key)
        token, gid = self.token("MP", topic, ty, digest, qos_of(qos))
        self.ends[id] = {"end": publisher, "token": token, "gid": gid, "numbers": itertools.count(1)}

    def do_publish(self, id, stream, name=None, bare=False, age=0, times=1):
        for _ in range(times):
            self.publish(id, bytes.fromhex(stream), bare, age)

    def publish(self, id, stream, bare=False, age=0):
        end = self.ends[id]
        end["end"].put(stream, attachment=None if bare else beside(next(end["numbers"]), end["gid"], age))

    def do_read(self, id, topic, name, qos={}):
        told = self.told.setdefault(id, [])

        def got(stream, number, gid):
            told.append([number, gid.hex()])
            say(got=id, stream=stream.hex())

        self.read(id, topic, *self.type(name), qos, got)

    def read(self, id, topic, ty, digest, qos, got):
        key = self.key(topic, ty, digest)

        def came(sample):
            try:
                got(sample.payload.to_bytes(), *read_beside(sample.attachment))
            except Exception as error:
                say(error=f"a message on {topic}: {type(error).__name__}: {error}")

        if qos.get("transient_local"):
            history = ext.HistoryConfig(detect_late_publishers=True, max_samples=qos.get("depth", 10))
            recovery = ext.RecoveryConfig(periodic_queries=None, heartbeat=True) if qos.get("reliable", True) else None
            subscriber = ext.declare_advanced_subscriber(
                self.session, key, came, history=history, recovery=recovery, subscriber_detection=True)
        else:
            subscriber = ext.declare_advanced_subscriber(self.session, key, came)
        token, _ = self.token("MS", topic, ty, digest, qos_of(qos))
        self.ends[id] = {"end": subscriber, "token": token}

    def do_told(self, id):
        return self.told[id]

    def do_close(self, id):
        end = self.ends.pop(id)
        end["token"].undeclare()
        end["end"].undeclare()

    def do_tokens(self):
        # What comes meanwhile does not change a list.
        return {token: gid_of(token).hex() for token in list(self.there)}

    def do_serve(self, silently=False, service="add"):
        ty, digest, asks, answer = SERVED[service]
        key = self.key(service, ty, digest)

        def called(query):
            if silently:
                self.kept.append(query)
                return
            number, gid = read_beside(query.attachment)
            asked = struct.unpack("<4x" + asks, query.payload.to_bytes())
            with query:
                query.reply(key, encoded(answer, sum(asked)), attachment=beside(number, gid))

        queryable = self.session.declare_queryable(key, called, complete=True)
        token, _ = self.token("SS", service, ty, digest, qos_of({}))
        self.ends["serve"] = {"end": queryable, "token": token}

    def do_kept(self):
        return len(self.kept)

    def do_call(self, clients, numbers, service="add"):
        ty, digest, asks, answer = SERVED[service]
        until = time.monotonic() + SECONDS
        while not any("/SS/" in token and f"/%{service}/" in token for token in list(self.there)):
            if time.monotonic() > until:
                raise TimeoutError("nobody serves it")
            time.sleep(0.01)
        key, waiting, lock = self.key(service, ty, digest), {}, threading.Lock()
        wrong, failed, tokens = [], [], []

        def answered(reply, whose, expected):
            with lock:
                if reply.ok is None:
                    failed.append(reply.err.payload.to_string())
                    return
                told = read_beside(reply.ok.attachment)
                (total,) = struct.unpack("<4x" + answer, reply.ok.payload.to_bytes())
                if told != whose or total != expected or waiting.pop(whose, None) is None:
                    wrong.append([told[0], told[1].hex(), total])

        for client in range(1, clients + 1):
            token, gid = self.token("SC", service, ty, digest, qos_of({}))
            tokens.append(token)
            for number in range(1, numbers + 1):
                with lock:
                    waiting[number, gid] = True
                asked = (1000 * client, number) if service == "add" else (0,)
                self.session.get(
                    key, lambda reply, whose=(number, gid), expected=sum(asked): answered(reply, whose, expected),
                    payload=encoded(asks, *asked), attachment=beside(number, gid),
                    target=zenoh.QueryTarget.ALL_COMPLETE, consolidation=zenoh.ConsolidationMode.NONE, timeout=SECONDS)
        while waiting and not failed and time.monotonic() < until:
            time.sleep(0.01)
        with lock:
            return {"wrong": wrong, "unanswered": len(waiting), "failed": failed[:1]}

    def do_execute(self, action):
        self.ends["execute"] = Executing(self, action)

    def do_cancelled(self):
        return self.ends["execute"].cancelled

    def do_goals(self, action, first, orders):
        sending = self.sending(action)
        ids = [uuid(first + at) for at in range(len(orders))]
        accepted = [reply["accepted"] for reply in sending.replies([sending.send(id, order) for id, order in zip(ids, orders)])]
        asked = [sending.ask("get_result", goal_id={"uuid": id}) for id, is_accepted in zip(ids, accepted) if is_accepted]
        results = iter(sending.replies(asked))
        expected = sum(order for order in orders if order > 0)
        wait(lambda: sum(id in ids for id in list(sending.feedback)) >= expected)
        told = [{"accepted": is_accepted} for is_accepted in accepted]
        for goal, id in zip(told, ids):
            if goal["accepted"]:
                goal |= result_of(next(results)) | {"feedback": sending.feedback.count(id)}
        return told

    def do_cancel(self, action, order):
        sending = self.sending(action)
        id = uuid(200)
        sending.replies([sending.send(id, order)])
        first = sending.cancel(id)
        result = result_of(*sending.replies([sending.ask("get_result", goal_id={"uuid": id})]))
        codes = [told["return_code"] for told in (first, sending.cancel(id), sending.cancel(uuid(201)))]
        return {"codes": codes, "cancelling": len(first["goals_canceling"]), **result}

    def do_send(self, action, id, order):
        sending = self.sending(action)
        return sending.replies([sending.send(uuid(id), order)])[0]["accepted"]

    def do_result(self, action, id):
        sending = self.sending(action)
        return result_of(*sending.replies([sending.ask("get_result", goal_id={"uuid": uuid(id)})]))

    def do_stand(self, action, count):
        sending = self.sending(action)
        return wait(lambda: sending.status if len(sending.status) == count else None)

    def sending(self, action):
        if "send" not in self.ends:
            self.ends["send"] = Sending(self, action)
        return self.ends["send"]


def main():
    peer = Peer(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
    for line in sys.stdin:
        asked = json.loads(line)
        done = asked["do"]
        try:
            say(done=done, result=peer.act(asked))
        except Exception as error:
            say(error=f"{done}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
