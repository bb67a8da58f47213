"""The page: what it is served with, and what its three files may and may not contain.

The files are read, not run: how the page looks and behaves is for a browser to say.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from typing import Final

import pytest
from starlette.routing import Router
from starlette.types import Message, Scope

from towerhall_server.gateway.page import FILES, page_routes

FOLDER: Final = files("towerhall_server.gateway") / "page_files"
TEXTS: Final = {name: (FOLDER / name).read_text("utf-8") for name, _ in FILES.values()}
HTML: Final = TEXTS["index.html"]
SCRIPT: Final = TEXTS["page.js"]
STYLE: Final = TEXTS["page.css"]
MOST_BYTES: Final = 24_000

VOID: Final = {"br", "hr", "img", "input", "link", "meta", "source", "wbr"}
ADDRESSES: Final = {"action", "data", "formaction", "href", "poster", "src", "srcset", "xlink:href"}
FOREIGN: Final = re.compile(
    r"""url\(|@import|\b(?:https?|wss?|data|blob):(?!//localhost\b)|["'(]//"""
)
DANGERS: Final = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|document\.write"
    r"|setHTML|srcdoc|\beval\b|\bFunction\(|\bimport\b|\.style\b|cssText"
    r"""|setAttribute\(["'](?:style|on)|set(?:Timeout|Interval)\(["'`]"""
)


class Page(HTMLParser):
    """The elements of a document, and what is wrong with them under the page's policy."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.complaints: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.complaints += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._look(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._look(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.complaints.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("script", "style") and data.strip():
            self.complaints.append(f"inline {self._open[-1]}")

    def values(self, attribute: str) -> list[str]:
        return [found[attribute] for _, found in self.elements if attribute in found]

    def _look(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        if tag in ("style", "base", "iframe", "object", "embed"):
            self.complaints.append(f"<{tag}>")
        for name, value in attributes.items():
            if name == "style" or name.startswith("on"):
                self.complaints.append(f"{name}= on <{tag}>")
            if name in ADDRESSES and not re.match(r"#|/(?!/)", value):
                self.complaints.append(f"{name}={value} leads away")


def ids_looked_up(script: str) -> Iterator[str]:
    yield from re.findall(r"""(?:byId|getElementById)\(["']([^"']+)["']\)""", script)


async def get(path: str) -> tuple[int, dict[str, str], bytes]:
    """What the routes answer, without a server."""
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "root_path": "",
        "query_string": b"",
        "headers": [],
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await Router(page_routes())(scope, receive, send)
    start, *rest = sent
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], headers, b"".join(message["body"] for message in rest)


@pytest.mark.parametrize(
    ("path", "name", "kind"), [(path, name, kind) for path, (name, kind) in FILES.items()]
)
async def test_each_file_is_served_as_what_it_is(path: str, name: str, kind: str) -> None:
    status, headers, body = await get(path)
    assert status == 200
    assert headers["content-type"] == f"{kind}; charset=utf-8"
    assert headers["x-content-type-options"] == "nosniff"
    assert body.decode() == TEXTS[name]


@pytest.mark.parametrize("path", FILES)
async def test_the_policy_allows_own_files_and_nothing_else(path: str) -> None:
    _, headers, _ = await get(path)
    directives = headers["content-security-policy"].split(";")
    policy = dict(directive.strip().split(" ", 1) for directive in directives)
    for what in ("default-src", "base-uri", "form-action"):
        assert policy[what] == "'none'"
    for what in ("script-src", "style-src", "connect-src", "frame-ancestors"):
        assert policy[what] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]


def test_the_document_is_well_formed_and_has_nothing_inline() -> None:
    assert Page(HTML).complaints == []


@pytest.mark.parametrize(
    "bad",
    [
        "<p style='color: red'></p>",
        "<style>p { color: red }</style>",
        "<script>look()</script>",
        "<button onclick='look()'></button>",
        "<svg><path onload='look()'/></svg>",
        "<script src='https://cdn.example/page.js'></script>",
        "<img src='//cdn.example/logo.png'>",
        "<a href='javascript:look()'></a>",
        "<base href='/elsewhere/'>",
        "<section><p></section>",
        "<ul><li></ul>",
    ],
)
def test_a_bad_document_is_seen(bad: str) -> None:
    assert Page(bad).complaints != []


def test_every_address_in_the_document_is_one_of_the_service() -> None:
    page = Page(HTML)
    own = {"/v1/games", "/v1/rooms", "/readyz"}
    addresses = set(page.values("src")) | set(page.values("href"))
    fragments = {address for address in addresses if address.startswith("#")}
    assert addresses - fragments == (FILES.keys() - {"/"}) | own
    assert {fragment[1:] for fragment in fragments} <= set(page.values("id"))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_no_file_asks_for_anything_from_elsewhere(text: str) -> None:
    assert FOREIGN.findall(text) == []


@pytest.mark.parametrize(
    "bad",
    [
        'fetch("https://api.example/rooms")',
        'new WebSocket("wss://api.example")',
        "background: url(logo.png)",
        "@import 'fonts.css'",
        'src="//cdn.example/page.js"',
        'href="data:image/png;base64,AAAA"',
    ],
)
def test_a_text_that_asks_elsewhere_is_seen(bad: str) -> None:
    assert FOREIGN.search(bad)


def test_the_script_shows_everything_as_text() -> None:
    assert DANGERS.findall(SCRIPT) == []


@pytest.mark.parametrize(
    "bad",
    [
        "item.innerHTML = room.name",
        'item.insertAdjacentHTML("beforeend", name)',
        "eval(answer)",
        "new Function(answer)",
        'item.setAttribute("style", "color: red")',
        'item.setAttribute("onclick", "look()")',
        'item.style.color = "red"',
        'setTimeout("look()", 3000)',
    ],
)
def test_a_dangerous_script_is_seen(bad: str) -> None:
    assert DANGERS.search(bad)


def test_ids_are_unique_and_everything_that_refers_to_one_finds_it() -> None:
    page = Page(HTML)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    looked_up = set(ids_looked_up(SCRIPT))
    assert looked_up != set()
    assert looked_up <= set(ids)
    assert set(page.values("data-copy")) <= set(ids)
    assert set(page.values("aria-labelledby")) <= set(ids)


def test_every_gap_that_the_script_fills_is_in_the_document_and_the_other_way_round() -> None:
    filled = set(re.findall(r"""\bfill\(["'](\w+)["']""", SCRIPT))
    assert filled == set(Page(HTML).values("data-fill"))


def test_classes_that_the_style_names_are_used() -> None:
    in_document = {name for value in Page(HTML).values("class") for name in value.split()}
    in_script = set(re.findall(r"""["'](\w+)["']""", SCRIPT))
    named = set(re.findall(r"\.([a-z]\w*)", STYLE))
    assert named - in_document - in_script == set()


def test_the_document_can_be_read_aloud() -> None:
    page = Page(HTML)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("h1") == tags.count("main") == 1
    headings = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(headings))
    assert dict(page.elements)["html"]["lang"] == "en"
    for tag, attributes in page.elements:
        if tag == "svg":
            assert attributes["aria-hidden"] == "true"
        if tag == "button":
            assert attributes["aria-label"].startswith("Copy")


def test_the_style_knows_dark_screens_and_people_who_want_no_motion() -> None:
    assert "(prefers-color-scheme: dark)" in STYLE
    assert "(prefers-reduced-motion: reduce)" in STYLE


def test_the_page_tells_both_subprotocols_and_how_to_play() -> None:
    for told in ("towerhall.v1.msgpack", "towerhall.v1.json", "towerhall play --url", "/v1/guests"):
        assert told in HTML


def test_the_page_stays_small() -> None:
    assert sum(len(text.encode()) for text in TEXTS.values()) < MOST_BYTES
