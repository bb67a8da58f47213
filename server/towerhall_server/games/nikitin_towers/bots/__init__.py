"""Bots: pure policies over a player's view, and the levels that people choose from."""

from towerhall_server.games.nikitin_towers.bots.policies import (
    choose_careful,
    choose_easy,
    choose_hard,
    choose_mean,
    choose_medium,
    choose_random,
    choose_ring,
)

BOTS = {
    "random": choose_random,
    "careful": choose_careful,
    "mean": choose_mean,
    "ring": choose_ring,
    "easy": choose_easy,
    "medium": choose_medium,
    "hard": choose_hard,
}
