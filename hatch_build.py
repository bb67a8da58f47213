"""Puts the built page and the built documentation into wheels. An editable install does without:
the server finds both where they are built."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = ("clients/web/build.py", "towerhall_server/gateway/http/page_files")
DOCS = ("docs/build.py", "towerhall_server/gateway/http/docs_files")
DOCS_WHEEL = "markdown-it-py>=4"


def script(name: str) -> ModuleType:
    """A build script, which belongs to no package."""
    path = Path(__file__).parent / name
    spec = spec_from_file_location(f"towerhall_{path.parent.name}_build", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{name} is missing")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class BuiltFilesHook(BuildHookInterface):
    """Called by hatchling before it packs a wheel."""

    def dependencies(self) -> list[str]:
        page = script(PAGE[0])
        return [DOCS_WHEEL] + ([] if page.node_from_path() else [page.WHEEL])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            page, docs = script(PAGE[0]), script(DOCS[0])
            build_data["force_include"][str(page.build())] = PAGE[1]
            docs.build()
            build_data["force_include"][str(docs.DIST)] = DOCS[1]
