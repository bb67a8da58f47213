"""All refusals: a stable code, the section of `RULES.md` and a hint in English.

Hints are templates over the parameters of the rejection; clients translate by code.
"""

from towerhall_server.game import BAD_COMMAND, BAD_OPTIONS, Reason, Rejected

REASONS = {
    BAD_COMMAND: Reason("12", "This is not a command of this game: {detail}."),
    BAD_OPTIONS: Reason("9", "These options are not possible: {detail}."),
    "wrong_phase": Reason("6", "This cannot be done now: the phase is {phase}."),
    "not_your_turn": Reason("6", "Seat {turn} has to act."),
    "wrong_size": Reason(
        "6", "The die asks for a block of {size} cubes; {block} has another size."
    ),
    "not_in_pile": Reason("6", "There is no {block} left in the pile."),
    "shape": Reason("3", "Place block {block}, in one of its orientations."),
    "overlap": Reason("3", "The block would be inside the tower or under the table."),
    "covered": Reason("3", "Part of the tower lies above this place."),
    "floating": Reason("3", "The block would rest on nothing."),
    "mat": Reason("3", "On level 1 a block must lie inside the mat."),
    "place_exists": Reason("6", "There is a place where this block stands."),
    "place_may_exist": Reason("6", "The search found no place, but did not try all. Keep trying."),
}


def rejected(code: str, **params: int | str) -> Rejected:
    return Rejected(code, REASONS[code].rule, params)
