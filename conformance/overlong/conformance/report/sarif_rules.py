"""The rules of a SARIF log, one for each code; the weaknesses that they find; and text in the form of SARIF."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from overlong.conformance.protocol.observation import KINDS
from overlong.conformance.report.wording import section_links, weakness
from overlong.conformance.support.printable import printable
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.results.model import Cause

STALE = "stale-expectation"
"""The rule of an expected deviation that no longer occurs."""
ADAPTER = "adapter-in-doubt"
"""The rule of a sign that the adapter is wrong."""
CWE = "CWE"


def message_text(words: str, limit: int = 1000) -> str:
    """Text of a message. Braces and links would have a meaning (sections 3.11.5 and 3.11.6), so they are escaped."""
    return printable(words, limit).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def shown(words: str, limit: int = 300) -> str:
    """Hostile words, on one line."""
    return printable(words, limit)


STALE_RULE: dict[str, Any] = {
    "id": STALE,
    "name": "StaleExpectation",
    "shortDescription": {"text": "expected deviation gone stale"},
    "fullDescription": {"text": "An expected deviation no longer occurs, or has changed."},
    "help": {"text": "Remove the entry from the file of expected deviations, or correct it: --update-expected does."},
    "defaultConfiguration": {"level": "error"},
    "properties": {"tags": ["correctness"]},
}


ADAPTER_RULE: dict[str, Any] = {
    "id": ADAPTER,
    "name": "AdapterInDoubt",
    "shortDescription": {"text": "the adapter seems to be wrong, not the decoder"},
    "fullDescription": {"text": "A wrong adapter of a correct decoder would show exactly these divergences."},
    "help": {"text": "Fix the adapter, or the choice of abi=, and measure again: overlong target check examines it."},
    "defaultConfiguration": {"level": "error"},
    "properties": {"tags": ["correctness"]},
}


def rule_of(cause: Cause) -> dict[str, Any]:
    """The rule of a code. For a code that this version does not know, the rule has only the text of the cause."""
    if cause.code in DEFECTS:
        defect = DEFECTS[cause.code]
        title, line, section = f"{defect.title} accepted", defect.line, defect.section
        text, effect, seen = defect.paragraph, defect.effect, ", ".join(defect.cves)
        tags = ["correctness", "security", *(f"external/cwe/cwe-{number}" for number in defect.cwe)]
    elif cause.code in KINDS:
        kind = KINDS[cause.code]
        title, line, section, text, effect, seen = kind.title, kind.title, kind.section, kind.paragraph, "", ""
        tags = ["correctness"]
    else:
        title, line, section = shown(cause.title), shown(cause.title), shown(cause.section)
        text, effect, seen, tags = title, "", "", ["correctness"]
    facts = [f"{name}: {fact}" for name, fact in (("Section", section), ("Effect", effect), ("Seen in", seen)) if fact]
    rule: dict[str, Any] = {
        "id": shown(cause.code, 60) or "?",
        "name": "".join(word.capitalize() for word in re.findall(r"[A-Za-z0-9]+", title)) or "Unknown",
        "shortDescription": {"text": message_text(title)},
        "fullDescription": {"text": message_text(line)},
        "help": {"text": _braces("\n\n".join((text, *facts)))},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": tags, "precision": "very-high"},
    }
    if cause.code in DEFECTS or cause.code in KINDS:  # this text is overlong's own, so it is safe as Markdown
        rule["help"]["markdown"] = _braces("\n".join((text, "", *(f"- {fact}" for fact in facts))))
    if address := next((address for _, address in section_links(section) if address), ""):
        rule["helpUri"] = address
    return rule


def related(rules: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The taxonomies of these rules: CWE, if a rule finds a weakness. Each rule gets its indices in the taxonomy."""
    found = [(rule, DEFECTS[rule["id"]].cwe) for rule in rules if rule["id"] in DEFECTS]
    weaknesses = sorted({number for _, numbers in found for number in numbers})
    for rule, numbers in found:
        if numbers:
            rule["relationships"] = [
                {
                    "target": {
                        "id": str(number),
                        "index": weaknesses.index(number),
                        "toolComponent": {"name": CWE, "index": 0},
                    },
                    "kinds": ["relevant"],
                }
                for number in numbers
            ]
    taxonomy: dict[str, Any] = {
        "name": CWE,
        "organization": "MITRE",
        "informationUri": "https://cwe.mitre.org/",
        "shortDescription": {"text": "The MITRE Common Weakness Enumeration"},
        "isComprehensive": False,
        "taxa": [{"id": str(number), "helpUri": weakness(number)} for number in weaknesses],
    }
    return [taxonomy] if weaknesses else []


def _braces(words: str) -> str:
    return words.replace("{", "{{").replace("}", "}}")
