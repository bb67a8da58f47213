"""Plays a whole game against bots, at random, and checks its shuffle: python bot.py http://127.0.0.1:8000"""

import asyncio
import sys

from towerhall_client import Service, connect, play_bot, random_policy


async def main(url: str) -> None:
    service = Service(url)
    guest = await service.guest("Random Ada")
    room = await service.create_room(guest.token, "five_towers", seats=3, bot_delay_ms=0)
    async with connect(url, room.code, guest.token) as table:
        await table.sit()
        for _ in range(2):
            await table.add_bot("easy")
        await table.start()
        view = await play_bot(table, random_policy())
        checks = await service.check_record(room.code, evidence=table.evidence)
    print(view["room"]["result"])
    print({check.name: check.skipped or check.ok for check in checks})


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"))
