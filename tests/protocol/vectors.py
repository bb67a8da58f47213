"""Makes `protocol/vectors`: plain JSON by which a client in any language can check itself.

`make vectors` writes the files anew; a test compares them with what this code says today, so that
no change of the protocol goes unnoticed. Bytes are base64url without padding, as on the wire.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import msgspec

from tests.protocol import (
    chain_vectors,
    log_vectors,
    nikitin_vectors,
    record_vectors,
    replay_vectors,
    signed_record_vectors,
    webhook_vectors,
)
from tests.protocol import messages as samples
from towerhall_protocol.codec import (
    FROM_CLIENT,
    CodecError,
    decode,
    decode_json,
    encode,
    encode_json,
)
from towerhall_protocol.commands import base64url as text_of
from towerhall_protocol.fairness import (
    NO_NONCE,
    Act,
    bot_entropy,
    commitment,
    game_seed,
    nonce_hash,
)
from towerhall_protocol.merge_patch import apply, diff

LONG = FROM_CLIENT.string_bytes + 1
FOLDER = Path(__file__).resolve().parents[2] / "protocol" / "vectors"


def fairness() -> dict[str, Any]:
    """Commitments, nonces, seeds, shuffles and numbers."""
    secret, uid = bytes(range(32)), bytes(16)
    nonces = [b"\1" * 32, b"\2" * 32, NO_NONCE]
    seed = game_seed(secret, uid, 1, nonces)
    other_uid = bytes(range(100, 116))
    cards = [f"{kind}:{value}" for kind in ("sand", "tree") for value in range(12)]
    bounds = [1, 2, 6, 6, 6, 52, 1000, (1 << 31) + 1, (1 << 31) + 1, 1 << 32]
    numbers = Act(seed, 3)
    return {
        "commitments": [
            {
                "uid": text_of(each),
                "secret": text_of(secret),
                "commitment": text_of(commitment(each, secret)),
            }
            for each in (uid, other_uid)
        ],
        "nonce_hashes": [
            {"uid": text_of(uid), "nonce": text_of(n), "hash": text_of(nonce_hash(uid, n))}
            for n in nonces[:2]
        ],
        "seeds": [
            {
                "secret": text_of(secret),
                "uid": text_of(uid),
                "deal": deal,
                "nonces": list(map(text_of, given)),
                "seed": text_of(game_seed(secret, uid, deal, given)),
            }
            for deal, given in ((1, nonces), (2, nonces), (1, nonces[::-1]), (1, nonces[:2]))
        ],
        "bots": [
            {"seed": text_of(seed), "seq": seq, "entropy": text_of(bot_entropy(seed, seq))}
            for seq in (1, 7, 1 << 40)
        ],
        "shuffles": [
            {
                "seed": text_of(seed),
                "act": act,
                "items": items,
                "result": Act(seed, act).shuffle(items),
            }
            for act, items in (
                (0, list("0123456789")),
                (1, list("9876543210")),
                (2, cards),
                (9, []),
                (4, [2, 10, 1]),
            )
        ],
        "numbers": {
            "seed": text_of(seed),
            "act": 3,
            "below": bounds,
            "results": [numbers.below(bound) for bound in bounds],
        },
    }


PATCHES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("nothing changed", {"a": 1}, {"a": 1}),
    ("a value changed", {"a": 1, "b": 2}, {"a": 1, "b": 3}),
    ("a key is new", {}, {"a": 1}),
    ("a key is gone", {"a": 1, "b": 2}, {"b": 2}),
    ("inside a map only the difference", {"m": {"a": 1, "b": 2}}, {"m": {"a": 1, "b": 3}}),
    ("a list is replaced whole", {"l": [1, 2, 3]}, {"l": [1, 2, 3, 4]}),
    ("a map in a list is a list's item", {"l": [{"a": 1}]}, {"l": [{"a": 2}]}),
    ("false is not 0", {"a": 0}, {"a": False}),
    ("true is not 1", {"a": True}, {"a": 1}),
    ("text is not a number", {"a": 1}, {"a": "1"}),
    ("a map becomes empty", {"m": {"a": 1}}, {"m": {}}),
    ("an empty map is new", {}, {"m": {}}),
    ("a value becomes a map", {"a": 1}, {"a": {"b": 2}}),
    ("a map becomes a value", {"a": {"b": 2}}, {"a": 1}),
    ("a whole part is gone", {"room": {}, "game": {"turn": 1}}, {"room": {}}),
    ("a list becomes a map", {"a": [1]}, {"a": {"b": [2]}}),
    (
        "a bid in Five Towers",
        {"calls": {"0": 2}, "turn": 1, "phase": "auction", "round": 3},
        {"calls": {"0": 2, "1": 4}, "turn": 1, "phase": "build", "round": 3},
    ),
    (
        "a new round",
        {"calls": {"0": 2, "1": 4}, "display": ["sand:7"], "seats": {"0": {"towers": {}}}},
        {"calls": {}, "display": ["tree:1"], "seats": {"0": {"towers": {"sand": [7]}}}},
    ),
]


MERGES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("null inside a map that is new", {}, {"m": {"a": None, "b": 1}}),
    ("null inside a map that replaces a value", {"m": 1}, {"m": {"a": None, "n": {"b": None}}}),
    ("null for a key that is not there", {"a": 1}, {"b": None}),
]


def merge_patch() -> list[dict[str, Any]]:
    """Documents before and after, and the smallest patch between them; then patches that are not
    the smallest ones, which a client has to merge as well."""
    return [
        {"name": name, "before": before, "after": after, "patch": diff(before, after)}
        for name, before, after in PATCHES
    ] + [
        {
            "name": name,
            "before": before,
            "after": apply(before, patch),
            "patch": patch,
            "smallest": False,
        }
        for name, before, patch in MERGES
    ]


DOCUMENTS: list[tuple[str, Any]] = [
    ("small integers", [0, 1, 127, 128, 255, 256, 65535, 65536]),
    ("negative integers", [-1, -32, -33, -128, -129, -32768, -32769]),
    ("the largest integers", [(1 << 53) - 1, 1 - (1 << 53)]),
    ("booleans and null", [True, False, None]),
    ("text", ["", "sand:7+", "Türme", "башня", "🏰"]),
    ("nested", {"a": {"b": [1, {"c": []}]}, "d": {}}),
    ("a command", {"command": "build", "cards": ["sand:12", "sand:7+"], "demolish": "sand"}),
]
REFUSED: list[tuple[str, bytes]] = [
    ("nothing", b""),
    ("cut off", encode({"a": [1, 2, 3]})[:-1]),
    ("something after the end", encode(1) + b"\0"),
    ("a floating point number", msgpack.packb(1.5)),
    ("bytes", msgpack.packb(b"x")),
    ("an extension", msgpack.packb(msgpack.ExtType(5, b"x"))),
    ("a number as key", msgpack.packb({1: 2})),
    ("a key twice", b"\x82\xa1a\x01\xa1a\x02"),
    ("text that is not UTF-8", b"\xa1\xff"),
    ("an integer beyond 2^53 - 1", msgpack.packb(1 << 53)),
    ("nine levels", b"\x91" * 8 + b"\x90"),
    (f"a text of {LONG} bytes", msgpack.packb("x" * LONG)),
    ("an array of 65 items", msgpack.packb([0] * 65)),
    ("a map of 33 keys", msgpack.packb({str(key): 0 for key in range(33)})),
    ("4097 bytes", msgpack.packb(["x" * 400] * 11)[:4097]),
]


def codec() -> dict[str, Any]:
    """Documents with their bytes; bytes and texts that a server refuses, with the code."""
    return {
        "documents": [
            {"name": name, "document": document, "msgpack": text_of(encode(document))}
            for name, document in DOCUMENTS
        ],
        "refused": [
            {"name": name, "msgpack": text_of(data), "code": _code(decode, data)}
            for name, data in REFUSED
        ],
        "refused_texts": [
            {"name": name, "json": text, "code": _code(decode_json, text)}
            for name, text in REFUSED_TEXTS
        ],
    }


def _code(decoder: Callable[..., object], data: bytes | str) -> str:
    try:
        decoder(data, FROM_CLIENT)
    except CodecError as error:
        return error.code
    raise ValueError(f"{data!r} is not refused")


REFUSED_TEXTS: list[tuple[str, str]] = [
    ("nothing", ""),
    ("cut off", '{"a":[1,2,3'),
    ("something after the end", "1 2"),
    ("a floating point number", "1.5"),
    ("a whole number written as a floating point number", "1.0"),
    ("not a number", "NaN"),
    ("a key twice", '{"a":1,"a":2}'),
    ("half a surrogate pair", '"\\ud800"'),
    ("an integer beyond 2^53 - 1", str(1 << 53)),
    ("nine levels", "[" * 9 + "]" * 9),
    (f"a text of {LONG} bytes", json.dumps("x" * LONG)),
    ("an array of 65 items", json.dumps([0] * 65)),
    ("a map of 33 keys", json.dumps({str(key): 0 for key in range(33)})),
    ("4097 bytes", json.dumps(["x" * 400] * 11)[:4097]),
]


def messages() -> dict[str, Any]:
    """Every message of both sides: as a document, as msgpack and as JSON text."""
    return {
        side: [
            {
                "name": name,
                "document": msgspec.to_builtins(message),
                "msgpack": text_of(encode(message)),
                "json": encode_json(message),
            }
            for name, message in group
        ]
        for side, group in (
            ("client", samples.FROM_CLIENT),
            ("server", samples.FROM_SERVER),
            ("to_lobby", samples.TO_LOBBY),
            ("from_lobby", samples.FROM_LOBBY),
            ("to_events", samples.TO_EVENTS),
        )
    }


MAKERS: dict[str, Callable[[], Any]] = {
    "chain": chain_vectors.chain,
    "codec": codec,
    "equal_marks": chain_vectors.equal_marks,
    "evidence": chain_vectors.evidence,
    "fairness": fairness,
    "merge_patch": merge_patch,
    "merkle": log_vectors.merkle,
    "messages": messages,
    "nikitin_towers": nikitin_vectors.nikitin_towers,
    "notes": log_vectors.notes,
    "replay": replay_vectors.replay,
    "webhooks": webhook_vectors.webhooks,
}


def written(name: str) -> str:
    return json.dumps(MAKERS[name](), indent=1, ensure_ascii=False) + "\n"


def records() -> dict[str, bytes]:
    """The files of whole records, as bytes."""
    made: dict[str, Any] = {
        "evidence": record_vectors.evidence(),
        "keys": signed_record_vectors.keys(),
        "tampered": record_vectors.tampered(),
        "tampered_signed": signed_record_vectors.tampered(),
    }
    texts = {name: json.dumps(document, ensure_ascii=False) for name, document in made.items()}
    whole = {
        "true": record_vectors.true_record(),
        "resigned": record_vectors.resigned_record(),
        "sandbox": record_vectors.sandbox_record(),
        "signed": signed_record_vectors.signed_record(),
    }
    return whole | {
        name: text.replace('}, {"name"', '},\n{"name"').encode() + b"\n"
        for name, text in texts.items()
    }


def main() -> None:
    (FOLDER / "records").mkdir(parents=True, exist_ok=True)
    for name, data in records().items():
        (FOLDER / "records" / f"{name}.json").write_bytes(data)
    for name in MAKERS:
        (FOLDER / f"{name}.json").write_text(written(name))


if __name__ == "__main__":
    main()
