"""Bots: pure policies over a player's view, and the levels that people choose from."""

from towerhall_server.games.five_towers.bots.greedy import (
    choose_easy,
    choose_greedy,
    choose_random,
)
from towerhall_server.games.five_towers.bots.planner import choose_planner
from towerhall_server.games.five_towers.bots.valuer import choose_valuer

BOTS = {
    "random": choose_random,
    "greedy": choose_greedy,
    "valuer": choose_valuer,
    "planner": choose_planner,
    "easy": choose_easy,
    "medium": choose_valuer,
    "hard": choose_planner,
}
