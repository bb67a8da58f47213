"""Every code that a server answers with, and a hint to the remedy.

Codes are stable: programs compare them, people read the hint. A game adds its own codes for
refused commands; they are listed with their rules in `GET /v1/games`.
"""

from collections.abc import Mapping
from string import Formatter

import msgspec


class Close(msgspec.Struct, frozen=True):
    """One way in which a server ends a connection."""

    code: int
    may_reconnect: bool
    """Whether the same client may come back by itself with the same greeting."""
    meaning: str


CLOSES: Mapping[str, Close] = {
    "done": Close(1000, False, "the client asked for it"),
    "going_away": Close(1001, True, "the connection ends with the page or the process"),
    "malformed_message": Close(1007, False, "the data is not a message of this protocol"),
    "message_too_large": Close(1009, False, "a message is larger than allowed"),
    "server_fault": Close(1011, True, "a fault in the server, or no pong to its pings"),
    "restart": Close(
        1012, True, "this server restarts or sheds load: any other server serves the room"
    ),
    "busy": Close(1013, True, "too many connections: wait before trying again"),
    "bad_message": Close(4400, False, "too many invalid messages"),
    "unauthorized": Close(4401, False, "the token is wrong, too old or revoked: get a new one"),
    "forbidden": Close(4403, False, "this identity has no access"),
    "room_gone": Close(4404, False, "there is no such room (or its key is wrong)"),
    "banned": Close(4405, False, "this identity is banned from the service, or from the room"),
    "kicked": Close(4406, False, "the host removed this person, until let in again"),
    "hello_late": Close(4408, True, "no hello in time"),
    "replaced": Close(4409, False, "another connection of the same person took over the seat"),
    "level_too_old": Close(4410, False, "this client is too old for the server"),
    "too_slow": Close(4413, True, "the client reads too slowly"),
    "too_many": Close(4429, True, "the client broke a limit repeatedly: wait before trying again"),
    "store_unavailable": Close(4503, True, "the store does not answer"),
}
BY_NUMBER: Mapping[int, Close] = {close.code: close for close in CLOSES.values()}

HINTS: Mapping[str, str] = {
    # messages and connections
    "malformed_message": "send a msgpack or JSON array that the specification lists: {detail}",
    "message_too_large": "a message has at most {most} bytes",
    "nested_too_deep": "a message is nested too deep: {detail}",
    "number_out_of_range": "whole numbers lie between -(2^53 - 1) and 2^53 - 1: {detail}",
    "wrong_frame_type": "this subprotocol requires {wanted} messages",
    "unknown_message": "there is no message {name}; the specification lists them",
    "hello_expected": "send hello once, as the first message",
    "hello_late": "send hello within {seconds} s",
    "level_too_old": "the server speaks level {oldest} to {newest}: update this client",
    "unauthorized": "send a token of POST /v1/guests or an operator's key: {detail}",
    "forbidden": "you are not allowed to do this",
    "banned": "this identity is banned from the service, or from this room; ask the operator of the"
    " lobby",
    "foreign_origin": "this origin is not allowed; the operator configures the allowed origins",
    "foreign_host": "this host name is not allowed; the operator configures the allowed hosts",
    "room_gone": "there is no such room, or its key is wrong",
    "replaced": "another window or device is playing this seat",
    "too_slow": "read faster, or connect again",
    "busy": "too many connections; try again in {retry_ms} ms",
    "too_many": "too much at once; try again in {retry_ms} ms",
    "store_unavailable": "the store does not answer; keep the commands and try again soon",
    "store_full": "the store is out of memory: you can only watch; ask the operator",
    "server_fault": "this is a fault of the server; it has been logged",
    "log_damaged": "the log of this room is damaged; you can watch up to the damage, not play on",
    # commands
    "stale": "this came too late: the decision has passed, or a later command was done; read the"
    " latest offers",
    "number_reused": "that number belongs to another command of yours, which is done; take the next"
    " number",
    "origin_taken": "another person uses that origin; choose 8 random bytes of your own",
    "too_many_unanswered": "wait for answers: at most {most} commands may be unanswered; send {n}"
    " again before any later one",
    "bad_command": "a command is a map with its name under `command`: {detail}",
    "unknown_command": "there is no command {name} here",
    "bad_number": "commands are numbered 1, 2, 3 ... for each origin",
    "not_seated": "only seated players may do this",
    "not_host": "only the host of the room may do this",
    "already_seated": "you already have seat {seat}",
    "same_name": "your seat has that name already",
    "seat_taken": "seat {seat} is taken",
    "no_such_seat": "the seats are numbered 0 to {last}",
    "seat_empty": "there is no one in that seat",
    "seat_reserved": "that seat is reserved for another person",
    "own_seat": "you cannot do this to your own seat",
    "kicked": "the host removed you; you may come back when the host lets you in again",
    "not_kicked": "the host has removed no person with that id from this room",
    "muted": "the host has muted you: the others do not see this",
    "chat_off": "your chat is off: turn it on in your profile, by POST /v1/me/profile",
    "already_muted": "the host has already muted this person",
    "already_invited": "this person has been invited, or has a seat",
    "no_bot_accounts": "bot accounts may not play here, unless the host allows or invites them",
    "not_muted": "the host has not muted this person",
    "list_full": "this list holds at most {most} people; take a person off it first",
    "room_full": "all seats are taken; you may watch",
    "not_waiting": "this can only be done before the game starts",
    "not_playing": "this can only be done while the game runs",
    "not_over": "this can only be done when the game is over",
    "not_sealed": "there is no nonce to open now",
    "seats_free": "all {seats} seats must be taken first; bots may take some",
    "not_ready": "some players are not ready",
    "wrong_nonce": "this is not the nonce whose hash was shown",
    "not_signed": "this server has no key to sign with",
    "already_open": "your nonce is already open",
    "bot_plays": "a bot is playing in that seat",
    "no_bot_plays": "no bot is playing for you",
    "not_absent": "the player in seat {seat} has not been away for long enough",
    "resigned": "a player who has resigned cannot return to this game",
    "rematch_made": "the rematch is already in room {room}",
    "bad_options": "these options do not exist: {detail}",
    "bad_name": "a name has 1 to 24 visible characters",
    "bad_chat": "a chat message has 1 to 300 characters",
    "bad_emote": "there is no emote {name}; the specification lists them",
    "no_sandbox": "only a sandbox room of a server that offers them does this",
    "already_over": "this cannot be done when the room is over",
    "bad_range": "ask for frames from 1 to {last}, the first not after the last",
    "poisoned": "a fault in the rules stopped this command; it has been logged",
    # over HTTP
    "bad_request": "the request is invalid: {detail}",
    "not_found": "not found",
    "method_not_allowed": "this address does not allow {method}",
    "request_late": "send the whole request within {seconds} s",
    "path_too_long": "an address has at most {most} bytes",
    "headers_too_large": "the address and all headers of a request have at most {most} bytes",
    "server_full": "this server is full; try again in {retry_ms} ms",
    "wrong_content_type": "set the header Content-Type to {wanted}",
    "unknown_game": "there is no game {name}; GET /v1/games lists them",
    "bad_passkey": "this passkey cannot be used here: {detail}",
    "challenge_gone": "the question to the passkey was answered before, or is too old; ask again",
    "bad_recovery_code": "this is not the present recovery code of an account",
    "sign_in_first": "sign in anew on this device, then repeat this within 15 minutes",
    "last_passkey": "an account keeps at least one passkey; add another one first",
    "link_gone": "this link has been used or has expired; create a new one",
    "no_push": "this service sends no push messages",
    "bad_subscription": "this is no push subscription that can be used: {detail}",
    "record_not_ready": "the record is available when the game is over",
    "key_reused": "this idempotency key belongs to another request; use a new key",
    "in_progress": "the first request with this key is in progress; try again in {retry_ms} ms",
    "draining": "this server is about to stop; try again, another server will answer",
}

CLAUSES: Mapping[str, str] = {
    "malformed_message": "P-5",
    "message_too_large": "P-70",
    "nested_too_deep": "P-70",
    "number_out_of_range": "P-11",
    "wrong_frame_type": "P-2",
    "unknown_message": "P-5",
    "hello_expected": "P-16",
    "hello_late": "P-16",
    "level_too_old": "P-130",
    "unauthorized": "P-112",
    "forbidden": "P-161",
    "banned": "P-167",
    "foreign_origin": "P-170",
    "foreign_host": "P-110",
    "room_gone": "P-24",
    "replaced": "P-91",
    "too_slow": "P-74",
    "busy": "P-73",
    "too_many": "P-72",
    "store_unavailable": "P-95",
    "store_full": "P-118",
    "server_fault": "P-101",
    "log_damaged": "P-40",
    "stale": "P-43",
    "number_reused": "P-42",
    "origin_taken": "P-42",
    "too_many_unanswered": "P-44",
    "bad_command": "P-50",
    "unknown_command": "P-57",
    "bad_number": "P-42",
    "not_seated": "P-56",
    "not_host": "P-56",
    "already_seated": "P-56",
    "same_name": "P-51",
    "seat_taken": "P-51",
    "no_such_seat": "P-50",
    "seat_empty": "P-57",
    "seat_reserved": "P-51",
    "own_seat": "P-57",
    "kicked": "P-57",
    "not_kicked": "P-57",
    "muted": "P-57",
    "no_push": "P-217",
    "bad_subscription": "P-217",
    "chat_off": "P-203",
    "already_muted": "P-57",
    "already_invited": "P-57",
    "no_bot_accounts": "P-157",
    "not_muted": "P-57",
    "list_full": "P-57",
    "room_full": "P-51",
    "not_waiting": "P-65",
    "not_playing": "P-65",
    "not_over": "P-65",
    "not_sealed": "P-54",
    "seats_free": "P-53",
    "not_ready": "P-53",
    "wrong_nonce": "P-54",
    "not_signed": "P-99",
    "already_open": "P-54",
    "bot_plays": "P-58",
    "no_bot_plays": "P-58",
    "not_absent": "P-58",
    "resigned": "P-58",
    "rematch_made": "P-59",
    "bad_options": "P-115",
    "bad_name": "P-112",
    "bad_chat": "P-93",
    "bad_emote": "P-98",
    "no_sandbox": "P-190",
    "already_over": "P-191",
    "bad_range": "P-90",
    "poisoned": "P-40",
    "bad_request": "P-110",
    "not_found": "P-110",
    "method_not_allowed": "P-110",
    "request_late": "P-110",
    "path_too_long": "P-110",
    "headers_too_large": "P-110",
    "server_full": "P-110",
    "wrong_content_type": "P-110",
    "unknown_game": "P-113",
    "bad_passkey": "P-212",
    "challenge_gone": "P-212",
    "bad_recovery_code": "P-214",
    "sign_in_first": "P-212",
    "last_passkey": "P-212",
    "link_gone": "P-149",
    "record_not_ready": "P-117",
    "key_reused": "P-163",
    "in_progress": "P-163",
    "draining": "P-118",
}
"""The clause of the specification on which each code rests, unless a refusal names another one."""


def clause_of(code: str) -> str:
    """The clause on which a code rests; that of all codes if it is a game's."""
    return CLAUSES.get(code, "P-102")


def hint(code: str, params: Mapping[str, int | str], hints: Mapping[str, str] = HINTS) -> str:
    """The hint for people, with its known parameters filled in."""
    text = hints.get(code, "")
    parts = []
    for literal, field, _, _ in Formatter().parse(text):
        parts.append(literal)
        if field is not None:
            parts.append(str(params.get(field, "?")))
    return "".join(parts)
