"""Pages at addresses that the server sees: rooms with a preview for readers of links, and none."""

import asyncio
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final

import pytest

from tests.browser.preview import ICONS, PREVIEW
from tests.end_to_end.brief import BriefProcess, gone
from tests.end_to_end.games import QUICK, play_out, seated
from tests.end_to_end.raw import Answer, ask
from tests.end_to_end.servers import ServerProcess, running
from towerhall_client.connection import connect
from towerhall_client.http import Service

HOSTILE: Final = "\"><script>'&lt;{0}"
NOWHERE: Final = "ZZZZZZ"
BROWSER: Final = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def brief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running(tmp_path_factory.mktemp("brief") / "data", kind=BriefProcess) as process:
        yield process


class Head(HTMLParser):
    """The tags of a document that readers of links look for, and all its elements."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.tags: dict[str, str] = {}
        self.elements: list[str] = []
        self.feed(answer.body.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        given = dict(attrs)
        if tag == "meta" and (given.get("property") or "").startswith("og:"):
            self.tags[str(given["property"])] = str(given["content"])


def look(server: ServerProcess, code: str, language: str = "en") -> Answer:
    return ask(server.url, "GET", f"/r/{code}", headers={**BROWSER, "accept-language": language})


async def room_with_host(url: str, name: str, **wanted: Any) -> Any:
    service = Service(url)
    guest = await service.guest(name)
    made = await service.create_room(guest.token, "five_towers", seats=3, **wanted)
    async with connect(url, made.code, guest.token, key=made.key, retry=QUICK) as table:
        await table.sit()
    return made


async def test_the_preview_of_a_room_names_host_and_game_and_has_a_picture(
    shared: ServerProcess,
) -> None:
    made = await room_with_host(shared.url, "Ada")
    answer = await asyncio.to_thread(look, shared, made.code, "fr-CH,de-AT;q=0.9")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    tags = Head(answer).tags
    assert tags["og:title"] == "Ada t’invite à Five Towers"
    assert "Places libres : 2" in tags["og:description"]
    german = Head(await asyncio.to_thread(look, shared, made.code.lower(), "de")).tags
    assert german["og:title"] == "Ada lädt zu Five Towers ein"
    assert tags["og:image"] == f"{shared.url.rstrip('/')}/preview.png"
    picture = await asyncio.to_thread(ask, shared.url, "GET", "/preview.png")
    assert picture.headers["content-type"].startswith("image/png")
    assert picture.body == PREVIEW.path.read_bytes()
    for each in (PREVIEW, *ICONS):
        data = each.path.read_bytes()
        assert each.mark() in data, f"{each.drawing} has changed: python -m tests.browser.preview"
        assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == each[2:]
    about = await asyncio.to_thread(ask, shared.url, "GET", f"/v1/rooms/{made.code}")
    assert about.document["host"] == "Ada"


async def test_a_hostile_name_stays_a_text_and_the_headers_stay_strict(
    shared: ServerProcess,
) -> None:
    made = await room_with_host(shared.url, HOSTILE)
    answer = await asyncio.to_thread(look, shared, made.code)
    head = Head(answer)
    assert head.tags["og:title"] == f"{HOSTILE} invites you to Five Towers"
    plain = await asyncio.to_thread(ask, shared.url, "GET", "/", headers=BROWSER)
    assert [each for each in head.elements if each != "meta"] == [
        each for each in Head(plain).elements if each != "meta"
    ]
    for name in ("content-security-policy", "cache-control", "x-content-type-options"):
        assert answer.headers[name] == plain.headers[name]
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["vary"].startswith("accept-language")
    again = {"if-none-match": answer.headers["etag"], "accept-language": "en"}
    kept = await asyncio.to_thread(ask, shared.url, "GET", f"/r/{made.code}", headers=again)
    assert (kept.status, kept.body) == (304, b"")


async def test_a_private_room_looks_like_none(shared: ServerProcess) -> None:
    made = await room_with_host(shared.url, "Ada", private=True)
    private, none = [await asyncio.to_thread(look, shared, code) for code in (made.code, NOWHERE)]
    assert private.body == none.body
    assert private.status == none.status == 200
    assert Head(none).tags["og:title"] == "Towerhall"


async def test_a_finished_game_is_previewed_from_its_record_once_its_room_is_gone(
    brief: ServerProcess,
) -> None:
    service = Service(brief.url)
    async with seated(service, 2) as (made, tables):
        await tables[0].start()
        await play_out(tables, 1)
    await gone(brief.url, made.code)
    record = await service.record(made.code)
    tags = Head(await asyncio.to_thread(look, brief, made.code)).tags
    assert tags["og:title"] == "Five Towers: the game is over"
    best = record["result"]["places"].index(1)
    assert tags["og:description"].startswith(record["seats"][best]["name"])


@pytest.mark.parametrize("path", ["/foo", "/foo/bar", "/r", "/index.html"])
def test_an_unknown_address_is_a_page_for_browsers_and_json_for_programs(
    shared: ServerProcess, path: str
) -> None:
    page = ask(shared.url, "GET", path, headers=BROWSER)
    assert page.status == 404
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-cache"
    # The document is no deeper than its files: their addresses begin at the root.
    assert b'src="/assets/' in page.body
    assert b'="./' not in page.body
    assert ask(shared.url, "GET", path).code == "not_found"
    assert ask(shared.url, "POST", path, {}, BROWSER).code == "not_found"


@pytest.mark.parametrize("path", ["/v1/foo", "/v1/rooms/ZZZZZZ", "/assets/none.js"])
def test_an_unknown_name_of_programs_is_json_whoever_asks(shared: ServerProcess, path: str) -> None:
    assert ask(shared.url, "GET", path, headers=BROWSER).status == 404
    assert ask(shared.url, "GET", path, headers=BROWSER).code in ("not_found", "room_gone")
