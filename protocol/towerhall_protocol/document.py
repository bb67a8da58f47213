"""The type of everything that travels: plain documents.

A document is built from maps with string keys, arrays, integers, strings and booleans. A `None`
occurs only inside a patch, where it means "this key is gone". Documents are shared freely between
views, so no code may change one in place. Server code may use a tuple for any array of the wire.
"""

from collections.abc import Mapping
from typing import TypeAlias

# Recursive aliases cost the type checker more than they give here; the laws check the contents.
Document: TypeAlias = Mapping[str, object]
Patch: TypeAlias = Mapping[str, object]
