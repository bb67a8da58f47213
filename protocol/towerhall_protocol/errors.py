"""Every code that a server answers with, and what to do about it.

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
    "malformed_message": Close(1007, False, "what came is no message of this protocol"),
    "message_too_large": Close(1009, False, "a message is larger than allowed"),
    "server_fault": Close(1011, True, "a fault in the server, or no answer to its pings"),
    "restart": Close(1012, True, "this server restarts or makes room: any other serves the room"),
    "busy": Close(1013, True, "too many connections: wait before trying again"),
    "bad_message": Close(4400, False, "too many messages that made no sense"),
    "unauthorized": Close(4401, False, "the token is wrong or too old: get a new one"),
    "forbidden": Close(4403, False, "this identity may not be here"),
    "room_gone": Close(4404, False, "there is no such room (or its key is wrong)"),
    "banned": Close(4405, False, "this identity is banned from the service"),
    "hello_late": Close(4408, True, "no hello in time"),
    "replaced": Close(4409, False, "another connection of the same person took the seat over"),
    "level_too_old": Close(4410, False, "this client is too old for the server"),
    "too_slow": Close(4413, True, "the client does not read what it is sent"),
    "too_many": Close(4429, True, "a limit was broken again and again: wait before trying again"),
    "store_unavailable": Close(4503, True, "the store does not answer"),
}
BY_NUMBER: Mapping[int, Close] = {close.code: close for close in CLOSES.values()}

HINTS: Mapping[str, str] = {
    # messages and connections
    "malformed_message": "send one msgpack or JSON array as the specification lists them: {detail}",
    "message_too_large": "a message has at most {most} bytes",
    "nested_too_deep": "a message is nested too deep: {detail}",
    "number_out_of_range": "whole numbers lie between -(2^53 - 1) and 2^53 - 1: {detail}",
    "wrong_frame_type": "this subprotocol wants {wanted} messages",
    "unknown_message": "there is no message {name}; see the specification for the list",
    "hello_expected": "the first message is hello, and there is only one",
    "hello_late": "send hello within {seconds} s",
    "level_too_old": "the server speaks level {oldest} to {newest}: update this client",
    "unauthorized": "say who you are, by a token of POST /v1/guests or an operator's key: {detail}",
    "forbidden": "this is not allowed here",
    "banned": "this identity is banned from the service; ask whoever runs the lobby",
    "foreign_origin": "this page may not connect; the operator lists the origins that may",
    "room_gone": "there is no such room, or its key is wrong",
    "replaced": "the seat is being played from another window or device",
    "too_slow": "read faster, or connect again",
    "busy": "too many connections; try again in {retry_ms} ms",
    "too_many": "too much at once; try again in {retry_ms} ms",
    "store_unavailable": "the store does not answer; what was sent is kept, try again soon",
    "server_fault": "this is a fault of the server; it has been noted",
    # commands
    "stale": "this came too late: the decision has passed, or a later command was done; look at the"
    " newest offers",
    "origin_taken": "that origin is another person's; take 8 random bytes of your own",
    "too_many_unanswered": "wait for answers: at most {most} commands may be under way; send {n}"
    " again before any later one",
    "bad_command": "a command is a map with its name under `command`: {detail}",
    "unknown_command": "there is no command {name} here",
    "bad_number": "commands are numbered 1, 2, 3 ... for each origin",
    "not_seated": "only whoever has a seat may do this",
    "not_host": "only the host of the room may do this",
    "already_seated": "you have seat {seat}",
    "seat_taken": "seat {seat} is taken",
    "no_such_seat": "the seats are numbered 0 to {last}",
    "seat_empty": "nobody sits there whom this could be done to",
    "seat_reserved": "that seat is kept for somebody else",
    "own_seat": "this cannot be done to your own seat",
    "kicked": "the host has sent you away; you may watch",
    "room_full": "all seats are taken; you may watch",
    "not_waiting": "this can only be done before the game starts",
    "not_playing": "this can only be done while the game runs",
    "not_over": "this can only be done when the game is over",
    "not_sealed": "there is nothing to open now",
    "seats_free": "all {seats} seats must be taken first; bots may take some",
    "not_ready": "not everybody is ready",
    "wrong_nonce": "this is not the nonce whose hash was shown",
    "already_open": "your nonce is open already",
    "bot_plays": "a bot plays in that seat at present",
    "no_bot_plays": "no bot plays for you",
    "not_absent": "whoever has seat {seat} has not been away for long enough",
    "resigned": "whoever has resigned plays no more in this game",
    "rematch_made": "room {room} has been made for another game",
    "bad_options": "these options do not exist: {detail}",
    "bad_name": "a name has 1 to 24 visible characters",
    "bad_chat": "a line of chat has 1 to 300 characters",
    "bad_emote": "there is no emote {name}; the specification lists them",
    "bad_range": "ask for frames from 1 to {last}, the first not after the last",
    "poisoned": "this command met a fault in the rules and was not done; it has been noted",
    # over HTTP
    "bad_request": "the request makes no sense: {detail}",
    "not_found": "there is nothing at this address",
    "method_not_allowed": "this address does not understand {method}",
    "unknown_game": "there is no game {name}; GET /v1/games lists them",
    "link_gone": "this link has been used, or is too old; make another one",
    "record_not_ready": "the record is there when the game is over",
    "key_reused": "another request came with this idempotency key; take a new key for a new one",
    "in_progress": "the first request with this key is being answered; again in {retry_ms} ms",
    "draining": "this server is about to stop; ask again, another one will answer",
}


def hint(code: str, params: Mapping[str, int | str], hints: Mapping[str, str] = HINTS) -> str:
    """The hint for people, with its parameters filled in as far as they are known."""
    text = hints.get(code, "")
    parts = []
    for literal, field, _, _ in Formatter().parse(text):
        parts.append(literal)
        if field is not None:
            parts.append(str(params.get(field, "?")))
    return "".join(parts)
