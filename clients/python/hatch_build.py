"""Puts the packages on which the client rests into its distribution, wherever they lie."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BESIDE = ("../../protocol/towerhall_protocol", "../conformance/towerhall_conformance")
"""Where they lie in the repository. In a source distribution they lie beside this file."""


class PackagesHook(BuildHookInterface):
    """Called by hatchling before it packs a wheel or a source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for place in BESIDE:
            path, name = Path(self.root, place).resolve(), Path(place).name
            source = path if path.is_dir() else Path(self.root, name)
            if not source.is_dir():
                raise FileNotFoundError(f"the package {name} is missing")
            build_data["force_include"][str(source)] = name
