"""The subjects of a certificate are the decoder's files: also those that its adapter, package or library loads."""

import json
import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from overlong.conformance import Invocation, certify
from overlong.conformance.certification.verification import verify
from overlong.conformance.cli.certify import command
from overlong.conformance.cli.verify import command as verb
from overlong.conformance.results.certificate import OF_A_COMMAND, spelt
from overlong.conformance.targets.identity import files_beside, files_of_package, identity_of
from overlong.conformance.targets.resolve import resolve

ADAPTER = """
import json, struct, sys
from pathlib import Path

names = {}
exec(Path("decoder.txt").read_text(), names)
out, read = sys.stdout.buffer, sys.stdin.buffer.read
print(json.dumps({"overlong": 1, "operations": "PV", "slow": "of a test"}), flush=True)
while len(head := read(8)) == 8:
    length, number = struct.unpack(">II", head)
    body = read(length - 4)
    status = b"A" + body[1:] if body[:1] == b"P" else b"U"
    if body[:1] == b"V":
        try:
            status = b"A" if names["decode"](body[1:]) is not None else b""
        except UnicodeDecodeError:
            status = b"R"
    out.write(struct.pack(">II", 4 + len(status), number) + status)
    out.flush()
"""
DECODER = "def decode(octets):\n    return octets.decode()\n"
WORDS = (sys.executable, "adapter.py")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("adapter.py").write_text(ADAPTER, "ascii")
    Path("decoder.txt").write_text(DECODER, "ascii")
    return tmp_path


def digests(certificate):
    return {each["name"]: each["digest"]["sha256"] for each in certificate.statement["subject"]}


def of(path):
    return sha256(Path(path).read_bytes()).hexdigest()


def run(program, *words):
    return CliRunner().invoke(program, [str(word) for word in words])


def changed_in(verified):
    """The subjects that are other files here, as ``overlong verify -v`` tells."""
    named = json.loads(Path("certificate.json").read_text("ascii"))["subject"]
    return {named[int(each)]["name"] for each in re.findall(r"\$\.subject\[(\d+)\]\.digest", verified.output)}


def test_a_broken_decoder_behind_an_adapter_is_named(folder):
    certificate = certify(Invocation(WORDS, subjects=(str(folder / "decoder.txt"),)), suites=["core"])
    assert digests(certificate)["decoder.txt"] == of("decoder.txt")
    assert " --subject decoder.txt -- " in certificate.command
    assert OF_A_COMMAND not in certificate.not_covered
    Path("certificate.json").write_text(certificate.to_json(), "ascii")
    Path("elsewhere.txt").write_text(DECODER, "ascii")
    for places in ([], [Path("elsewhere.txt")]):
        assert not verify(Path("certificate.json"), target=WORDS, subjects=places).against

    Path("elsewhere.txt").write_text(DECODER.replace("decode()", "decode(errors='ignore')"), "ascii")
    differs = run(verb, "--subject", "elsewhere.txt", "certificate.json", "--", *WORDS)
    assert differs.exit_code == 1
    assert changed_in(differs) == {"decoder.txt"}

    Path("decoder.txt").unlink()
    refused = run(verb, "-q", "certificate.json", "--", *WORDS)
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1), refused.output
    assert refused.stderr.startswith("overlong: decoder.txt: ")
    Path("decoder.txt").write_text(DECODER, "ascii")

    Path("adapter.py").write_text(f"{ADAPTER}#", "ascii")
    assert changed_in(run(verb, "certificate.json", "--", *WORDS)) == {"adapter.py"}


def test_a_certificate_of_a_command_says_what_it_does_not_cover(folder):
    told = run(command, "--no-sweeps", "-o", "out", "--", *WORDS)
    assert told.exit_code == 0, told.output
    assert f"  it does not cover {OF_A_COMMAND}" in told.output.splitlines()
    certificate = folder / "out" / "certificate.json"
    statement = json.loads(certificate.read_text("ascii"))
    listed = statement["predicate"]["overlong"]["not_covered"]
    assert OF_A_COMMAND in listed
    assert verify(certificate, target=WORDS).verified
    listed.remove(OF_A_COMMAND)
    certificate.write_text(spelt(statement), "ascii")
    assert not verify(certificate, target=WORDS).verified


@pytest.mark.usefixtures("folder")
def test_a_project_names_files_of_its_decoder():
    Path("overlong.toml").write_text(
        f"[targets.mine]\ncommand = {[*WORDS]}\nsubjects = ['./decoder.txt']\n"
        "[targets.wrong]\ncommand = 'x'\nsubjects = 'decoder.txt'\n",
        "ascii",
    )
    assert "subjects is no list of files" in run(command, "--trust", "wrong").stderr
    text = Path("overlong.toml").read_text("ascii")
    Path("overlong.toml").write_text(text[: text.index("[targets.wrong]")], "ascii")
    certificate = certify("mine", suites=["core"], trust=True)
    assert digests(certificate)["decoder.txt"] == of("decoder.txt")
    assert certificate.command.endswith(" --subject decoder.txt mine")


@pytest.mark.usefixtures("folder")
def test_a_subject_is_held_to_and_a_missing_one_is_refused():
    Path("decoder.txt").write_text(f"{DECODER}open('decoder.txt', 'a').write('#')\n", "ascii")
    changed = run(command, "-q", "--suite", "core", "--subject", "decoder.txt", "-o", "out", "--", *WORDS)
    assert changed.exit_code == 3
    assert "not measured: decoder.txt changed during the run" in changed.stderr
    os.mkfifo("pipe")
    for missing in ("nowhere.txt", ".", "pipe"):
        refused = run(command, "--subject", missing, "--", *WORDS)
        assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1), refused.output
        assert refused.stderr.startswith(f"overlong: {missing}: no file; ")


@pytest.mark.usefixtures("folder")
def test_all_modules_of_a_package_are_subjects():
    for name, text in {
        "__init__.py": "",
        "text.py": "from mine.tables.lead import MODE\n\ndef decode(octets):\n    return octets.decode(errors=MODE)\n",
        "tables/__init__.py": "",
        "tables/lead.py": "MODE = 'strict'\n",
        "tables/__pycache__/lead.py": "",
        "readme.txt": "",
    }.items():
        path = Path("mine") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "ascii")
    certificate = certify("py:mine.text:decode", suites=["core"])
    modules = {"mine/__init__.py", "mine/text.py", "mine/tables/__init__.py", "mine/tables/lead.py"}
    assert {name: each for name, each in digests(certificate).items() if name.startswith("mine")} == {
        name: of(name) for name in modules
    }
    Path("certificate.json").write_text(certificate.to_json(), "ascii")
    Path("mine/tables/lead.py").write_text("MODE = 'ignore'\n", "ascii")
    assert changed_in(run(verb, "-v", "--trust", "certificate.json")) == {"mine/tables/lead.py"}

    Path("mine/tables/lead.py").write_text("MODE = 'strict'\nopen(__file__, 'a').write('#')\n", "ascii")
    changed = run(command, "-q", "--suite", "core", "-o", "out", "py:mine.text:decode")
    assert changed.exit_code == 3
    assert "not measured: mine/tables/lead.py changed during the run" in changed.stderr


@pytest.mark.parametrize("target", ["py:./own/mine.py:decode", "py:mine:decode"])
def test_modules_beside_a_file_that_it_imports_are_subjects(target, tmp_path, monkeypatch):
    home = Path("own") if "own" in target else Path()
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "mine.py": "import json, tables\n\n\ndef decode(octets):\n"
        "    from space.modes import MODE\n    return octets.decode(errors=MODE)\n",
        "tables.py": "import parts.lead\nimport mine\n",
        "parts/__init__.py": "raise_nothing = 1\n",
        "parts/lead.py": "",
        "space/modes.py": "MODE = 'strict'\n",
        "json.py": "is not read, since the standard library goes first",
        "test_mine.py": "import mine\n",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, "ascii")
    certificate = certify(target, suites=["core"])
    modules = {"mine.py", "tables.py", "parts/__init__.py", "parts/lead.py", "space/modes.py"}
    found = {name: each for name, each in digests(certificate).items() if name.endswith(".py") and name != "python.py"}
    assert found == {name: of(home / name) for name in modules}
    Path("certificate.json").write_text(certificate.to_json(), "ascii")
    (home / "space" / "modes.py").write_text("MODE = 'ignore'\n", "ascii")
    assert changed_in(run(verb, "-v", "--trust", "certificate.json")) == {"space/modes.py"}


def test_files_that_are_no_python_import_nothing(folder):
    (folder / "other.py").touch()
    octets = b"import other\n(", b"\0import other", b"\xff\nimport other", b"(" * 10_000, b"from . import other"
    for number, each in enumerate(octets):
        (folder / f"{number}.py").write_bytes(each)
        assert files_beside(folder / f"{number}.py") == {}
    for place, found in {"here": {"other.py"}, "site-packages": set()}.items():
        (folder / place).mkdir()
        for name, text in {"mine.py": "import other", "other.py": ""}.items():
            (folder / place / name).write_text(text, "ascii")
        assert {*files_beside(folder / place / "mine.py")} == found


def test_modules_of_a_package_in_a_namespace_are_found(folder):
    for name in ("wide/mine/__init__.py", "wide/mine/text.py", "wide/other/__init__.py", "single.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("", "ascii")
    assert {*files_of_package("wide.mine.text")} == {"mine/__init__.py", "mine/text.py"}
    assert {*files_of_package("single")} == {"single.py"}
    assert not any(map(files_of_package, ("wide", "json.decoder", "nowhere", "", "..")))


@pytest.mark.skipif(sys.platform != "linux", reason="ldd is of Linux")
@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("ldd")), reason="needs cc and ldd")
def test_what_a_library_or_a_program_is_linked_with_is_a_subject(folder):
    Path("tables.c").write_text("int least(int n) { return n; }\n", "ascii")
    Path("mine.c").write_text(
        "#include <stddef.h>\nint least(int);\n"
        "_Bool valid(const unsigned char *at, size_t n) { while (n--) if (*at++ > least(127)) return 0; return 1; }\n",
        "ascii",
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libtables.so", "tables.c"], check=True)
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", "mine.so", "mine.c", "-L.", "-ltables", "-Wl,-rpath,$ORIGIN"], check=True
    )
    identity = identity_of(resolve("so:./mine.so:valid?abi=bool(ptr,len)"))
    named = {name: digest for name, digest in identity.files if ".so" in name}
    assert named == {"mine.so": of("mine.so"), "libtables.so": of("libtables.so")}
    Path("main.c").write_text("int least(int);\nint main(void) { return least(0); }\n", "ascii")
    subprocess.run(["cc", "-o", "main", "main.c", "-L.", "-ltables", "-Wl,-rpath,$ORIGIN"], check=True)
    for target in (["./main"], "cmd:./main -v"):
        assert {*identity_of(resolve(target)).files} >= {("main", of("main")), ("libtables.so", of("libtables.so"))}
    (folder / "libtables.so").write_bytes((folder / "libtables.so").read_bytes() + b"\0")
    assert identity_of(resolve("so:./mine.so:valid?abi=bool(ptr,len)")).digest != identity.digest
