#!/usr/bin/env python3
"""eCAL in Python: bytes that are sent, and received in a callback."""
import sys
import time

import driver
import ecal.nanobind_core as ecal


def publish(run):
    ecal.initialize("driver")
    publisher = ecal.Publisher(f"{run.folder.name}/{run.topic}")
    driver.connect(lambda: publisher.get_subscriber_count() == run.subscribers)

    def send(number):
        began = time.monotonic_ns()
        payload = bytearray([driver.value_of(number)]) * run.size
        publisher.send(b"".join((driver.HEADER.pack(began, time.monotonic_ns(), number), payload)))

    driver.publish_all(run, send)
    ecal.finalize()


def subscribe(run, arrivals):
    ecal.initialize("driver")
    subscriber = ecal.Subscriber(f"{run.folder.name}/{run.topic}")

    def received(_, __, data):
        whole = memoryview(data.buffer)
        arrivals.add(*driver.HEADER.unpack_from(whole), whole[driver.HEADER.size:])

    subscriber.set_receive_callback(received)
    driver.connect(lambda: subscriber.get_publisher_count() == 1)
    arrivals.complete.wait()
    ecal.finalize()


if __name__ == "__main__":
    sys.exit(driver.drive(publish, subscribe))
