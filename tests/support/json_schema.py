"""Whether a value is as a JSON Schema says: by `jsonschema` where it is installed, else by the keywords that we write."""

from __future__ import annotations

from typing import Any

_TYPES: dict[str, Any] = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "string": str,
    "array": (list, tuple),
    "object": dict,
}
_KNOWN = set(
    "$schema $ref $defs $comment title type properties required items prefixItems minItems maxItems uniqueItems "
    "additionalProperties anyOf enum format contentEncoding".split()
)


def check(schema: dict[str, Any], value: Any) -> None:
    """Raises ValueError: the value is not as `schema` says, or the schema is no schema."""
    try:
        from jsonschema import Draft202012Validator, ValidationError
    except ModuleNotFoundError:
        _check(schema, schema, value, "$")
        return
    Draft202012Validator.check_schema(schema)
    try:
        Draft202012Validator(schema).validate(value)
    except ValidationError as error:
        raise ValueError(error.message) from None


def _check(whole: dict[str, Any], schema: dict[str, Any], value: Any, path: str) -> None:
    assert schema.keys() <= _KNOWN, f"{path}: unknown keywords {schema.keys() - _KNOWN}"
    if "$ref" in schema:
        start, key = schema["$ref"].rsplit("/", 1)
        assert start == "#/$defs"
        _check(whole, whole["$defs"][key], value, path)
    if "anyOf" in schema and not any(_is(whole, each, value) for each in schema["anyOf"]):
        raise ValueError(f"{path}: none of those that it may be")
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(
        isinstance(value, _TYPES[kind]) and (kind == "boolean" or type(value) is not bool) for kind in kinds
    ):
        raise ValueError(f"{path}: expected {kinds}, got {type(value).__name__}")
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{path}: no member")
    if isinstance(value, dict):
        _check_object(whole, schema, value, path)
    if isinstance(value, (list, tuple)):
        prefix = schema.get("prefixItems", [])
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            raise ValueError(f"{path}: {len(value)} items")
        for at, item in enumerate(value):
            inner = prefix[at] if at < len(prefix) else schema.get("items", {})
            _check(whole, inner, item, f"{path}[{at}]")


def _check_object(whole: dict[str, Any], schema: dict[str, Any], value: dict[str, Any], path: str) -> None:
    missing = {*schema.get("required", ())} - value.keys()
    if missing:
        raise ValueError(f"{path}: {missing} is missing")
    properties = schema.get("properties", {})
    for key, item in value.items():
        _check(whole, properties.get(key, schema.get("additionalProperties", {})), item, f"{path}.{key}")


def _is(whole: dict[str, Any], schema: dict[str, Any], value: Any) -> bool:
    try:
        _check(whole, schema, value, "")
    except ValueError:
        return False
    return True
