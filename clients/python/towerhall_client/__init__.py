"""Plays at a Towerhall service: rooms, the lobby, requests over HTTP, and checks of records.

All that a bot or a program for a terminal needs is here. It knows no rules of any game: the server
tells what each viewer sees and what this seat may do.
"""

from towerhall_client.bot import Policy, play_bot, random_policy
from towerhall_client.connection import Answer, Disconnected, Table, Update, connect
from towerhall_client.errors import RefusedError, ServiceError, TableClosedError, TowerhallError
from towerhall_client.events import Events, hear_events
from towerhall_client.evidence_folder import EvidenceFolder
from towerhall_client.http import Guest, Link, NewRoom, Place, Service, SignedIn
from towerhall_client.lobby import Lobby, look_at_lobby
from towerhall_client.operator import Ban, OpenedRoom, Operator, Player, Seat, verify_signature
from towerhall_client.retry import Retry
from towerhall_protocol.chain import link, mark, seal
from towerhall_protocol.check_record import Check, check_record
from towerhall_protocol.codec import CodecError, canonical_json
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.document import Document
from towerhall_protocol.evidence import Difference, Evidence, compare, view_hash
from towerhall_protocol.evidence import Place as SeenPlace
from towerhall_protocol.fairness import Act, commitment, game_seed, nonce_hash
from towerhall_protocol.level import JSON, MSGPACK
from towerhall_protocol.lobby import Filter as LobbyFilter
from towerhall_protocol.merge_patch import apply as merge_patch
from towerhall_protocol.offers import Offer
from towerhall_protocol.replay import Replay
from towerhall_protocol.statements import Statement, is_signed, key_id

__all__ = [
    "JSON",
    "MSGPACK",
    "Act",
    "Answer",
    "Ban",
    "Check",
    "CodecError",
    "Difference",
    "Disconnected",
    "Document",
    "Events",
    "Evidence",
    "EvidenceFolder",
    "Guest",
    "Link",
    "Lobby",
    "LobbyFilter",
    "NewRoom",
    "Offer",
    "OpenedRoom",
    "Operator",
    "Place",
    "Player",
    "Policy",
    "RefusedError",
    "Replay",
    "Retry",
    "Seat",
    "SeenPlace",
    "Service",
    "ServiceError",
    "SignedIn",
    "Statement",
    "Table",
    "TableClosedError",
    "TowerhallError",
    "Update",
    "base64url",
    "canonical_json",
    "check_record",
    "commitment",
    "compare",
    "connect",
    "from_base64url",
    "game_seed",
    "hear_events",
    "is_signed",
    "key_id",
    "link",
    "look_at_lobby",
    "mark",
    "merge_patch",
    "nonce_hash",
    "play_bot",
    "random_policy",
    "seal",
    "verify_signature",
    "view_hash",
]
