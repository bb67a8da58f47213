"""The words of a link's preview, in the languages of the page. Readers of links run no script, so
the page cannot say them."""

from collections.abc import Mapping
from typing import Final

import msgspec


class Words(msgspec.Struct, frozen=True):
    """Titles and a sentence about the service. `{host}`, `{game}` and `{n}` are parameters."""

    invited: str
    """A room that waits, and has a host at its table."""
    waits: str
    """A room that waits, without a host at its table."""
    runs: str
    over: str
    free: str
    """The free seats of a room that waits."""
    about: str


DEFAULT: Final = "en"
WORDS: Final[Mapping[str, Words]] = {
    "bg": Words(
        "{host} те кани на {game}",
        "Маса за {game} чака играчи",
        "{game}: играта тече",
        "{game}: играта приключи",
        "Свободни места: {n}",
        "Играй в браузъра с приятели, с непознати или срещу ботове.",
    ),
    "de": Words(
        "{host} lädt zu {game} ein",
        "Ein Tisch für {game} wartet auf Mitspieler",
        "{game}: Das Spiel läuft",
        "{game}: Das Spiel ist zu Ende",
        "Freie Plätze: {n}",
        "Im Browser spielen: mit Freunden, mit Fremden oder gegen Bots.",
    ),
    "en": Words(
        "{host} invites you to {game}",
        "A table of {game} waits for players",
        "{game}: the game is running",
        "{game}: the game is over",
        "Free seats: {n}",
        "Play in the browser with friends, with strangers or against bots.",
    ),
    "es": Words(
        "{host} te invita a {game}",
        "Una mesa de {game} espera jugadores",
        "{game}: la partida está en curso",
        "{game}: la partida ha terminado",
        "Asientos libres: {n}",
        "Juega en el navegador con amigos, con desconocidos o contra bots.",
    ),
    "fr": Words(
        "{host} t’invite à {game}",
        "Une table de {game} attend des joueurs",
        "{game} : la partie est en cours",
        "{game} : la partie est terminée",
        "Places libres : {n}",
        "Joue dans le navigateur avec des amis, des inconnus ou contre des bots.",
    ),
    "it": Words(
        "{host} ti invita a {game}",
        "Un tavolo di {game} aspetta giocatori",
        "{game}: la partita è in corso",
        "{game}: la partita è finita",
        "Posti liberi: {n}",
        "Gioca nel browser con amici, con sconosciuti o contro i bot.",
    ),
    "nl": Words(
        "{host} nodigt je uit voor {game}",
        "Een tafel voor {game} wacht op spelers",
        "{game}: het spel is bezig",
        "{game}: het spel is afgelopen",
        "Vrije plaatsen: {n}",
        "Speel in de browser met vrienden, met vreemden of tegen bots.",
    ),
}


def language_of(accepted: str) -> str:
    """Return the first language of an `Accept-Language` header that has words here."""
    for item in accepted.lower().split(","):
        language = item.partition(";")[0].strip().partition("-")[0]
        if language in WORDS:
            return language
    return DEFAULT
