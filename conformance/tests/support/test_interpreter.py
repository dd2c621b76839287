"""Scripts that run from their compiled code."""

import subprocess
import sys
from importlib.util import cache_from_source

from overlong.conformance.support import interpreter
from overlong.conformance.support.interpreter import bare_script, from_cache, module, script


def test_a_script_of_ours_runs_from_compiled_code_as_it_would_itself(tmp_path, monkeypatch):
    file = tmp_path / "written.py"
    file.write_text("import sys\nprint(__name__, __file__, sys.argv, sys.flags.safe_path)\n")
    monkeypatch.setattr(interpreter, "_OUR_SCRIPTS", str(tmp_path))
    for command in (script(file, "one", "-P"), bare_script(file)):
        cached = from_cache(command)
        assert cached != command
        said = {tuple(each): subprocess.run(each, capture_output=True, check=True) for each in (command, cached)}
        assert len({done.stdout for done in said.values()}) == 1
    assert (tmp_path / cache_from_source("written.py")).exists()
    file.write_text("raise SystemExit(7)  # newer than its compiled code, and longer")
    assert subprocess.run(cached, check=False).returncode == 7


def test_commands_of_others_stay_as_they_are(tmp_path):
    for command in (script(tmp_path / "theirs.py"), module("json.tool"), ["cat"], [sys.executable], []):
        assert from_cache(command) == command
