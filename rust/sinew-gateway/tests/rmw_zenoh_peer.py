"""A node of ROS 2 with rmw_zenoh, by its published rules, for the tests of the bridge: rmw_zenoh_peer.py ENDPOINT DOMAIN_ID < REQUESTS > ANSWERS

Nothing in it is of sinew: keys, tokens and attachments are made here, hashes by rosbags, gids by xxhash, and what is kept for those who come late is kept and asked for by Zenoh's own extension,
as rmw_zenoh does it. A request is a line of JSON, and so is what it says. "do" is
  "type": makes the type of the definition "text" of "name" (ros2msg) known;
  "write": makes a publisher "id" on "topic" of the type "name", with "qos"; "publish": publishes the message "stream" with it, "bare": without what belongs beside it;
  "read": makes a subscription "id" likewise, whose messages are told as {"got": id, "stream": ...}; "told": tells what stood beside them, as [number, gid] for each;
  "close": ends a publisher or subscription; "tokens": tells all tokens that are there, each with its gid;
  "serve": answers calls of the service "add" of example_interfaces/srv/AddTwoInts, "silently": takes them, and never does; "call": calls it, as several "clients", once for each of "numbers", all at once,
  and tells whose replies were wrong, or not theirs, how many calls were not answered, and what was said of those.
Every request is answered by {"done": what was done, ...}, or {"error": ...}. Streams are in hexadecimal digits.
"""

import itertools
import json
import struct
import sys
import threading
import time

import xxhash
import zenoh
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from zenoh import ext

ADD = "example_interfaces::srv::dds_::AddTwoInts_", "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"
SECONDS = 60
saying = threading.Lock()


def say(**what):
    with saying:
        print(json.dumps(what), flush=True)


def gid_of(token):
    return xxhash.xxh3_128_intdigest(token.encode()).to_bytes(16, "little")


def beside(number, gid):
    return struct.pack("<qqB16s", number, time.time_ns(), 16, gid)


def read_beside(attachment):
    """The number and the gid; raises where it is not as it should be."""
    if attachment is None:
        raise ValueError("there is no attachment")
    number, at, size, gid = struct.unpack("<qqB16s", attachment.to_bytes())
    if number < 1 or size != 16 or abs(time.time_ns() - at) > 3600 * 10**9:
        raise ValueError(f"the attachment is {attachment.to_bytes().hex()}")
    return number, gid


class Peer:
    def __init__(self, endpoint, domain):
        quiet = {"multicast": {"enabled": False}, "gossip": {"enabled": False}}
        config = {"mode": "client", "connect": {"endpoints": [endpoint]}, "scouting": quiet, "timestamping": {"enabled": True}}
        self.session = zenoh.open(zenoh.Config.from_json5(json.dumps(config)))
        self.domain = domain
        self.ids = itertools.count(1)
        self.hashes = {}
        self.ends = {}
        self.told = {}
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
        store.register(get_types_from_msg(text, name))
        self.hashes[name] = store.hash_rihs01(name)

    def do_write(self, id, topic, name, qos={}):
        ty, digest = self.type(name)
        key, reliable, depth = self.key(topic, ty, digest), qos.get("reliable", True), qos.get("depth", 10)
        if qos.get("transient_local"):
            detection = ext.MissDetectionConfig(heartbeat=None, sporadic_heartbeat=0.5) if reliable else None
            publisher = ext.declare_advanced_publisher(
                self.session, key, cache=ext.CacheConfig(depth), publisher_detection=True, sample_miss_detection=detection)
        else:
            publisher = self.session.declare_publisher(key)
        token, gid = self.token("MP", topic, ty, digest, qos_of(qos))
        self.ends[id] = {"end": publisher, "token": token, "gid": gid, "numbers": itertools.count(1)}

    def do_publish(self, id, stream, bare=False):
        end = self.ends[id]
        end["end"].put(bytes.fromhex(stream), attachment=None if bare else beside(next(end["numbers"]), end["gid"]))

    def do_read(self, id, topic, name, qos={}):
        ty, digest = self.type(name)
        key, told = self.key(topic, ty, digest), self.told.setdefault(id, [])

        def came(sample):
            try:
                number, gid = read_beside(sample.attachment)
                told.append([number, gid.hex()])
                say(got=id, stream=sample.payload.to_bytes().hex())
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

    def do_serve(self, silently=False):
        key, kept = self.key("add", *ADD), []

        def called(query):
            if silently:
                kept.append(query)
                return
            number, gid = read_beside(query.attachment)
            a, b = struct.unpack("<4xqq", query.payload.to_bytes())
            with query:
                query.reply(key, struct.pack("<4sq", b"\0\1\0\0", a + b), attachment=beside(number, gid))

        queryable = self.session.declare_queryable(key, called, complete=True)
        token, _ = self.token("SS", "add", *ADD, qos_of({}))
        self.ends["serve"] = {"end": queryable, "token": token}

    def do_call(self, clients, numbers):
        until = time.monotonic() + SECONDS
        while not any("/SS/" in token and "/%add/" in token for token in list(self.there)):
            if time.monotonic() > until:
                raise TimeoutError("nobody serves it")
            time.sleep(0.01)
        key, waiting, lock = self.key("add", *ADD), {}, threading.Lock()
        wrong, failed, tokens = [], [], []

        def answered(reply, whose, expected):
            with lock:
                if reply.ok is None:
                    failed.append(reply.err.payload.to_string())
                    return
                told = read_beside(reply.ok.attachment)
                (total,) = struct.unpack("<4xq", reply.ok.payload.to_bytes())
                if told != whose or total != expected or waiting.pop(whose, None) is None:
                    wrong.append([told[0], told[1].hex(), total])

        for client in range(1, clients + 1):
            token, gid = self.token("SC", "add", *ADD, qos_of({}))
            tokens.append(token)
            for number in range(1, numbers + 1):
                with lock:
                    waiting[number, gid] = True
                self.session.get(
                    key, lambda reply, whose=(number, gid), expected=1000 * client + number: answered(reply, whose, expected),
                    payload=struct.pack("<4sqq", b"\0\1\0\0", 1000 * client, number), attachment=beside(number, gid),
                    target=zenoh.QueryTarget.ALL_COMPLETE, consolidation=zenoh.ConsolidationMode.NONE, timeout=SECONDS)
        while waiting and not failed and time.monotonic() < until:
            time.sleep(0.01)
        with lock:
            return {"wrong": wrong, "unanswered": len(waiting), "failed": failed[:1]}


def qos_of(asked):
    reliability, durability = "" if asked.get("reliable", True) else 2, 1 if asked.get("transient_local") else ""
    return f"{reliability}:{durability}:,{asked.get('depth', 10)}:,:,:,,"


def main():
    peer = Peer(sys.argv[1], int(sys.argv[2]))
    for line in sys.stdin:
        asked = json.loads(line)
        done = asked["do"]
        try:
            say(done=done, result=peer.act(asked))
        except Exception as error:
            say(error=f"{done}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
