"""The part of JSON Schema that requests use: its strict form, and whether a value keeps to it."""

from collections.abc import Mapping
from typing import Any

from core.llm.replies import load_json

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema in OpenAI's strict form: every property is required, and one that was optional may be null."""
    made = dict(schema)
    if "properties" in made:
        required = made.get("required", ())
        made["properties"] = {
            name: strict(one) if name in required else _or_null(strict(one))
            for name, one in made["properties"].items()
        }
        made["required"] = list(made["properties"])
        made["additionalProperties"] = False
    if "items" in made:
        made["items"] = strict(made["items"])
    if "anyOf" in made:
        made["anyOf"] = [strict(one) for one in made["anyOf"]]
    return made


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    made = {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema
    return {**made, "enum": [*made["enum"], None]} if "enum" in made else made


def count_values(schema: Mapping[str, Any]) -> int:
    """Return how many values all enums of the schema have."""
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    if "items" in schema:
        inner.append(schema["items"])
    return len(schema.get("enum", ())) + sum(count_values(one) for one in inner)


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """Return whether a value has the shape of the schema: types, names, choices; not patterns and lengths.

    Servers that keep to a schema differ in the finer keywords they know.
    """
    if "anyOf" in schema and not any(fits(value, one) for one in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    kinds = schema.get("type")
    if kinds is not None and not any(
        _is(value, kind) for kind in (kinds if isinstance(kinds, list) else [kinds])
    ):
        return False
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is False and not value.keys() <= properties.keys():
            return False
        return all(name in value for name in schema.get("required", ())) and all(
            fits(value[name], one) for name, one in properties.items() if name in value
        )
    if isinstance(value, list) and "items" in schema:
        return all(fits(one, schema["items"]) for one in value)
    return True


def fits_json(text: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a text is JSON that has the shape of the schema."""
    try:
        return fits(load_json(text), schema)
    except ValueError:
        return False


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool) and kind in ("integer", "number"):
        return False
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])
