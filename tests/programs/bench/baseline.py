"""The plainest server that does the same to the network: one message in, one frame out to four.

No rules, no log, no diff: whatever comes from one socket of a room makes a fixed frame go to all of
them, by Starlette's `send_bytes`. What Towerhall costs is told as a multiple of this.
"""

import socket
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect


def application(frame: bytes) -> Starlette:
    rooms: dict[str, list[WebSocket]] = {}

    async def play(websocket: WebSocket) -> None:
        await websocket.accept()
        room = rooms.setdefault(websocket.path_params["code"], [])
        room.append(websocket)
        try:
            while True:
                await websocket.receive_bytes()
                for viewer in room:
                    await viewer.send_bytes(frame)
        except WebSocketDisconnect:
            room.remove(websocket)

    return Starlette(routes=[WebSocketRoute("/v1/rooms/{code}", play)])


def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    config = uvicorn.Config(
        application(bytes.fromhex(sys.argv[1])),
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        loop="uvloop",
        lifespan="off",
        log_level="warning",
        access_log=False,
    )
    print(f"The baseline is at http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
