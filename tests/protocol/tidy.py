"""Schemas of msgspec as other tools read them best."""

from typing import Any


def tidy(schema: Any) -> Any:
    """The schema as others read it: texts of one line, no null for a key that is left out,
    pairs as arrays of two."""
    if isinstance(schema, list):
        return [tidy(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: tidy(value) for key, value in schema.items()}
    if isinstance(schema.get("description"), str):
        schema["description"] = " ".join(schema["description"].split())
    if schema.get("items") is False and all(
        each == schema["prefixItems"][0] for each in schema["prefixItems"]
    ):
        # Many generators do not know the fixed items of an array.
        schema["items"] = schema.pop("prefixItems")[0]
    if schema.get("type") == "array" and not {"items", "prefixItems"} & schema.keys():
        schema["items"] = {"description": "any value"}
    if "default" in schema and schema["default"] is None:
        del schema["default"]
        rest = [each for each in schema.pop("anyOf", []) if each != {"type": "null"}]
        schema |= rest[0] if len(rest) == 1 else {"anyOf": rest} if rest else {}
    return schema
