"""A commit as bytes: the chain covers them, so there is one form for each (P-122)."""

import msgspec

from towerhall_server.room.commits import Cause, Commit, decode_commit, encode_commit
from towerhall_server.room.events import OptionsChanged, Settings


def test_a_commit_has_one_form_whatever_the_order_of_its_keys() -> None:
    settings = Settings(turn_seconds=30, bot_delay_ms=0)
    one = Commit(
        Cause(0, "ann", "origin", 1),
        (OptionsChanged({"bids": "table", "auto_pass": True}, settings),),
        command={"command": "set_options", "bids": "table", "auto_pass": True},
    )
    other = Commit(
        Cause(0, "ann", "origin", 1),
        (OptionsChanged({"auto_pass": True, "bids": "table"}, settings),),
        command={"auto_pass": True, "bids": "table", "command": "set_options"},
    )
    assert encode_commit(one) == encode_commit(other)
    assert decode_commit(encode_commit(other), None) == one
    stored = msgspec.msgpack.decode(encode_commit(one))
    assert list(stored[4]) == sorted(stored[4])
    assert [list(part) for part in stored[1][0][1:]] == [
        ["auto_pass", "bids"],
        ["bot_delay_ms", "turn_seconds"],
    ]
