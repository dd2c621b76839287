"""Two matrices in one folder would lose each other's rows."""

import sys

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.conformance.support.whole_file import alone_in


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks of folders")
def test_a_second_matrix_is_refused(tmp_path):
    with alone_in(tmp_path):
        done = CliRunner().invoke(cli, ["matrix", "--quick", "-q", "-o", str(tmp_path), "cpython"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"overlong: {tmp_path}: another run is writing its results there; choose another folder with -o\n"
    )
    assert not list(tmp_path.iterdir())
    with alone_in(tmp_path):
        pass
