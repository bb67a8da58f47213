"""All refusals: a stable code, the section of `RULES.md` and a hint in English.

Hints are templates over the parameters of the rejection; clients translate by code.
"""

from towerhall_server.game import BAD_COMMAND, BAD_OPTIONS, Reason, Rejected

REASONS = {
    BAD_COMMAND: Reason("14", "This is not a command of this game: {detail}."),
    BAD_OPTIONS: Reason("12", "These options are not possible: {detail}."),
    "wrong_phase": Reason("4", "This cannot be done now: the phase is {phase}."),
    "not_your_turn": Reason("4", "It is the turn of seat {turn}."),
    "bid_out_of_range": Reason("5", "Name a number from 0 to {most}."),
    "bid_too_low": Reason("5", "Name more than {highest}, or pass."),
    "start_player_must_bid": Reason("5", "The start player cannot pass; a bid of 0 declines."),
    "bid_infeasible": Reason("7", "You could build at most {most} of these cards."),
    "bid_not_lowered": Reason("7", "You took {limit} back in this round: name less, or decline."),
    "wrong_number_of_cards": Reason("6", "You bid {number}: build exactly that many cards."),
    "duplicate_card": Reason("6", "The card at index {index} is named twice."),
    "card_not_in_display": Reason("6", "The card at index {index} is not in the display."),
    "cannot_demolish": Reason("6", "You have no such tower, or its top may not be demolished."),
    "building_rule": Reason("6", "The card at index {index} may not lie on {top}."),
}


def rejected(code: str, **params: int | str) -> Rejected:
    return Rejected(code, REASONS[code].rule, params)
