"""The battery's driver, which has stayed a program of ROS 2: it tells by DDS, as `/battery`, how full it is. Nothing in here is of sinew.

It is written with Cyclone DDS alone (pip install cyclonedds), so that it runs on machines without ROS 2, too. With rclpy it would be a node with a publisher of sensor_msgs/msg/BatteryState.
"""

import contextlib
import dataclasses
import os
import time

from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float32, int32, sequence, uint8, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic

FULL = 12.6  # volts
LASTS = 3600  # seconds


@dataclasses.dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclasses.dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclasses.dataclass
class BatteryState(IdlStruct, typename="sensor_msgs::msg::dds_::BatteryState_"):
    header: Header
    voltage: float32
    temperature: float32
    current: float32
    charge: float32
    capacity: float32
    design_capacity: float32
    percentage: float32
    power_supply_status: uint8
    power_supply_health: uint8
    power_supply_technology: uint8
    present: bool
    cell_voltage: sequence[float32]
    cell_temperature: sequence[float32]
    location: str
    serial_number: str


def main():
    participant = DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", "0")))
    writer = DataWriter(participant, Topic(participant, "rt/battery", BatteryState))
    started = time.time()
    while True:
        now = time.time()
        left = max(0.0, 1 - (now - started) / LASTS)
        stamp = Time(int(now), int(now % 1 * 10**9))
        writer.write(BatteryState(Header(stamp, "base_link"), 10 + (FULL - 10) * left, 25.0, -1.5, left * 5, 5.0, 5.0, left, 2, 1, 2, True, [], [], "base", "7"))
        time.sleep(0.5)


with contextlib.suppress(KeyboardInterrupt):
    main()
