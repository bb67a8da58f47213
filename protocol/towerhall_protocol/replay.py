"""The state of a client and how messages change it: a whole client except for its socket.

A `Replay` is a state machine without I/O, clock or chance. Give it what the server sent, in order,
and send what it returns; drop the connection whenever you like, begin the next one with `hello`,
and it goes on where it was. Its promises (P-20 to P-27): every commit is applied once and in
order or a `Faulted` says so; a command is sent until it is answered, always with the same number,
tag and body, so that the server does it once.

Failure cases: a frame that does not follow the last one, or anything before the welcome, is a
fault. A fault drops the cursor and nothing else: the next connection brings a whole view, and the
unanswered commands are sent again like after any other loss.
"""

from collections.abc import Callable, Mapping, Set
from typing import Any, Final

from towerhall_protocol import commands
from towerhall_protocol import messages as m
from towerhall_protocol import updates as u
from towerhall_protocol.document import Document
from towerhall_protocol.evidence import Collector, Evidence, Place
from towerhall_protocol.level import LEVEL
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.offers import Offer
from towerhall_protocol.sealed_nonce import SealedNonce
from towerhall_protocol.timeline import EMPTY, Timeline

MOST_UNANSWERED: Final = 8
ORIGIN_BYTES: Final = 8

Updates = tuple[u.Update, ...]


class UnansweredError(Exception):
    """Eight commands are under way: wait until one of them is answered."""


class Replay:
    """One client of one room, over as many connections as it takes."""

    def __init__(
        self,
        random_bytes: Callable[[int], bytes],
        *,
        origin: str = "",
        keep_frames: bool = False,
        recall: Callable[[str], Evidence | None] = lambda uid: None,
    ) -> None:
        """`recall` finds the evidence that was kept of a room before, by its uid."""
        self.origin = origin or commands.base64url(random_bytes(ORIGIN_BYTES))
        self.cursor: m.Cursor | None = None
        self.view: Document = EMPTY
        self.you = ""
        self.name = ""
        self.seat: int | None = None
        self.offers: tuple[Offer, ...] = ()
        self.tag = ""
        self.online: tuple[int, ...] = ()
        self.watchers = 0
        self.paused = False
        self.private = False
        self.now: tuple[int, int] = (0, 0)
        """Wall clock and service clock of the store, in ms, when it last told them."""
        self.welcomed = False
        self._faulted = False
        self._next = 1
        self._unanswered: dict[int, m.ClientCommand] = {}
        self._postponed: set[int] = set()
        self._may_go = False
        """Whether something came since then that makes room for a postponed command."""
        self._game_seq = 0
        self._timeline = Timeline() if keep_frames else None
        self._nonce = SealedNonce(random_bytes)
        self._collector = Collector(recall)

    # Sending

    def hello(self, token: str, key: str = "") -> m.ClientHello:
        """The first message of a new connection; whatever was before it is over."""
        self.welcomed = self._faulted = False
        greeting = m.Greeting(token, LEVEL, self.origin, self.cursor, key)
        return m.ClientHello(greeting)

    def command(self, body: Mapping[str, Any], *, dry: bool = False) -> m.ClientCommand:
        """The command as a message with the next number. It is unanswered from now on."""
        if self.is_full:
            raise UnansweredError
        tag = "" if body.get("command") in commands.ROOM_COMMANDS else self.tag
        command = m.ClientCommand(self._next, tag, dict(body), dry)
        self._unanswered[command.n] = command
        self._next += 1
        return command

    def sit(self, seat: int | None = None) -> m.ClientCommand:
        """Sit down, with a fresh nonce sealed for the deal."""
        nonce, sealed = self._nonce.draw(self.view)
        command = self.command(commands.sit(seat, sealed))
        self._nonce.show(command.n, nonce)
        return command

    def ready(self, *, is_ready: bool = True) -> m.ClientCommand:
        """Get ready, with a fresh nonce unless ours is sealed: a cancelled deal spends it."""
        nonce, sealed = b"", b""
        if is_ready and not self._nonce.is_sealed(self.view, self.seat):
            nonce, sealed = self._nonce.draw(self.view)
        command = self.command(commands.ready(sealed, is_ready=is_ready))
        self._nonce.show(command.n, nonce)
        return command

    def opening(self) -> m.ClientCommand | None:
        """The command that opens the nonce, if it is due. Ask after every message."""
        if not self.welcomed or self.is_full:
            return None
        if any(command.body.get("command") == "open" for command in self._unanswered.values()):
            return None
        body = self._nonce.opening(self.view, self.seat, self.seq)
        if body is None:
            return None
        command = self.command(body)
        self._collector.open(command.n, self.view, str(body["nonce"]))
        return command

    def resend(self) -> tuple[m.ClientCommand, ...]:
        """The unanswered commands, in order: to be sent after every `Synced` and `Reset`."""
        return tuple(self._unanswered.values())

    def postponed(self) -> tuple[m.ClientCommand, ...]:
        """Commands that the server turned away as too many (P-44), in order, once another one was
        answered. Send them. Ask after every message."""
        if not self._may_go:
            return ()
        numbers = self._stop_postponing()
        return tuple(self._unanswered[n] for n in sorted(numbers))

    @property
    def waits(self) -> Set[int]:
        """The numbers of the commands that must not be sent now (P-44)."""
        return self._postponed

    @property
    def unanswered(self) -> tuple[int, ...]:
        """The numbers of the commands that wait for an answer."""
        return tuple(self._unanswered)

    @property
    def is_full(self) -> bool:
        """Whether no further command may be sent before an answer comes."""
        return len(self._unanswered) >= MOST_UNANSWERED or bool(self._postponed)

    @property
    def seq(self) -> int:
        """The last commit that is in the view."""
        return 0 if self.cursor is None else self.cursor.seq

    def ping(self) -> m.ClientPing:
        return m.ClientPing(self.seq)

    @property
    def evidence(self) -> Evidence | None:
        """Evidence of this room, to be compared with its record (P-87)."""
        return self._collector.evidence

    # Kept frames

    def missing(self) -> tuple[int, int] | None:
        """The first frames that `view_at` lacks, to be asked for as history."""
        return None if self._timeline is None else self._timeline.missing(self.seq)

    def view_at(self, seq: int) -> Document | None:
        """The view as it was; `None` if frames are missing (or none are kept)."""
        return None if self._timeline is None else self._timeline.view_at(seq)

    def frames(self, first: int, last: int) -> tuple[m.ServerFrame, ...]:
        """The kept frames of that range."""
        return () if self._timeline is None else self._timeline.frames(first, last)

    # Receiving

    def receive(self, message: m.ServerMessage) -> Updates:
        """Take in one message of the server."""
        if self._faulted:
            return ()
        if not self.welcomed and not isinstance(message, _BEFORE_WELCOME):
            return self._fault("a message came before the welcome")
        match message:
            case m.ServerWelcome(arrival):
                return self._welcome(arrival)
            case m.ServerFrame():
                return self._frame(message)
            case m.ServerReset(cursor, view, lost):
                self._replace(cursor, view, lost)
                return (u.Reset(cursor.seq, lost),)
            case m.ServerOffers(seq, tag, offers):
                return self._offer(seq, tag, offers)
            case m.ServerRejected(n, code, rule, params, hint):
                self._settle(n, done=False)
                return (u.Rejected(n, code, rule, params, hint),)
            case m.ServerDuplicate(n, seq):
                self._settle(n, done=True)
                return (u.Answered(n, seq),)
            case m.ServerAccepted(n, effect):
                self._settle(n, done=False)
                return (u.DryAnswered(n, effect),)
            case m.ServerHistory(frames, last):
                if self._timeline is not None:
                    self._timeline.add(frames)
                return (u.HistoryCame(frames, last),)
            case _:
                return self._aside(message)

    def _aside(self, message: m.ServerMessage) -> Updates:
        """Messages that change neither view nor commands."""
        match message:
            case m.ServerSeat(seat):
                self.seat = _seat(seat)
                self._drop_offers()
                return (u.SeatChanged(self.seat),)
            case m.ServerChain(seq, chain, key, signature):
                place = Place(seq, chain, key, signature)
                self._collector.tell(place, self.seq, self.view, self.seat)
                return (u.ChainCame(seq, chain, key, signature),)
            case m.ServerPresence(online, watchers):
                self.online, self.watchers = online, watchers
                return (u.PresenceChanged(online, watchers),)
            case m.ServerChat(id_, name, seat, text, wall_ms, who):
                return (u.ChatSaid(id_, name, _seat(seat), text, wall_ms, who),)
            case m.ServerEmote(name, seat, emote, who):
                return (u.EmoteCame(name, _seat(seat), emote, who),)
            case m.ServerSearching(n, ahead):
                return (u.Searching(n, ahead),)
            case m.ServerPaused(paused):
                self.paused = paused
                return (u.Paused(paused),)
            case m.ServerGo(within_ms):
                return (u.MustGo(within_ms),)
            case m.ServerPong(seq, now):
                self.now = now
                self._may_go = bool(self._postponed)
                return (u.PongCame(seq, now),)
            case m.ServerError(code, params, hint):
                if code == "too_many_unanswered":
                    self._postpone(params.get("n"))
                return (u.ErrorCame(code, params, hint),)
            case _:
                return ()

    def _welcome(self, arrival: m.Arrival) -> Updates:
        if self.welcomed:
            return self._fault("a second welcome came")
        if arrival.view is not None:
            self._replace(arrival.cursor, arrival.view, arrival.lost)
        elif self.cursor is None or self.cursor != arrival.cursor:
            return self._fault("the welcome goes on from elsewhere")
        self._drop_offers()
        self._stop_postponing()
        self.welcomed = True
        self.you, self.name, self.seat = arrival.you, arrival.name, arrival.seat
        self.online, self.watchers, self.now = arrival.online, arrival.watchers, arrival.now
        self.paused = arrival.paused
        self.private = arrival.private
        self._collector.arrive(self.view, arrival)
        return (u.Synced(arrival.cursor.seq, arrival.view is not None, arrival.lost),)

    def _frame(self, frame: m.ServerFrame) -> Updates:
        cursor = self.cursor
        if cursor is None or frame.seq != cursor.seq + 1:
            return self._fault(f"frame {frame.seq} came after {self.seq}")
        self.view = apply(self.view, frame.patch)
        self.cursor = m.Cursor(cursor.base, frame.seq, frame.mark)
        self._collector.move(frame.seq, frame.facts, self.view, self.seat)
        if self._timeline is not None:
            self._timeline.add((frame,))
        if "game" in frame.patch:
            self._drop_offers()
            self._game_seq = frame.seq
        own = self._own_number(frame.cause)
        moved = u.Moved(frame.seq, frame.cause, frame.facts, own)
        if own is None:
            return (moved,)
        self._next = max(self._next, own + 1)
        self._settle(own, done=True)
        return (moved, u.Answered(own, frame.seq))

    def _offer(self, seq: int, tag: str, offers: tuple[Offer, ...]) -> Updates:
        # Offers that took long to find may come after the frame that made them void.
        if seq < self._game_seq:
            return ()
        self.offers, self.tag = offers, tag
        return (u.OffersCame(seq, offers),)

    def _replace(self, cursor: m.Cursor, view: Document, lost: int) -> None:
        if self._timeline is not None:
            if lost or (self.cursor is not None and self.cursor.base != cursor.base):
                self._timeline.forget()
            self._timeline.know(cursor.seq, view)
        self.cursor, self.view = cursor, view
        self._collector.replace(view)
        self._game_seq = 0
        self._stop_postponing()
        self._nonce.look_again()
        self._drop_offers()

    def _settle(self, n: int, *, done: bool) -> None:
        command = self._unanswered.pop(n, None)
        if command is not None:
            self._nonce.settle(n, command.body, done=done)
            self._collector.opened(n, done=done)
            self._postponed.discard(n)
            self._may_go = bool(self._postponed)

    def _postpone(self, n: int | str | None) -> None:
        """Resend that command before any later one, which would make it stale (P-42)."""
        if isinstance(n, int) and n in self._unanswered:
            self._postponed |= {each for each in self._unanswered if each >= n}
            self._may_go = False

    def _stop_postponing(self) -> set[int]:
        numbers, self._postponed, self._may_go = self._postponed, set(), False
        return numbers

    def _drop_offers(self) -> None:
        self.offers, self.tag = (), ""

    def _fault(self, reason: str) -> Updates:
        self.cursor = None
        self.welcomed, self._faulted = False, True
        if self._timeline is not None:
            self._timeline.forget()
        return (u.Faulted(reason),)

    def _own_number(self, cause: tuple[Any, ...]) -> int | None:
        if len(cause) >= 3 and cause[1] == self.origin and type(cause[2]) is int:
            return cause[2]
        return None


_BEFORE_WELCOME = (m.ServerWelcome, m.ServerError, m.ServerGo, m.ServerPong)


def _seat(number: int) -> int | None:
    return None if number < 0 else number
