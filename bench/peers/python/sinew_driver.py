#!/usr/bin/env python3
"""sinew in Python: a loan that is filled by NumPy, and a view on the publisher's memory. Speaks with sinew-peer-sinew, the driver in C++, too."""
import sys
import time

import driver
import sinew

DEPTH = 8
TYPE = "sinew/bench/peers/Message{began:int64;sent:int64;number:uint64;publisher:uint64;data:uint8[];}"


def node_of(run):
    return sinew.Node(f"{run.role}_{run.index}", domain=str(run.folder / "domain.sock"))


def publish(run):
    with node_of(run) as node:
        publisher = node.create_publisher(run.topic, TYPE, qos=sinew.Qos(depth=DEPTH))
        driver.connect(lambda: publisher.statistics()["subscribers"] == run.subscribers)

        def send(began, number):
            with publisher.loan(data=run.size_of(number)) as message:
                message.data[...] = driver.value_of(number)
                message.began = began
                message.number = number
                message.publisher = run.index
                message.sent = sent = time.monotonic_ns()
            return sent

        driver.publish_all(run, send)


def subscribe(run, arrivals):
    def received(message):
        arrivals.add(message.began, message.sent, message.number, message.publisher, message.data)

    with node_of(run) as node:
        subscriber = node.subscribe(run.topic, TYPE, received, qos=sinew.Qos(depth=DEPTH))
        driver.connect(lambda: subscriber.statistics()["publishers"] == run.publishers)
        arrivals.wait()


if __name__ == "__main__":
    sys.exit(driver.drive(publish, subscribe, {"publish": "loan", "subscribe": "view"}))
