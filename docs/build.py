"""Builds the documentation into `docs/dist`: one page of HTML for each Markdown file.

    python docs/build.py [FOLDER]

Every link and every clause that a text cites must lead somewhere; otherwise nothing is built. The
result holds no scripts and nothing inline, so the server's policy for the page fits it. A link to a
file that is no page of the site (a module, say) becomes plain text. The network is never used.
"""

import argparse
import gzip
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT: Final = Path(__file__).resolve().parents[1]
DIST: Final = Path(__file__).with_name("dist")
NAMED: Final = {
    "docs/README.md": "index",
    "protocol/SPEC.md": "spec",
    "protocol/README.md": "protocol",
    "protocol/vectors/README.md": "vectors",
    "protocol/schema/README.md": "schema",
    "protocol/CHANGELOG.md": "protocol-changelog",
    "clients/python/README.md": "python",
    "clients/python/API.md": "python-api",
    "clients/python/CHANGELOG.md": "python-changelog",
    "clients/typescript/README.md": "typescript",
    "clients/typescript/API.md": "typescript-api",
    "clients/typescript/CHANGELOG.md": "typescript-changelog",
    "clients/examples/README.md": "examples",
    "server/towerhall_server/telemetry/README.md": "metrics",
}
"""Pages whose names do not follow from the names of their files."""
DATA: Final = ("protocol/schema", "protocol/vectors")
"""Folders whose JSON files the site serves as they are, below the names of the folders."""
AT_THE_TOP: Final = (
    ("index", "Documentation"),
    ("architecture", "Architecture"),
    ("operate", "Operate"),
    ("write-a-client", "Write a client"),
    ("embed-a-lobby", "Embed a lobby"),
    ("spec", "Protocol"),
    ("contributing", "Contributing"),
)
"""The links that every page begins with, as far as these pages exist."""
PLAYGROUND: Final = "playground"
"""The page of a server, beside its documentation, on which authors try the protocol."""
DECISIONS: Final = "decisions/index"
"""The list of decisions, which no file holds. A link to their folder leads to it."""
CLAUSE: Final = re.compile(r"\bP-\d+\b")
LEADS_AWAY: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)
PACKED_FROM: Final = 1000
"""Bytes below which gzip saves nothing worth a second file."""


class BuildError(Exception):
    """The message lists what is wrong, one line each, with the file that has it."""


class Heading(NamedTuple):
    level: int
    text: str
    id: str
    slug: str
    """The id that GitHub gives this heading; links may use either."""


class Page(NamedTuple):
    """One Markdown file, read but not yet rendered."""

    source: str
    """The path of the file in the repository."""
    name: str
    """The path of the page in the site, without `.html`."""
    tokens: Sequence[Token]
    headings: Sequence[Heading]

    @property
    def title(self) -> str:
        return self.headings[0].text if self.headings else self.name


class Site(NamedTuple):
    """All pages, by source and by the fragments that lead into each."""

    root: Path
    pages: Mapping[str, Page]
    anchors: Mapping[str, Mapping[str, str]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="build.py", description="Builds the documentation.")
    parser.add_argument("folder", nargs="?", type=Path, default=DIST)
    folder = parser.parse_args(arguments).folder
    try:
        pages = build(folder)
    except BuildError as error:
        print(f"docs: nothing was built\n{error}", file=sys.stderr)
        return 1
    print(f"docs: built {pages} pages")
    return 0


def build(folder: Path = DIST, root: Path = ROOT) -> int:
    """Write the site, return its number of pages. The old site stays until this one is whole."""
    site = read_site(root)
    pictures = images(site)
    problems: list[str] = []
    texts = {page.name: render(site, page, problems) for page in site.pages.values()}
    if problems:
        raise BuildError("\n".join(problems))
    texts[DECISIONS] = decisions(site)
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    for name, text in texts.items():
        _write(fresh / f"{name}.html", text.encode())
    _write(fresh / "site.css", Path(__file__).with_name("site.css").read_bytes())
    for source in data_files(root):
        _write(fresh / served(source), (root / source).read_bytes())
    for image in pictures:
        _write(fresh / "images" / image.name, image.read_bytes())
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return len(texts)


def sources(root: Path) -> Iterator[tuple[str, str]]:
    """Every file that is a page, and the name of that page."""
    for path in sorted(root.glob("*.md")):
        yield path.name, path.stem.lower().replace("_", "-")
    for path in sorted((root / "docs").rglob("*.md")):
        source = path.relative_to(root).as_posix()
        yield source, NAMED.get(source, source.removeprefix("docs/").removesuffix(".md"))
    for path in sorted((root / "server/towerhall_server/games").glob("**/RULES.md")):
        place = path.parent.relative_to(root / "server/towerhall_server/games")
        yield path.relative_to(root).as_posix(), f"rules-{'-'.join(place.parts)}".replace("_", "-")
    for path in sorted((root / "protocol/games").glob("*.md")):
        yield path.relative_to(root).as_posix(), f"games/{path.stem}"
    for source, name in NAMED.items():
        if not source.startswith("docs/") and (root / source).is_file():
            yield source, name


def data_files(root: Path) -> Iterator[str]:
    """Every file that is served as it is."""
    for folder in DATA:
        for path in sorted((root / folder).rglob("*.json")):
            yield path.relative_to(root).as_posix()


def served(source: str) -> str:
    """Where the site has a file that is served as it is."""
    return source.removeprefix("protocol/")


def read_site(root: Path) -> Site:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    pages = {}
    for source, name in sources(root):
        tokens = markdown.parse((root / source).read_text())
        pages[source] = Page(source, name, tokens, tuple(headings(tokens)))
    anchors = {
        source: {fragment: it.id for it in page.headings for fragment in (it.id, it.slug)}
        for source, page in pages.items()
    }
    return Site(root, pages, anchors)


def headings(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Headings with their ids. A clause of the specification is found by its number."""
    seen: dict[str, int] = {}
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = plain(inline)
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            seen[slug] = seen.get(slug, -1) + 1
            slug += f"-{seen[slug]}" if seen[slug] else ""
            clause = CLAUSE.match(text)
            yield Heading(int(token.tag[1]), text, clause[0] if clause else slug, slug)


def plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or () if child.content)


def images(site: Site) -> set[Path]:
    """The pictures of all pages. Their names differ, so the site keeps them in one folder."""
    found = {
        (site.root / page.source).parent / str(child.attrs["src"])
        for page in site.pages.values()
        for child in children(page.tokens)
        if child.type == "image"
    }
    return {path.resolve() for path in found}


def children(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


def render(site: Site, page: Page, problems: list[str]) -> str:
    """One page as HTML. Its faults are added to `problems`."""
    found = iter(page.headings)
    line = 1
    for token in page.tokens:
        line = token.map[0] + 1 if token.map else line
        if token.type == "heading_open":
            token.attrs["id"] = next(found).id
        elif "style" in token.attrs:  # the alignment of a column
            token.attrs["class"] = str(token.attrs.pop("style")).removeprefix("text-align:")
        elif token.type == "inline" and token.children:
            where = f"{page.source}:{line}"
            try:
                token.children = list(linked(site, page, token.children))
            except BuildError as error:
                problems.append(f"{where}: {error}")
    body = MarkdownIt("commonmark").renderer.render(page.tokens, MarkdownIt().options, {})
    return framed(site, page.name, page.title, contents(page) + body)


def linked(site: Site, page: Page, tokens: Sequence[Token]) -> Iterator[Token]:
    """The same text with links that lead to pages of the site, and with clauses as links."""
    ends: list[bool] = []  # of each open link: whether it is kept
    for token in tokens:
        if token.type == "link_open":
            target = resolved(site, page, str(token.attrs["href"]))
            ends.append(target is not None)
            if target is not None:
                token.attrs["href"] = target
                yield token
        elif token.type == "link_close":
            if ends.pop():
                yield token
        elif token.type == "image":
            path = (site.root / page.source).parent / str(token.attrs["src"])
            if not path.is_file():
                raise BuildError(f"there is no picture {token.attrs['src']}")
            token.attrs["src"] = relative(page, f"images/{path.name}")
            yield token
        elif token.type == "text" and not ends:
            yield from cited(site, page, token)
        else:
            yield token


def resolved(site: Site, page: Page, href: str) -> str | None:
    """Where a link leads inside the site; None if its file exists but is no page."""
    if LEADS_AWAY.match(href):
        return href
    path, _, fragment = unquote(href).partition("#")
    target = (site.root / page.source).parent / path if path else site.root / page.source
    source = os.path.relpath(target, site.root)
    if not target.exists():
        raise BuildError(f"the link {href} leads to no file")
    if source == "docs/decisions" and not fragment:
        return relative(page, f"{DECISIONS}.html")
    if source.startswith(DATA) and target.suffix == ".json":
        return relative(page, served(source))
    if source not in site.pages:
        if fragment:
            raise BuildError(f"the link {href} has an anchor, but its file is no page")
        return None
    if fragment and fragment not in site.anchors[source]:
        raise BuildError(f"the link {href} leads to no heading of {source}")
    name = relative(page, f"{site.pages[source].name}.html") if path else ""
    return name + (f"#{site.anchors[source][fragment]}" if fragment else "")


def cited(site: Site, page: Page, token: Token) -> Iterator[Token]:
    """Text in which each number of a clause leads to the clause."""
    spec = next((each for each in site.pages.values() if each.name == "spec"), None)
    start = 0
    for found in CLAUSE.finditer(token.content):
        if spec is None or found[0] not in site.anchors[spec.source]:
            raise BuildError(f"there is no clause {found[0]}")
        place = "" if page is spec else relative(page, "spec.html")
        yield text_of(token.content[start : found.start()])
        yield Token("link_open", "a", 1, attrs={"href": f"{place}#{found[0]}"})
        yield text_of(found[0])
        yield Token("link_close", "a", -1)
        start = found.end()
    yield text_of(token.content[start:])


def text_of(content: str) -> Token:
    return Token("text", "", 0, content=content)


def relative(page: Page, target: str) -> str:
    return os.path.relpath(target, Path(page.name).parent)


def contents(page: Page) -> str:
    """A list of the chapters, where there are many."""
    chapters = [each for each in page.headings if each.level == 2]
    if len(chapters) < 4:
        return ""
    items = "".join(f'<li><a href="#{it.id}">{escape(it.text)}</a></li>' for it in chapters)
    return f"<details><summary>On this page</summary><ul>{items}</ul></details>\n"


def decisions(site: Site) -> str:
    """The list of all decision pages."""
    items = "".join(
        f'<li><a href="{Path(page.name).name}.html">{escape(page.title)}</a></li>'
        for page in site.pages.values()
        if page.name.startswith("decisions/")
    )
    return framed(site, DECISIONS, "Decisions", f"<h1>Decisions</h1>\n<ul>{items}</ul>\n")


def framed(site: Site, name: str, title: str, body: str) -> str:
    """A whole document around the text of a page."""
    up = "../" * name.count("/")
    exist = {page.name for page in site.pages.values()}
    links = "\n".join(
        f'<a href="{up}{target}.html"{" aria-current=page" if target == name else ""}>{label}</a>'
        for target, label in AT_THE_TOP
        if target in exist
    )
    links += f'\n<a href="{up}../{PLAYGROUND}">Playground</a>'
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} - Towerhall</title>\n"
        f'<link rel="stylesheet" href="{up}site.css">\n'
        f'<header><nav aria-label="Documentation">\n{links}\n</nav></header>\n'
        f"<main>\n{body}</main>\n</html>\n"
    )


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if len(content) >= PACKED_FROM and path.suffix != ".png":
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(content, mtime=0))


if __name__ == "__main__":
    sys.exit(main())
