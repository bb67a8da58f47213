"""Writes API.md, the reference of the Python client, from its signatures and docstrings.

python docs/python_reference.py
"""

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

import towerhall_client

API: Final = Path(__file__).parents[1] / "clients" / "python" / "API.md"
OURS: Final = ("towerhall_client", "towerhall_protocol")
HEAD: Final = """\
# Reference of the Python client

Everything that `towerhall_client` offers, from its signatures and docstrings (`make reference`).
Numbers such as P-33 are clauses of [the specification](../../protocol/SPEC.md).
[The readme](README.md) begins with an example.
"""
Function = ast.FunctionDef | ast.AsyncFunctionDef
Value = ast.Assign | ast.AnnAssign
Named = ast.ClassDef | Function | Value
GROUPS: Final = (("Functions", Function), ("Classes", ast.ClassDef), ("Types and constants", Value))
MADE_BY_FUNCTIONS: Final = ("Lobby", "Table")
"""Classes whose objects no caller makes."""


class Found(NamedTuple):
    """Where a name is defined, and its docstring if it has one of its own."""

    node: Named
    doc: str
    module: ModuleType


class UndocumentedError(Exception):
    """A public name has no docstring."""


def main() -> int:
    API.write_text(written())
    print(f"reference: {len(towerhall_client.__all__)} names of the Python client")
    return 0


def written() -> str:
    """The whole page."""
    found = {name: find(name) for name in sorted(towerhall_client.__all__, key=str.lower)}
    parts = [HEAD]
    for title, kind in GROUPS:
        parts.append(f"## {title}\n")
        for name, each in found.items():
            if isinstance(each.node, kind):
                parts += described(name, each)
    return "\n".join(parts)


def find(name: str) -> Found:
    """The definition of a public name, in the module from which the door has it."""
    door = ast.parse(inspect.getsource(towerhall_client))
    for node in door.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return definition(importlib.import_module(node.module), alias.name)
    raise UndocumentedError(name)


def definition(module: ModuleType, name: str) -> Found:
    body = ast.parse(inspect.getsource(module)).body
    for node, doc in documented(body):
        if named(node) == name:
            return Found(node, doc, module)
    for line in body:  # the module has it from another one
        if isinstance(line, ast.ImportFrom) and line.module:
            for alias in line.names:
                if (alias.asname or alias.name) == name:
                    return definition(importlib.import_module(line.module), alias.name)
    raise UndocumentedError(f"{module.__name__}.{name}")


def documented(body: list[ast.stmt]) -> Iterator[tuple[Named, str]]:
    """Definitions with their docstrings; that of a value or a field stands below it."""
    for node, after in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node, ast.get_docstring(node) or ""
            case ast.Assign() | ast.AnnAssign():
                is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                yield node, inspect.cleandoc(str(after.value.value)) if is_text else ""  # type: ignore[union-attr]


def named(node: Named) -> str:
    match node:
        case ast.Assign(targets=[target]):
            return code(target)
        case ast.AnnAssign(target=target):
            return code(target)
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
    return ""


def described(name: str, found: Found) -> Iterator[str]:
    """One name: its heading, its shape, what it is."""
    node, doc, module = found
    yield f"### {name}\n"
    match node:
        case ast.ClassDef():
            if not doc:
                raise UndocumentedError(name)
            yield f"{doc}\n"
            yield from members(node, module)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            if not doc:
                raise UndocumentedError(name)
            yield f"```python\n{signature(node, name)}\n```\n"
            yield f"{doc}\n"
        case _:
            yield f"```python\n{code(node)}\n```\n"
            if doc:
                yield f"{doc}\n"


def signature(node: Function, name: str) -> str:
    """As one would call it, with the defaults; one parameter on each line where it is long."""
    arguments = ast.arguments(**{field: getattr(node.args, field) for field in node.args._fields})
    if arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments.args = arguments.args[1:]
    is_managed = any("contextmanager" in code(each) for each in node.decorator_list)
    words = "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    words = "async with " if is_managed else words
    back = f" -> {code(node.returns)}" if node.returns else ""
    parts = [re.sub(r"^(\w+: [^=]+)=", r"\1 = ", part) for part in split(code(arguments))]
    line = f"{words}{name}({', '.join(parts)}){back}"
    if len(line) <= 100:
        return line
    inside = ",\n    ".join(parts)
    return f"{words}{name}(\n    {inside},\n){back}"


def split(text: str) -> Iterator[str]:
    """The parameters of a list, apart."""
    depth, begin = 0, 0
    for at, mark in enumerate(text):
        depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and not depth:
            yield text[begin:at].strip()
            begin = at + 1
    if text[begin:].strip():
        yield text[begin:].strip()


def members(node: ast.ClassDef, module: ModuleType) -> Iterator[str]:
    """The fields, properties and methods of a class, those of its bases included."""
    kind = getattr(module, node.name)
    rows: dict[str, str] = {}
    for base in reversed([each for each in kind.__mro__ if each.__module__.startswith(OURS)]):
        found = definition(sys.modules[base.__module__], base.__name__).node
        for member, doc in documented(getattr(found, "body", [])):
            name = named(member)
            if name == "__init__" and isinstance(member, ast.FunctionDef):
                if not issubclass(kind, Exception) and node.name not in MADE_BY_FUNCTIONS:
                    made = shape(member, node.name).removeprefix("def ").removesuffix(" -> None")
                    rows[name] = f"- `{made}`{told(doc)}"
                rows |= dict(attributes(member))
            elif not name.startswith("_") or name == "__aiter__":
                rows[name] = f"- `{shape(member, name)}`{told(doc)}"
    if rows:
        yield "\n".join(rows.values()) + "\n"


def attributes(making: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """What a constructor leaves in the object, by name."""
    given = {each.arg: each.annotation for each in (*making.args.args, *making.args.kwonlyargs)}
    for node, doc in documented(making.body):
        owner, _, name = named(node).partition(".")
        if owner != "self" or not name or name.startswith("_"):
            continue
        kind = node.annotation if isinstance(node, ast.AnnAssign) else None
        if kind is None and isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            kind = given.get(node.value.id)
        shown = f"{name}: {code(kind)}" if kind else name
        yield name, f"- `{shown}`{told(doc)}"


def shape(member: Named, name: str) -> str:
    match member:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            if any(code(each) == "property" for each in member.decorator_list):
                return f"{name}: {code(member.returns)}" if member.returns else name
            return " ".join(signature(member, name).split()).replace("( ", "(").replace(", )", ")")
    return code(member)


def code(node: ast.AST) -> str:
    """A part of a program, with the quotes of this project."""
    return ast.unparse(node).replace("'", '"')


def told(doc: str) -> str:
    return f": {' '.join(doc.split())}" if doc else ""


if __name__ == "__main__":
    sys.exit(main())
