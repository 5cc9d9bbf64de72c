"""Reads what sinew has recorded, and writes what it is to play, with tools of others, for others.rs: others.py read FILE, others.py write FOLDER, or others.py evo FOLDER

`read` prints for each tool a line of JSON with all messages of the file: [tool, [[topic, type, log time, stream, what it decodes to], ...], quality of service of each topic].
`write` makes bags of the same messages in FOLDER: `ros2` (MCAP, zstd), `none.bag`, `bz2.bag` and `lz4.bag` of ROS 1, the database `db3`, and `from_db3`, which rosbags-convert makes of that.
`evo` fetches a bag of ROS 1 that evo has for its tests, of poses, and prints its path, and for each of its topics, by their names, a line with all messages: [seq, sec, nsec, frame, [x, y, z, x, y, z, w]].
Streams are in hexadecimal digits.
"""

import contextlib
import json
import pathlib
import subprocess
import sys

import numpy
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import fetch_demo_data

EVO = fetch_demo_data.Recording("evo-1.38.1/test/data/ROS_example.bag", "b2e4ae2465d3a43933569f8b9b7b593730617ff8262f2e81b71674b3fe37c55b")


def plain(value):
    """As JSON has it: of an object, its first field."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, (list, bytes, memoryview, numpy.ndarray)):
        return len(value)
    names = getattr(value, "__slots__", None) or [name for name in vars(value) if not name.startswith("__")]
    return plain(getattr(value, names[0])) if names else 0


def read_mcap(path):
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()], validate_crcs=True)
        messages = [
            [channel.topic, schema.name, message.log_time, message.data.hex(), plain(decoded)]
            for schema, channel, message, decoded in reader.iter_decoded_messages()
        ]
        return ["mcap", messages, {}]


def read_rosbags(path):
    with AnyReader([pathlib.Path(path)]) as reader:
        messages = [
            [connection.topic, connection.msgtype, time, data.hex(), plain(reader.deserialize(data, connection.msgtype))]
            for connection, time, data in reader.messages()
        ]
        qos = {connection.topic: [[profile.reliability.name, profile.durability.name, profile.history.name, profile.depth] for profile in connection.ext.offered_qos_profiles]
               for connection in reader.connections}
        return ["rosbags", messages, qos]


def write(folder):
    folder = pathlib.Path(folder)
    types2, types1 = get_typestore(Stores.ROS2_HUMBLE), get_typestore(Stores.ROS1_NOETIC)
    text = "std_msgs/msg/String"
    for name, storage in [("ros2", StoragePlugin.MCAP), ("db3", StoragePlugin.SQLITE3)]:
        writer = Writer2(folder / name, version=8, storage_plugin=storage)
        if storage == StoragePlugin.MCAP:
            writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        with writer:
            connection = writer.add_connection("/chatter", text, typestore=types2)
            for n in range(5):
                message = types2.types[text](data=f"hello {n}")
                writer.write(connection, 1_700_000_000_000_000_000 + n, types2.serialize_cdr(message, text))
    for name in ["none", "bz2", "lz4"]:
        writer = Writer1(folder / f"{name}.bag")
        if name != "none":
            writer.set_compression(Writer1.CompressionFormat[name.upper()])
        with writer:
            connection = writer.add_connection("/chatter", text, typestore=types1)
            for n in range(5):
                message = types1.types[text](data=f"hello {n}")
                writer.write(connection, 1_700_000_000_000_000_000 + n, types1.serialize_ros1(message, text))
    convert = pathlib.Path(sys.executable).with_name("rosbags-convert")
    subprocess.run([convert, "--src", folder / "db3", "--dst", folder / "from_db3", "--dst-storage", "mcap"], check=True, stdout=subprocess.DEVNULL)


def evo(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (package,) = [package for package in fetch_demo_data.PACKAGES if package.name == "evo"]
    with contextlib.redirect_stdout(sys.stderr):
        fetch_demo_data.fetch(package._replace(recordings=(EVO,)), folder)
    path = folder / EVO.name
    messages = {}
    with AnyReader([path]) as reader:
        for connection, _, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            stamp, position, turn = message.header.stamp, message.pose.position, message.pose.orientation
            numbers = [position.x, position.y, position.z, turn.x, turn.y, turn.z, turn.w]
            messages.setdefault(connection.topic, []).append([message.header.seq, stamp.sec, stamp.nanosec, message.header.frame_id, numbers])
    print(json.dumps(str(path)))
    for topic in sorted(messages):
        print(json.dumps(messages[topic]))


def main():
    if sys.argv[1] == "evo":
        return evo(sys.argv[2])
    if sys.argv[1] == "write":
        return write(sys.argv[2])
    for read in [read_mcap, read_rosbags]:
        print(json.dumps(read(sys.argv[2])), flush=True)
    return None


if __name__ == "__main__":
    main()
