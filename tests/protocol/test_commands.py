"""Commands to the room: their bodies, as the wire has them."""

import pytest

from towerhall_protocol import commands
from towerhall_protocol.commands import base64url, from_base64url


def test_each_command_of_the_room_has_its_body() -> None:
    nonce = bytes(range(32))
    text = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    bodies = {
        "sit": [commands.sit(), commands.sit(2, nonce)],
        "stand": [commands.stand()],
        "rename": [commands.rename()],
        "ready": [commands.ready(), commands.ready(nonce), commands.ready(is_ready=False)],
        "start": [commands.start()],
        "open": [commands.open_nonce(nonce)],
        "add_bot": [commands.add_bot("easy"), commands.add_bot("hard", 0)],
        "remove_bot": [commands.remove_bot(1)],
        "kick": [commands.kick(2)],
        "set_options": [
            commands.set_options(),
            commands.set_options({"preset": "x"}, turn_seconds=0, bot_delay_ms=0, beat_ms=0),
            commands.set_options(bot_accounts=False),
        ],
        "admit": [commands.admit("cGVyc29uMDE")],
        "invite": [commands.invite("cGVyc29uMDE")],
        "mute": [commands.mute(1), commands.mute("cGVyc29uMDE")],
        "unmute": [commands.unmute(1), commands.unmute("cGVyc29uMDE")],
        "leave": [commands.leave(), commands.leave("hard")],
        "take_back": [commands.take_back()],
        "call_bot": [commands.call_bot(0)],
        "resign": [commands.resign()],
        "want_end": [commands.want_end(), commands.want_end(wanted=False)],
        "rematch": [commands.rematch()],
    }
    assert tuple(bodies) == commands.ROOM_COMMANDS
    assert [body for group in bodies.values() for body in group] == [
        {"command": "sit"},
        {"command": "sit", "seat": 2, "nonce": text},
        {"command": "stand"},
        {"command": "rename"},
        {"command": "ready"},
        {"command": "ready", "nonce": text},
        {"command": "ready", "ready": False},
        {"command": "start"},
        {"command": "open", "nonce": text},
        {"command": "add_bot", "level": "easy"},
        {"command": "add_bot", "level": "hard", "seat": 0},
        {"command": "remove_bot", "seat": 1},
        {"command": "kick", "seat": 2},
        {"command": "set_options"},
        {
            "command": "set_options",
            "options": {"preset": "x"},
            "turn_seconds": 0,
            "bot_delay_ms": 0,
            "beat_ms": 0,
        },
        {"command": "set_options", "bot_accounts": False},
        {"command": "admit", "id": "cGVyc29uMDE"},
        {"command": "invite", "id": "cGVyc29uMDE"},
        {"command": "mute", "seat": 1},
        {"command": "mute", "id": "cGVyc29uMDE"},
        {"command": "unmute", "seat": 1},
        {"command": "unmute", "id": "cGVyc29uMDE"},
        {"command": "leave"},
        {"command": "leave", "level": "hard"},
        {"command": "take_back"},
        {"command": "call_bot", "seat": 0},
        {"command": "resign"},
        {"command": "want_end"},
        {"command": "want_end", "wanted": False},
        {"command": "rematch"},
    ]


@pytest.mark.parametrize("size", range(40))
def test_bytes_travel_as_text_without_padding(size: int) -> None:
    data = bytes(range(250 - size, 250))
    assert "=" not in base64url(data)
    assert from_base64url(base64url(data)) == data
