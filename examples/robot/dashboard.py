"""What the driver at the station looks at: once a second a line of where the robot is, how old that is, how its pictures arrive, and how full its battery is.

Usage: dashboard.py
"""

import contextlib
import time

import sinew


class Newest:
    """The newest message of a topic, and how many have come."""

    def __init__(self, node, topic, type_name):
        self.message, self.count, self.missed = None, 0, 0
        self.subscription = node.subscribe(topic, type_name, self.take, qos=sinew.Qos(depth=1))

    def take(self, message, info):
        self.message, self.count = message, self.count + 1
        self.missed += info.missed


def age_of(message):
    stamp = message.header.stamp
    return time.time() - stamp.sec - stamp.nanosec / 1e9


with sinew.Node("dashboard") as node, contextlib.suppress(KeyboardInterrupt):
    odometry = Newest(node, "odom", "nav_msgs/msg/Odometry")
    images = Newest(node, "camera/image", "sensor_msgs/msg/Image")
    battery = Newest(node, "battery", "sensor_msgs/msg/BatteryState")
    before = 0
    while True:
        time.sleep(1)
        if odometry.message is None:
            print("nothing of the robot yet", flush=True)
            continue
        place = odometry.message.pose.pose.position
        pictures = f"{images.count - before} pictures, {images.missed} missed so far"
        before = images.count
        charge = "not known yet" if battery.message is None else f"at {battery.message.percentage * 100:.0f} %, {age_of(battery.message):.0f} s ago"
        print(f"at {place.x:.1f}, {place.y:.1f}, {age_of(odometry.message) * 1000:.0f} ms ago; {pictures}; battery {charge}", flush=True)
