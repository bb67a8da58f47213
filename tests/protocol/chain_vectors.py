"""The vectors of chains, marks and seals, and two histories whose marks are equal."""

from typing import Any, Final

import msgspec

from towerhall_protocol.chain import START, link, mark, seal
from towerhall_protocol.codec import canonical_json
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.evidence import (
    Evidence,
    Place,
    compare,
    view_hash,
    with_nonce,
    with_place,
)
from towerhall_protocol.merge_patch import apply

Row = tuple[bytes, int, int, bytes]
"""Commit id, wall time, service time, blob."""

FIRST_BLOB: Final = bytes.fromhex(
    "9594ffa0a00091dc0011ac726f6f6d5f63726561746564c410000102030405060708090a0b0c0d0e0fa6514a58"
    "4b5a42ab666976655f746f776572730184a462696473a6737472696374a56569676874a462617365ae64656d6f"
    "6c6973685f7370697265c2a96175746f5f70617373c30280c420d572d1684f8bf463240dca48fe2b0d715a6ecf"
    "aad396c456e9e36e6f59f9b2a3a0c4009092a465617379a465617379c2a0a0c3909080"
)
"""The creation of a room for two bots."""
FIRST: Final[Row] = (
    bytes.fromhex("95bcaa510e4cf8ecfb1075d0a4eaf66f"), 1_790_000_000_000, 5_000, FIRST_BLOB
)  # fmt: skip
FREE: Final = ("ac3a552640aeb696", "a30e0a4695154923")
"""The second half of the id of the second commit, in which seat 0 or seat 1 passes. These two were
found by 6.4 billion hashes, in 14 minutes of a part of one core."""


def second(seat: int) -> Row:
    """The second commit: this seat passes."""
    stored = [[seat, "", "", 0], [], [["passed", seat]], [], {"command": "pass"}]
    commit_id = bytes.fromhex("5a1cadd04c317627" + FREE[seat])
    return commit_id, 1_790_000_030_000, 35_000, msgspec.msgpack.encode(stored)


def chain() -> dict[str, Any]:
    """Links, marks and seals."""
    rows: list[Row] = [
        (bytes(16), 0, 0, b""),
        (bytes(range(16)), 1_700_000_000_000, 5_000, bytes.fromhex("9594ffa0a00090909080")),
        (b"i" * 16, (1 << 53) - 1, (1 << 53) - 1, bytes(300)),
    ]
    before, links = START, []
    for row in rows:
        links.append({"before": base64url(before), **_row(before, row)})
        before = from_base64url(str(links[-1]["chain"]))
    records: list[dict[str, Any]] = [
        {},
        {"seal": "not covered", "signed": {"key": "k"}, "log": {"index": 1}, "format": 2},
        {"b": [1, -2, True, None, {"z": "ü", "a": '"\\\n\u0001\u007f'}], "a": "𝄞", "_": {}},
    ]
    return {
        "links": links,
        "seals": [
            {
                "chain": base64url(before),
                "record": record,
                "text": canonical_json(
                    {k: v for k, v in record.items() if k not in ("seal", "signed", "log")}
                ).decode(),
                "seal": base64url(seal(before, record)),
            }
            for record in records
        ],
    }


def equal_marks() -> dict[str, Any]:
    """Two logs that differ in their second commit, with the same marks and other chains."""
    first = _row(START, FIRST)
    before = from_base64url(str(first["chain"]))
    return {"histories": [[first, _row(before, second(seat))] for seat in (0, 1)]}


def _row(before: bytes, row: Row) -> dict[str, Any]:
    commit_id, wall_ms, served_ms, blob = row
    after = link(before, wall_ms, served_ms, commit_id, blob)
    return {
        "commit_id": base64url(commit_id),
        "wall_ms": wall_ms,
        "served_ms": served_ms,
        "blob": base64url(blob),
        "chain": base64url(after),
        "mark": mark(after),
    }


PATCHES: Final = (
    {"room": {"status": "waiting"}},
    {"room": {"status": "playing"}, "game": {"turn": 0}},
    {"room": {"status": "over"}},
)
COMMITMENT: Final = base64url(bytes(32))
CHAINS: Final = [base64url(bytes([seq]) * 32) for seq in (1, 2, 3)]
NONCE: Final = base64url(b"n" * 32)


def evidence() -> dict[str, Any]:
    """Evidence of one room, and what records of it disagree about."""
    kept = with_nonce(Evidence("AAECAwQFBgcICQoLDA0ODw", "QJXKZB", COMMITMENT), 1, NONCE)
    view: dict[str, Any] = apply(apply({}, PATCHES[0]), PATCHES[1])
    for place in (
        Place(1, CHAINS[0]),
        Place(2, CHAINS[1], view=view_hash(view)),
        Place(3, CHAINS[2], "k3J9x_Pq0aE", "signature", why="end"),
    ):
        kept = with_place(kept, place)
    record: dict[str, Any] = {
        "uid": "AAECAwQFBgcICQoLDA0ODw",
        "code": "QJXKZB",
        "commits": [[seq, "", chain, "", 0, 0] for seq, chain in enumerate(CHAINS, 1)],
        "frames": [["frame", n, "", [], [], patch] for n, patch in enumerate(PATCHES, 1)],
        "proof": {
            "commitment": COMMITMENT,
            "deals": [{"deal": 1, "seats": [{"nonce": NONCE}, {}]}],
        },
    }
    fourth = [4, "", CHAINS[0], "", 0, 0]
    proof, commits, frames = record["proof"], record["commits"], record["frames"]
    another = [2, "", CHAINS[0], "", 0, 0]
    moved = [{**proof["deals"][0], "deal": 2}]
    changes: list[tuple[str, dict[str, Any]]] = [
        ("the record of what was seen", {}),
        ("another room", {"uid": "AAECAwQFBgcICQoLDA0ODg"}),
        ("another commitment", {"proof": {**proof, "commitment": CHAINS[0]}}),
        ("without the nonce", {"proof": {**proof, "deals": [{"deal": 1, "seats": [{}, {}]}]}}),
        ("the nonce in another deal", {"proof": {**proof, "deals": moved}}),
        ("another chain", {"commits": [commits[0], another, commits[2]]}),
        ("another view", {"frames": [["frame", 1, "", [], [], {"log": {"n": 1}}], *frames[1:]]}),
        ("too short", {"commits": commits[:2]}),
        ("too long", {"commits": [*commits, fourth]}),
    ]
    return {
        "evidence": msgspec.to_builtins(kept),
        "records": [
            {
                "name": name,
                "record": {**record, **change},
                "differences": msgspec.to_builtins(compare(kept, {**record, **change})),
            }
            for name, change in changes
        ],
    }
