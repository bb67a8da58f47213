"""Puts the built page into wheels. An editable install does without: the server finds `dist`."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSIDE = "towerhall_server/gateway/page_files"


def build_script() -> ModuleType:
    """`build.py` beside this file, which belongs to no package."""
    spec = spec_from_file_location("towerhall_web_build", Path(__file__).with_name("build.py"))
    if spec is None or spec.loader is None:
        raise ImportError("clients/web/build.py is missing")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class PageHook(BuildHookInterface):
    """Called by hatchling before it packs a wheel."""

    def dependencies(self) -> list[str]:
        script = build_script()
        return [] if script.node_from_path() else [script.WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build_data["force_include"][str(build_script().build())] = INSIDE
