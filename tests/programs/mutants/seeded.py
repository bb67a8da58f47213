"""A seeded bug as its patch file tells it: what it breaks, on which rule, and who must see it.

A patch begins with lines of `name: value`, then comes a diff as `git apply` takes it:

- `breaks`: what goes wrong with the bug in place.
- `rule`: what the code without the bug relies on or promises.
- `tests`: a test, or all cases of one, by its pytest id; one line for each. All of them are green
  without the bug, and at least one is red with it.
- `hangs`, only where it is so: why a test that does not end in its time counts as red.
"""

import re
from pathlib import Path
from typing import Final

import msgspec

FOLDER: Final = Path(__file__).resolve().parent
ONCE: Final = ("breaks", "rule", "hangs")
HUNK: Final = re.compile(r"^@@ .*$", re.M)


class BadPatchError(Exception):
    """A patch file that does not say what it has to."""


class Mutant(msgspec.Struct, frozen=True):
    """One seeded bug."""

    name: str
    path: Path
    breaks: str
    rule: str
    tests: tuple[str, ...]
    hangs: str
    """Empty if a test that runs out of time proves nothing."""
    diff: str

    @property
    def before(self) -> dict[str, list[str]]:
        """By file, the pieces of text that the diff replaces."""
        pieces: dict[str, list[str]] = {}
        for part in re.split(r"^diff --git ", self.diff, flags=re.M)[1:]:
            head, *hunks = HUNK.split(part)
            named = re.search(r"^--- a/(.+)$", head, re.M)
            if named is None:
                raise BadPatchError(f"{self.name}: a diff without the name of a file")
            pieces[named[1]] = [_old(hunk) for hunk in hunks]
        return pieces


def _old(hunk: str) -> str:
    lines = hunk.removeprefix("\n").splitlines(keepends=True)
    return "".join(line[1:] for line in lines if line[:1] in (" ", "-"))


def read(path: Path) -> Mutant:
    """The seeded bug of a patch file."""
    head, cut, diff = path.read_text().partition("diff --git ")
    found: dict[str, str] = {}
    tests: list[str] = []
    for line in filter(None, head.splitlines()):
        name, _, value = line.partition(": ")
        if name == "tests" and value:
            tests.append(value)
        elif name in ONCE and value and name not in found:
            found[name] = value
        else:
            raise BadPatchError(f"{path.name}: {line!r} is not understood")
    if missing := {"breaks", "rule"} - set(found):
        raise BadPatchError(f"{path.name}: without {' and '.join(sorted(missing))}")
    if not tests or not cut:
        raise BadPatchError(f"{path.name}: without {'a diff' if tests else 'tests'}")
    return Mutant(
        name=path.stem,
        path=path,
        breaks=found["breaks"],
        rule=found["rule"],
        tests=tuple(tests),
        hangs=found.get("hangs", ""),
        diff=cut + diff,
    )


def read_all(folder: Path = FOLDER) -> dict[str, Mutant]:
    """All seeded bugs of a folder, by name."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.patch"))}
