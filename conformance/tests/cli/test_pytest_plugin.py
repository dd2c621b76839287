"""``pytest --overlong``, in projects that have nothing else of ours."""

import numpy as np  # noqa: F401 (pytester forgets what each run has loaded, and this cannot be loaded twice)
import pytest

pytestmark = pytest.mark.long

pytest_plugins = "pytester"

DECODERS = """
def wrong(octets):
    return octets.replace(b"\\xc0\\xae", b".").decode("utf-8")

def right(octets):
    return octets.decode("utf-8")
"""
QUICK = ("-p", "no:cacheprovider", "-W", "error", "--overlong-suite", "core")


@pytest.fixture
def project(pytester, monkeypatch):
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(decoders=DECODERS)
    return pytester


def test_a_wrong_decoder_fails_and_a_right_one_passes(project):
    result = project.runpytest_subprocess(
        *QUICK, "-v", "--overlong", "py:decoders.py:wrong", "--overlong", "py:decoders.py:right", "--junitxml=j.xml"
    )
    result.assert_outcomes(failed=1, passed=5, skipped=14)
    result.stdout.fnmatch_lines(
        ["*FAIL overlong/c0ae*OV201*", "*reproduce: overlong replay overlong/c0ae py:decoders.py:wrong"]
    )
    assert "Traceback" not in result.stdout.str()
    assert "FAIL overlong/c0ae" in (project.path / "j.xml").read_text("utf-8")


def test_what_cannot_start_is_one_error_and_hostile_names_stay_text(project):
    hostile = "<script>alert(1)</script>\x1b]0;x\n::error::"
    result = project.runpytest_subprocess(*QUICK, "--overlong", hostile, "--overlong", "py:nowhere:decode")
    result.assert_outcomes(errors=2, skipped=18)
    assert "\x1b" not in result.stdout.str()
    assert "\n::error::" not in result.stdout.str()
    assert "During handling" not in result.stdout.str()


def test_names_can_be_chosen_and_only_listed(project):
    project.makeini("[pytest]\noverlong_targets = py:decoders.py:wrong\n")
    result = project.runpytest_inprocess(*QUICK, "-k", "scalars or position")
    result.assert_outcomes(passed=2, deselected=8)
    project.makepyfile(test_mine="def test_mine(): ...\n")
    listed = project.runpytest_inprocess(*QUICK, "--strict-markers", "--collect-only", "-q", "-m", "overlong")
    listed.stdout.fnmatch_lines(["overlong::py:decoders.py:wrong::verdict", "10/11 tests collected (1 deselected)*"])
    wrong = project.runpytest_inprocess("--overlong-suite", "cor")
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR


def test_expected_deviations_are_xfail_and_stale_ones_fail(project):
    entry = '[[expected]]\ntarget = "*"\ncode = "OV201"\nobserved = "accepted*"\nreason = "as in 1996"\n'
    (project.path / "overlong.toml").write_text(entry, encoding="utf-8")
    project.runpytest_inprocess(*QUICK, "--overlong", "py:decoders.py:wrong").assert_outcomes(
        xfailed=1, passed=3, skipped=7
    )


def test_vectors_for_tests_of_ones_own(project):
    project.makepyfile(
        test_mine="""
        import pytest

        @pytest.mark.overlong_vectors("overlong", "surrogate")
        def test_each(overlong_vector):
            with pytest.raises(UnicodeDecodeError):
                overlong_vector.octets.decode()

        def test_all(overlong_vectors):
            for each in overlong_vectors:
                assert each.octets.decode("utf-8", "replace") == each.replacement
                assert (each.text is None) == (each.offset is not None) == (not each.accepted)
            assert len(overlong_vectors.well_formed) + len(overlong_vectors.ill_formed) == len(overlong_vectors)
        """
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider", "-W", "error", "--strict-markers")
    outcomes = result.parseoutcomes()
    assert outcomes.keys() == {"passed"}
    assert outcomes["passed"] > 20
    project.makepyfile(
        test_mine="import pytest\n@pytest.mark.overlong_vectors('overlng')\ndef test_x(overlong_vector): ...\n"
    )
    project.runpytest_inprocess().stdout.fnmatch_lines(["no category 'overlng' of vectors; did you mean overlong?"])
