"""Plans the way to the next goal on the map, and publishes it as `plan`: goals come as `goal`, and without one it drives from one digit of the map to the next.

Usage: planner.py MAP
"""

import contextlib
import heapq
import math
import pathlib
import sys
import time

import sinew
from sinew.msgs.geometry_msgs.msg import Point, Pose, PoseStamped
from sinew.msgs.nav_msgs.msg import Odometry, Path
from sinew.msgs.std_msgs.msg import Header

SQUARE = 0.5  # metres
ARRIVED = 0.5
OFF = 1.0  # farther from its way it has been moved, as when a simulator is started again


class Map:
    def __init__(self, text):
        self.rows = text.splitlines()[::-1]  # the first is the lowest
        self.walls = {(x, y) for y, row in enumerate(self.rows) for x, character in enumerate(row) if character == "#"}
        found = {character: (x, y) for y, row in enumerate(self.rows) for x, character in enumerate(row)}
        self.tour = [found[digit] for digit in "123456789" if digit in found]

    def way(self, start, goal):
        """The squares from one to another that are short to go and not close to walls (A*); none where there is no way."""
        nearest, came_from, costs = [(0.0, start)], {start: None}, {start: 0.0}
        while nearest:
            _, here = heapq.heappop(nearest)
            if here == goal:
                squares = []
                while here is not None:
                    squares.append(here)
                    here = came_from[here]
                return squares[::-1]
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
                there = here[0] + dx, here[1] + dy
                if there in self.walls or not (0 <= there[1] < len(self.rows) and 0 <= there[0] < len(self.rows[there[1]])):
                    continue
                cost = costs[here] + math.hypot(dx, dy) + (3 if self.is_close_to_wall(there) else 0)
                if cost < costs.get(there, math.inf):
                    costs[there], came_from[there] = cost, here
                    heapq.heappush(nearest, (cost + math.dist(there, goal), there))
        return []

    def is_close_to_wall(self, square):
        return any((square[0] + dx, square[1] + dy) in self.walls for dx in (-1, 0, 1) for dy in (-1, 0, 1))


def square_of(point):
    return int(point.x / SQUARE), int(point.y / SQUARE)


def centre_of(square):
    return Point((square[0] + 0.5) * SQUARE, (square[1] + 0.5) * SQUARE, 0.0)


def distance(point, square):
    centre = centre_of(square)
    return math.dist((point.x, point.y), (centre.x, centre.y))


def path_of(squares):
    header = Header(frame_id="map")
    header.stamp.sec, header.stamp.nanosec = divmod(time.time_ns(), 10**9)
    return Path(header, [PoseStamped(header, Pose(centre_of(square))) for square in squares])


def main():
    world = Map(pathlib.Path(sys.argv[1]).read_text(encoding="ascii"))
    tour, wished = list(world.tour), []
    with sinew.Node("planner") as node:
        # Latched: a controller that starts later gets the plan, too.
        plans = node.create_publisher("plan", Path, qos=sinew.Qos(depth=1, reliable=True, transient_local=True))
        goals = node.subscribe("goal", PoseStamped, lambda goal: wished.append(square_of(goal.pose.position)))
        goal, squares = None, []
        for odometry, _ in node.subscribe("odom", Odometry, qos=sinew.Qos(depth=1)):
            here = odometry.pose.pose.position
            is_off = bool(squares) and min(distance(here, square) for square in squares) > OFF
            if wished:
                goal, is_off = wished.pop(), False
                wished.clear()
            elif goal is None or distance(here, goal) <= ARRIVED:
                goal, is_off = tour.pop(0), False
                tour.append(goal)
            elif not is_off:
                continue
            squares = world.way(square_of(here), goal)
            told = f"to {goal[0] * SQUARE:.1f}, {goal[1] * SQUARE:.1f}: {len(squares)} squares" if squares else f"there is no way to {goal}"
            print(f"off its way, {told}" if is_off else told, flush=True)
            plans.publish(path_of(squares))


if len(sys.argv) != 2:
    sys.exit(__doc__)
with contextlib.suppress(KeyboardInterrupt):
    main()
