"""Which cells the benchmark measures.

A cell is a dict of the options of sinew-bench. Cells that are compared with each other form a bundle: they run one
right after the other in every round, so that a drift of the machine between them is small.
"""

KIB = 1024
MB = 1_000_000
SIZES = (128, 4 * KIB, 64 * KIB, MB, 5 * MB + MB // 2, 16 * MB)
FRAME = 5 * MB + MB // 2  # a camera image, the size of the bars that name only one
CAMERA_HZ = 30

# Flat out: enough messages for about a third of a second at the speed of the floor.
FLAT_OUT_COUNT = {128: 1_000_000, 4 * KIB: 200_000, 64 * KIB: 20_000, MB: 2_000, FRAME: 300, 16 * MB: 100}


# Where the processes of a cell run, as the option says it and as people read it.
CONTAINERS = {"none": "on the host", "one": "in one container", "each": "in a container each"}


def cell(experiment, system, size=128, topology="1p1s", wait="block", rate=CAMERA_HZ, count=100):
    return {"experiment": experiment, "system": system, "topology": topology, "wait": wait, "size": size, "rate": rate,
            "count": count}


def bundles(quick, idle, containers):
    """The bundles of one round. `quick`: two sizes, few messages. `idle`: also the idle node, for which one round is enough. `containers`: they can be made here."""
    sizes = (128, FRAME) if quick else SIZES
    few = (lambda count: 10) if quick else (lambda count: count)
    plan = []
    for size in sizes:
        for experiment, topology, wait, count in (("latency_1p1s", "1p1s", "block", 100), ("latency_1p1s", "1p1s", "spin", 20),
                                                  ("latency_1p5s", "1p5s", "block", 20)):
            plan.append([cell(experiment, system, size, topology, wait, count=few(count)) for system in ("floor", "sinew-loan")])
        plan.append([{**cell("fan_out", system, size, topology, count=few(10)), "publish-cpu": True}
                     for system, topology in (("floor", "1p1s"), ("floor", "1p5s"), ("sinew-loan", "1p5s"))])
        count = FLAT_OUT_COUNT[size] // (10 if quick else 1)
        plan.append([cell("flatout_1p1s", system, size, rate=0, count=count) for system in ("floor", "sinew-loan")])
    for size in (128, FRAME) if quick else (128, MB, FRAME):
        plan.append([cell("latency_5p1s", system, size, "5p1s", count=few(20)) for system in ("floor", "sinew-loan")])
    for topology in ("1p1s", "1p5s"):
        plan.append([cell("publish_copy", "memcpy", FRAME, count=few(30))] +
                    [cell("publish_copy", system, FRAME, topology, count=few(30)) for system in ("sinew-loan", "sinew-publish")])
    if containers:
        for size in (128, FRAME):
            plan.append([{**cell("containers", "sinew-loan", size, count=few(20)), "containers": where} for where in CONTAINERS])
    plan += peers(sizes)
    if idle:
        plan.append([cell("idle", "sinew-idle", count=1 if quick else 5)])
    return plan


def peers(sizes):
    """What the machine and ordinary sockets do, beside which the numbers above are read. No bar stands on these: few messages each."""
    plan = [[cell("flatout_1p1s", "floor", wait="spin", rate=0, count=100_000), cell("flatout_1p1s", "tcp", rate=0, count=100_000)]]
    for size in sizes:
        plan.append([cell("latency_1p1s", system, size, count=10) for system in ("sinew-publish", "tcp", "unix")])
        plan.append([cell("memcpy", "memcpy", size, count=10)])
    for size in (sizes[0], sizes[-1]):
        plan.append([cell("latency_1p5s", "tcp", size, "1p5s", count=10)])
    return plan
