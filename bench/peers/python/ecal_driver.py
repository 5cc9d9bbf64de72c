#!/usr/bin/env python3
"""eCAL in Python, by its shared memory: bytes that are sent, and received in a callback, for which its Python copies them, out of where they were sent to."""
import os
import sys
import time

import driver
import ecal.nanobind_core as ecal

DEPTH = 8


def topic_of(run):
    return f"{run.folder.name}/{run.topic}"


def configuration():
    """Eight messages under way, and no copy before the one for Python."""
    made = ecal.get_publisher_configuration()
    made.layer.shm.zero_copy_mode = True
    made.layer.shm.memfile_buffer_count = DEPTH
    return made


def publish(run):
    ecal.initialize("driver")
    publisher = ecal.Publisher(topic_of(run), config=configuration())
    driver.connect(lambda: publisher.get_subscriber_count() == run.subscribers)

    def send(began, number):
        # Bytes cannot be changed once they are there, so the time travels beside them.
        message = driver.HEADER.pack(began, 0, number, run.index).ljust(driver.HEADER.size + run.size_of(number), bytes([driver.value_of(number)]))
        sent = time.monotonic_ns()
        publisher.send(message, sent)
        return sent

    driver.publish_all(run, send)
    ecal.finalize()


def subscribe(run, arrivals):
    ecal.initialize("driver")
    subscriber = ecal.Subscriber(topic_of(run))

    def received(_, __, data):
        whole = memoryview(data.buffer)
        began, _, number, publisher = driver.HEADER.unpack_from(whole)
        arrivals.add(began, data.send_timestamp, number, publisher, whole[driver.HEADER.size:])

    subscriber.set_receive_callback(received)
    driver.connect(lambda: subscriber.get_publisher_count() == run.publishers)
    arrivals.wait()
    # finalize() would hold the interpreter's lock and wait for a thread that may be waiting for it.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(driver.drive(publish, subscribe, {"publish": "shm", "subscribe": "shm"}))
