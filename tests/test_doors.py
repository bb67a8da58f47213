"""The door of each package: the modules that its `__init__` names, which alone serve outsiders.

Public classes have names that are unique in the whole server.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = "towerhall_server"
SERVER = Path(__file__).parent.parent / "server" / ROOT
MODULES = {
    ".".join(path.relative_to(SERVER.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SERVER.rglob("*.py")
}
PACKAGES = {
    name: path
    for name, path in MODULES.items()
    if path.name == "__init__.py" and name != ROOT and ".games" not in name
}
LONGEST = 6
"""Lines of text in a door."""


def door(source: str) -> set[str]:
    """The modules that a package offers."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def imported(source: str) -> Iterator[str]:
    """The modules of the server that a source imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else node.module


def users(package: str, imports: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Modules of a package, by name, with the outsiders that import them."""
    found: dict[str, set[str]] = {}
    for module, names in imports.items():
        if module == package or module.startswith(f"{package}."):
            continue
        for name in names:
            if name.startswith(f"{package}."):
                inner = name.removeprefix(f"{package}.").split(".")[0]
                found.setdefault(inner, set()).add(module)
    return found


@pytest.fixture(scope="module")
def imports() -> dict[str, tuple[str, ...]]:
    return {name: tuple(imported(path.read_text())) for name, path in MODULES.items()}


@pytest.mark.parametrize("package", PACKAGES)
def test_outsiders_come_in_by_the_door_and_every_door_is_used(
    package: str, imports: dict[str, tuple[str, ...]]
) -> None:
    used, offered = users(package, imports), door(PACKAGES[package].read_text())
    assert set(used) == offered, {
        name: sorted(by) for name, by in used.items() if name not in offered
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_a_door_says_what_a_package_is_and_what_may_not_live_there(package: str) -> None:
    text = ast.get_docstring(ast.parse(PACKAGES[package].read_text())) or ""
    assert len(text.splitlines()) in range(2, LONGEST + 1)


def test_another_way_in_is_seen() -> None:
    source = f"from {ROOT}.live.marks import Marks\nimport {ROOT}.live.actor\n"
    found = users(f"{ROOT}.live", {f"{ROOT}.app": tuple(imported(source))})
    assert found == {"marks": {f"{ROOT}.app"}, "actor": {f"{ROOT}.app"}}
    assert door('__all__ = ["actor"]') == {"actor"}


def test_a_public_class_has_a_name_of_its_own() -> None:
    """One word means one idea. Games are left out: their words are those of their rules."""
    classes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and ".games." not in module and node.name[0] != "_":
                classes.setdefault(node.name, []).append(module)
    assert len(classes) > 300
    assert {name: modules for name, modules in classes.items() if len(modules) > 1} == {}
