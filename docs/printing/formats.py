"""The reference of the files, from their JSON Schemas."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from printing.markdown import NOTICE, code, plain, table

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]

SUFFIX = ".schema.json"
LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
    "maxLength": "at most {} characters",
}


def page() -> Iterator[str]:
    """Every schema of the package, field by field."""
    folder = files("overlong.conformance") / "schemas"
    names = sorted(each.name.removesuffix(SUFFIX) for each in folder.iterdir() if each.name.endswith(SUFFIX))
    schemas = [Schema(name, json.loads((folder / (name + SUFFIX)).read_text("ascii"))) for name in names]
    yield from (NOTICE, "", "# Formats, field by field", "")
    yield "Every file of JSON that overlong writes for others, and what `--format json` prints, has a JSON Schema"
    yield "(draft 2020-12) in the package, under `overlong/conformance/schemas`; but for SARIF, badges of shields.io"
    yield "and greetings ([protocol](protocol.md)). [results](results.md) explains what the fields are for."
    yield "A field that is *optional* is left out where there is nothing to say, or where an older"
    yield "version wrote the file. `[]` after a field: each member of the array; `.NAME`: each member of the object."
    yield ""
    yield from table(
        ("schema", "describes"), ((f"[`{each.name}`](#{each.name})", plain(each.whole["title"])) for each in schemas)
    )
    for schema in schemas:
        yield from schema.section()


@dataclass(frozen=True)
class Schema:
    """A JSON Schema: its name and content."""

    name: str
    whole: Node

    @cached_property
    def parts(self) -> dict[str, Node]:
        """Its named definitions."""
        found: dict[str, Node] = self.whole.get("$defs") or self.whole.get("definitions") or {}
        return found

    def section(self) -> Iterator[str]:
        """The section of this schema."""
        yield from ("", f"## {self.name}", "", plain(self.whole["title"]) + ".")
        yield from self._definition(self.whole)
        for part, node in self.parts.items():
            yield from ("", f"### {self._title(part)}")
            yield from self._definition(node)

    def _title(self, part: str) -> str:
        """Headings of the page are unique, though schemas share names of parts."""
        return f"{self.name} {part}"

    def _definition(self, node: Node) -> Iterator[str]:
        if "description" in node:
            yield from ("", plain(node["description"]))
        fields = list(self._fields(node, ""))
        choices = [*node.get("oneOf", ()), *node.get("anyOf", ())]
        if fields:
            yield ""
            yield from table(("field", "value", "meaning"), fields)
        elif any("properties" in each for each in choices):
            yield from ("", "One of these:")
            for each in choices:
                yield from self._definition(each)
        else:
            value = self._value(node)
            yield from ("", f"{value[:1].upper()}{value[1:]}.")

    def _fields(self, node: Node, before: str) -> Iterator[tuple[str, str, str]]:
        """The fields of an object, and of objects in it."""
        required = set(node.get("required", ()))
        for field, inner in node.get("properties", {}).items():
            path = f"{before}{field}"
            value = self._value(inner) + ("" if field in required else "; optional")
            yield code(path), value, plain(self._meaning(inner))
            yield from self._inside(inner, path)

    def _inside(self, node: Node, path: str) -> Iterator[tuple[str, str, str]]:
        if "properties" in node:
            yield from self._fields(node, f"{path}.")
        if isinstance(node.get("items"), dict):
            yield from self._inside(node["items"], f"{path}[]")
        for number, each in enumerate(node.get("prefixItems", ())):
            yield from self._inside(each, f"{path}[{number}]")
        if isinstance(node.get("additionalProperties"), dict):
            yield from self._inside(node["additionalProperties"], f"{path}.NAME")
        for choice in ("anyOf", "oneOf", "allOf"):
            for each in node.get(choice, ()):
                yield from self._inside(each, path)

    def _meaning(self, node: Node) -> str:
        """The description of a field, or of the definition that it refers to."""
        if "description" in node or "$ref" not in node:
            return str(node.get("description", ""))
        return str(self.parts[_part(node)].get("description", ""))

    def _value(self, node: Node) -> str:
        """The possible values, in words."""
        if "$ref" in node:
            part = _part(node)
            return f"[{plain(part)}](#{self._title(part).replace(' ', '-').lower()})"
        if "const" in node:
            return code(json.dumps(node["const"]))
        if "enum" in node:
            return ", ".join(code(json.dumps(each)) for each in node["enum"])
        for choice, between in (("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")):
            if choice in node:
                return between.join(dict.fromkeys(self._value(each) for each in node[choice]))
        return self._of_type(node)

    def _of_type(self, node: Node) -> str:
        kind = node.get("type", "anything")
        kind = kind if isinstance(kind, str) else " or ".join(map(str, kind))
        limits = [words.format(node[key]) for key, words in LIMITS.items() if key in node]
        if "pattern" in node:
            limits.append(f"as {code(node['pattern'])}")
        if isinstance(node.get("items"), dict):
            kind = f"array of {self._value(node['items'])}"
        elif "prefixItems" in node:
            kind = "array: " + ", ".join(self._value(each) for each in node["prefixItems"])
        elif isinstance(node.get("additionalProperties"), dict):
            kind = f"object; each value: {self._value(node['additionalProperties'])}"
        return ", ".join((kind, *limits))


def _part(node: Node) -> str:
    return str(node["$ref"]).rpartition("/")[2]
