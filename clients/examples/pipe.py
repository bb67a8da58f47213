"""Lines in, lines out, as websocat does it: python pipe.py ws://127.0.0.1:8000/v1/rooms/CODE"""

import sys
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

with connect(sys.argv[1], subprotocols=["towerhall.v1.json"], compression=None) as socket:

    def write():
        for line in sys.stdin:
            socket.send(line.strip())

    threading.Thread(target=write, daemon=True).start()
    try:
        while True:
            print(socket.recv(), flush=True)
    except ConnectionClosed as closed:
        sys.exit(f"closed: {closed.rcvd}")
