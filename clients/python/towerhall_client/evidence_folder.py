"""A folder in which a client keeps what it saw of rooms, to be compared with their records (P-87).

One small JSON file per room, written anew whenever there is something new. A folder that cannot be
written keeps nothing, and the game goes on. The oldest files go when there are too many.
"""

import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from towerhall_client.http import NewRoom
from towerhall_protocol.evidence import Evidence, Place

logger = logging.getLogger(__name__)

MOST_FILES: Final = 500


def default_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where programs of this user keep their data."""
    data = environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "towerhall" / "evidence"


class EvidenceFolder:
    """Evidence of the rooms that this user has seen."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def file_of(self, uid: str) -> Path:
        """Where the evidence of a room is, if there is any."""
        return self.path / f"{uid}.json"

    def find(self, uid: str) -> Evidence | None:
        """The evidence of that room."""
        try:
            return msgspec.json.decode(self.file_of(uid).read_bytes(), type=Evidence)
        except (OSError, msgspec.MsgspecError):
            return None

    def keep(self, evidence: Evidence) -> None:
        """Keep it in place of what was kept of the same room."""
        file = self.file_of(evidence.uid)
        new = file.with_suffix(f".{os.getpid()}.new")
        try:
            if not file.exists():
                self._make_room()
            new.write_bytes(msgspec.json.format(msgspec.json.encode(evidence)))
            new.replace(file)
        except OSError as error:
            logger.warning("no evidence is kept in %s: %s", self.path, error)

    def keep_creation(self, made: NewRoom) -> None:
        """Keep what the answer to the creation of a room said."""
        places: tuple[Place, ...] = ()
        if made.signed is not None:
            places = (made.signed,)
        self.keep(Evidence(made.uid, made.code, made.commitment, places=places))

    def _make_room(self) -> None:
        """Other users must not read the folder: it tells in which rooms this user was."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        files = sorted(self.path.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in files[: len(files) + 1 - MOST_FILES]:
            with suppress(OSError):
                file.unlink()
