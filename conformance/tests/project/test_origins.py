"""The code that our instructions and workflows run is pinned: it cannot change unseen."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
HIDDEN = (".ci", ".clusterfuzzlite", ".github")
FETCHES = re.compile(  # an installer that is told the bare name, and not where the code lies
    r"(?:\b(?:pip3?|pipx|uv|poetry|pdm|conda)\s+(?:pip |tool )?(?:install|add|run)\b|\buvx\b)[^\n#|&;`]*?"
    r"[ '\"]overlong(?:\[[^\]]*\])?(?![\w/.\[-]|['\"]?\s+@\s)"
    r"|(?<![\w/])overlong\[[a-z,{}]+\](?!\s+@\s)"
)
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} +# v\d[\w.]*")


def texts():
    """Every text of the project: its path, and what is in it."""
    for file in sorted(ROOT.rglob("*")):
        parts = file.relative_to(ROOT).parts
        if parts[0] not in HIDDEN and any(part.startswith(".") or part == "__pycache__" for part in parts):
            continue
        if file.suffix in {".md", ".py", ".yml", ".yaml", ".toml", ".sh", ""} and file.is_file():
            yield "/".join(parts), file.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize(
    ("text", "fetches"),
    [
        ("pip install overlong", True),
        ("python -m pip install -U 'overlong[fuzz]'", True),
        ('pip install "overlong==1.0"', True),
        ("uvx overlong certify cpython", True),
        ("uv tool install overlong\n", True),
        ("or 'overlong[decoders]' for all", True),
        ("pip install '.[wasm]'    # in a checkout of overlong", False),
        ("pip install '/path/to/overlong[fuzz]'", False),
        ("pip install '.[fuzz]' && .venv/bin/overlong certify cpython", False),
        ("pip install 'overlong[fuzz] @ git+https://example.org/overlong'", False),
    ],
)
def test_the_search_finds_what_it_should(text, fetches):
    assert bool(FETCHES.search(text)) == fetches


def test_no_instruction_fetches_the_bare_name():
    """No index has the name: its next owner's code would run wherever such an instruction is followed."""
    found = [
        f"{name}: {match[0]}"
        for name, text in texts()
        if name
        not in {"pyproject.toml", "conformance/tests/project/test_origins.py"}  # extras of extras, and the cases above
        for match in FETCHES.finditer(text)
    ]
    assert found == []


def test_actions_of_others_are_pinned_by_digest():
    used = [
        (name, action)
        for name, text in texts()
        if name.endswith((".yml", ".yaml", ".md"))
        for action in re.findall(r"^\s*(?:- )?uses: +(\S.*?)$", text, re.MULTILINE)
        if not action.startswith(("OWNER/overlong@", "./"))
    ]
    assert {name for name, _ in used} >= {"action.yml", "docs/ci.md", ".github/workflows/cflite_pr.yml"}
    assert [each for each in used if not PINNED.fullmatch(each[1])] == []
    digests = {action.partition("@")[0].rpartition("/actions/")[0] or action.partition("@")[0] for _, action in used}
    pairs = {(action.partition("/actions/")[0].partition("@")[0], action.partition("@")[2]) for _, action in used}
    assert len(pairs) == len(digests), "one action, two digests"


def test_the_threat_model_names_every_way_to_name_a_decoder():
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    told = re.search(r"^\| what you give \|.*\n((?:\|.*\n)+)", page, re.MULTILINE)
    assert told
    targets = (ROOT / "docs" / "targets.md").read_text(encoding="utf-8")
    ways = set(re.findall(r"^\| `([a-z]+:|--)", targets, re.MULTILINE))
    assert ways >= {"py:", "so:", "wasm:", "cmd:", "answers:", "--"}
    assert [way for way in ways if f"`{way}" not in told[1]] == []
    for verb in VERBS_THAT_START_CODE:
        assert verb in told[1], verb


VERBS_THAT_START_CODE = (
    "verify",
    "fuzz --engine libfuzzer",
    "finding test",
    "target new",
    "--jobs tcp://",
    "pytest",
    "action.yml",
)
