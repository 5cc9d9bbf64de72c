"""The viewer in asyncio: looks at pictures while other tasks go on, here one that counts them each second."""

import asyncio
import contextlib

import sinew

seen = 0


async def look(node: sinew.Node) -> None:
    global seen
    pictures = await asyncio.to_thread(node.subscribe, "pattern/image")  # it waits for the camera, which says what the type is
    async for picture, info in pictures:
        print(f"{picture.width} x {picture.height}, mean {picture.pixels.mean():.1f}, sequence {info.sequence}, missed {info.missed}", flush=True)
        seen += 1


async def count() -> None:
    while True:
        await asyncio.sleep(1)
        print(f"{seen} pictures until now", flush=True)


async def main() -> None:
    with sinew.Node("async_viewer") as node:
        await asyncio.gather(look(node), count())


with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main())
