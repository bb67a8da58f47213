"""The site: every link leads somewhere, clauses have addresses, and the server's policy fits."""

import gzip
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest

from docs import build as builder
from docs.build import PLAYGROUND, BuildError, build
from tests.docs.pages import ROOT
from tests.gateway.http.test_page import Document
from tests.test_project import listed_by_git, listed_by_hand
from towerhall_protocol.errors import CLAUSES, HINTS, clause_of

SPEC = "# Protocol\n\n## 1. Commands\n\n### P-42 Numbers\n\nText.\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation of this tree, built."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    build(folder)
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree with a specification and one page."""
    for name in ("docs/decisions", "protocol", "server"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "protocol/SPEC.md").write_text(SPEC)
    (tmp_path / "docs/README.md").write_text("# Start\n")
    return tmp_path


def built(tree: Path, text: str, name: str = "docs/page.md") -> str:
    """How a page of the small tree looks in the site."""
    (tree / name).write_text(text)
    build(tree / "site", tree)
    return (tree / "site" / Path(name).relative_to("docs").with_suffix(".html")).read_text()


def test_every_text_of_the_tree_is_a_page_or_a_template() -> None:
    listed = listed_by_git() or listed_by_hand(ROOT)
    texts = {path.relative_to(ROOT).as_posix() for path in listed if path.suffix == ".md"}
    texts = {name for name in texts if (ROOT / name).is_file()}
    pages = {source for source, _ in builder.sources(ROOT)}
    assert pages <= texts
    rules_of_tests = {"tests/games/dice_duel.md", "tests/programs/bench/games/bid/RULES.md"}
    assert texts - pages == {".github/pull_request_template.md", *rules_of_tests}


def test_the_contract_for_machines_is_in_the_site_as_it_is(site: Path) -> None:
    files = list(builder.data_files(ROOT))
    assert {"protocol/schema/openapi.json", "protocol/vectors/replay.json"} < set(files)
    for source in files:
        assert (site / builder.served(source)).read_bytes() == (ROOT / source).read_bytes()
    assert 'href="schema/openapi.json"' in (site / "schema.html").read_text()
    assert 'href="vectors/records/true.json"' in (site / "vectors.html").read_text()


def test_every_clause_that_an_error_names_has_an_anchor(site: Path) -> None:
    spec = (site / "spec.html").read_text()
    for code in HINTS:
        assert f'id="{clause_of(code)}"' in spec, code
    assert set(CLAUSES) == set(HINTS)


def test_every_link_of_the_built_site_leads_to_a_file_and_an_id(site: Path) -> None:
    pages = {path: path.read_text() for path in site.rglob("*.html")}
    assert len(pages) > 40
    for path, page in pages.items():
        for target in re.findall(r'(?:href|src)="([^"]+)"', page):
            place, _, fragment = unquote(target).partition("#")
            leads_to = (path.parent / place).resolve() if place else path
            if leads_to == (site.parent / PLAYGROUND).resolve():
                continue  # a page of the server, beside its documentation
            assert leads_to.is_file(), f"{path.name}: {target}"
            if fragment:
                assert f'id="{fragment}"' in pages[leads_to], f"{path.name}: {target}"


def test_the_policy_of_the_server_fits_every_page(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text()
        assert "<script" not in text
        complaints = Document(text).complaints
        assert [each for each in complaints if not each.endswith("leads away")] == [], path
    assert "url(" not in (site / "site.css").read_text()


def test_a_clause_has_an_address_and_is_linked_where_it_is_cited(tree: Path) -> None:
    page = built(tree, "# Page\n\nSee P-42, `P-42` and [more](../protocol/SPEC.md#p-42-numbers).\n")
    assert 'See <a href="spec.html#P-42">P-42</a>, <code>P-42</code>' in page
    assert '<a href="spec.html#P-42">more</a>' in page
    assert 'id="P-42"' in (tree / "site/spec.html").read_text()


def test_a_page_in_a_folder_finds_what_is_above_it(tree: Path) -> None:
    page = built(tree, "# Why\n\nSee P-42 and [the start](../README.md).\n", "docs/decisions/1.md")
    assert 'href="../spec.html#P-42"' in page
    assert 'href="../index.html">the start' in page
    assert 'href="../site.css"' in page
    assert 'href="1.html">Why' in (tree / "site/decisions/index.html").read_text()
    assert 'href="decisions/index.html">all' in built(tree, "# Page\n\nSee [all](decisions).\n")


def test_a_file_that_is_no_page_is_named_and_not_linked(tree: Path) -> None:
    assert "<p>See the folder.</p>" in built(tree, "# Page\n\nSee [the folder](../server).\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[it](none.md)", "docs/page.md:3: the link none.md leads to no file"),
        ("[it](../protocol/SPEC.md#p-43)", "leads to no heading of protocol/SPEC.md"),
        ("[it](#nowhere)", "leads to no heading of docs/page.md"),
        ("[it](../server#here)", "has an anchor, but its file is no page"),
        ("as in P-43", "there is no clause P-43"),
        ("![a hall](hall.png)", "there is no picture hall.png"),
    ],
)
def test_what_leads_nowhere_is_told_and_nothing_is_built(
    tree: Path, text: str, problem: str
) -> None:
    with pytest.raises(BuildError, match=re.escape(problem)):
        built(tree, f"# Page\n\n{text}\n")
    assert not (tree / "site").exists()


def test_the_old_site_stays_until_a_new_one_is_whole(tree: Path) -> None:
    first = built(tree, "# Page\n")
    with pytest.raises(BuildError):
        built(tree, "# Page\n\n[it](none.md)\n")
    assert (tree / "site/page.html").read_text() == first


def test_markup_in_a_text_stays_text_and_columns_are_aligned_by_class(tree: Path) -> None:
    page = built(tree, "# A <b> page\n\n<script>\n\n| n |\n|--:|\n| 1 |\n")
    assert "<title>A &lt;b&gt; page - Towerhall</title>" in page
    assert "<script" not in page
    assert '<td class="right">1</td>' in page


def test_equal_headings_get_ids_of_their_own(tree: Path) -> None:
    page = built(tree, "# Page\n\n## Cost\n\n## Cost\n\n[second](#cost-1)\n")
    assert page.count('id="cost"') == page.count('id="cost-1"') == 1


def test_large_files_have_a_packed_twin(site: Path) -> None:
    assert (
        gzip.decompress((site / "spec.html.gz").read_bytes()) == (site / "spec.html").read_bytes()
    )
    assert not list(site.rglob("*.png.gz"))


def test_the_command_tells_what_is_wrong(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert builder.main([str(tree / "site")]) == 0
    assert "docs: built " in capsys.readouterr().out
    shutil.rmtree(tree / "site")

    def broken(folder: Path) -> int:
        raise BuildError("a.md:1: the link b.md leads to no file")

    monkeypatch.setattr(builder, "build", broken)
    assert builder.main([str(tree / "site")]) == 1
    assert "a.md:1" in capsys.readouterr().err
