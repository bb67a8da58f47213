"""The TypeScript client installs and plays from its package alone, in node and from a bundle."""

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.players import program, verdicts
from tests.typescript.node import CLIENTS, SDK, npm
from towerhall_conformance.cases import ALL

pytestmark = pytest.mark.timeout(240)  # packages may have to be fetched first
CASES = ("hello", "numbers", "resume", "snapshot instead of frames")
PACKED_KB_MAX = 15
ONLY_IN_JSON = b"this is no JSON"
"""A text of the JSON reader, by which its code is found in a bundle."""

PLAYER = """
import { connect } from "towerhall-client";
%s
for (const url of process.argv.slice(2)) {
  const { host, pathname } = new URL(url);
  const code = pathname.split("/").at(-1);
  const table = connect({ origin: `ws://${host}`, code, token: "token"%s });
  table.on(() => {
    if (table.view.room?.status === "over") {
      console.log(JSON.stringify({ code, view: table.view }));
      return table.close();
    }
    const [offer] = table.offers;
    if (table.state !== "up" || !offer || table.unanswered) return;
    const numbers = Object.entries(offer.ranges ?? {}).map(([name, [least]]) => [name, least]);
    const [parameters] = offer.choices?.[0] ?? [{}];
    const command = { ...parameters, ...Object.fromEntries(numbers), command: offer.command };
    table.send(command).catch(() => {});
  });
}
"""
TYPED = """
import { connect, Service, type Answer, type Offer } from "towerhall-client";
import { json } from "towerhall-client/json";

const service = new Service("http://127.0.0.1:8000");
const table = connect({ origin: "ws://127.0.0.1", code: "ABCDEF", token: "token", codec: json });
const offers: readonly Offer[] = table.offers;
const answer: Promise<Answer> = table.send({ command: offers[0]!.command });
// @ts-expect-error a seat is a number
void table.sit("0");
// @ts-expect-error there is no such name
void service.nothing;
void answer;
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of somebody else, with the package as npm packs it and nothing else."""
    folder = tmp_path_factory.mktemp("app")
    command, environment = npm()
    # As `prepack` does, but for the types, which `make check` looks at.
    tool("tsc", "--project", "tsconfig.build.json", "--noCheck", folder=SDK)
    words = ("pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder))
    ran([*command, *words], SDK, environment)
    (packed,) = folder.glob("*.tgz")
    target = folder / "node_modules" / "towerhall-client"
    target.mkdir(parents=True)
    ran(["tar", "-xzf", str(packed), "--strip-components=1", "-C", str(target)], folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "msgpack.js").write_text(PLAYER % ("", ""))
    (folder / "json.js").write_text(
        PLAYER % ('import { json } from "towerhall-client/json";', ", codec: json")
    )
    (folder / "typed.ts").write_text(TYPED)
    return folder


def ran(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tool(name: str, *words: str, folder: Path) -> str:
    """Run a tool of the workspace."""
    _, environment = npm()
    return ran([str(CLIENTS / "node_modules" / ".bin" / name), *words], folder, environment)


async def plays(script: Path) -> None:
    cases = [case for case in ALL.all if case.name in CASES]
    assert len(cases) == len(CASES)
    _, environment = npm()
    node = Path(environment["PATH"].split(":")[0], "node")
    command = f"{node} --experimental-websocket --no-warnings {script} {{urls}}"
    found = await verdicts(cases, program(command))
    assert [verdict for verdict in found if verdict.verdict != "passed"] == []


def manifest(app: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (app / "node_modules/towerhall-client/package.json").read_text()
    )
    return found


def test_a_package_can_be_published_and_needs_nothing(app: Path) -> None:
    package = app / "node_modules" / "towerhall-client"
    told: dict[str, Any] = json.loads((package / "package.json").read_text())
    assert not {"private", "dependencies", "peerDependencies"} & set(told)
    assert told["scripts"]["build"] == "tsc --project tsconfig.build.json"
    assert told["scripts"]["prepack"] == "npm run --silent build"
    assert (told["license"], told["type"]) == ("MIT", "module")
    for name in ("README.md", "API.md", "CHANGELOG.md", "LICENSE", "examples/bot.ts"):
        assert (package / name).is_file(), name
    for door in told["exports"].values():
        assert all((package / path).is_file() for path in door.values())
    assert not list(package.rglob("*.test.*"))
    assert (SDK / "LICENSE").read_text() == (CLIENTS.parent / "LICENSE").read_text()


@pytest.mark.parametrize("name", ["msgpack.js", "json.js"])
async def test_it_plays_in_node_as_it_is(app: Path, name: str) -> None:
    await plays(app / name)


def test_its_types_are_those_of_a_strict_program(app: Path) -> None:
    words = "--noEmit --strict --target es2022 --module nodenext --lib es2023,dom"
    tool("tsc", *words.split(), "typed.ts", folder=app)


async def test_a_bundle_for_browsers_plays_and_holds_json_only_where_it_is_wanted(
    app: Path,
) -> None:
    for name in ("msgpack", "json"):
        made = app / f"{name}.bundle.mjs"
        words = ("--platform", "browser", "--minify", "--log-level", "silent")
        tool("rolldown", f"{name}.js", *words, "--file", str(made), folder=app)
        code = made.read_bytes()
        assert (ONLY_IN_JSON in code) == (name == "json")
        assert b"node:" not in code
        assert b"require(" not in code
        assert len(gzip.compress(code)) < PACKED_KB_MAX * 1000
    await plays(app / "msgpack.bundle.mjs")
