"""The test runner counts right, and nothing that was left out goes unseen."""

import sys
import time
from pathlib import Path

import ci_needs
import pytest
import run_tests
from ci_needs import Missing
from run_tests import Group, Result

REPORT = """<testsuites><testsuite>
<testcase classname="a" name="good"/>
<testcase classname="a" name="bad"><failure message="m"/></testcase>
<testcase classname="a" name="broken"><error message="m"/></testcase>
<testcase classname="a" name="absent"><skipped message="no containerd"/></testcase>
</testsuite></testsuites>"""


def test_a_report_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    path.write_text(REPORT)
    result = run_tests.read_report(path)
    assert (result.passed, result.failed) == (1, 2)
    assert result.left_out == [Missing("a::absent: no containerd", "")]


@pytest.mark.parametrize("text", ["", "<testsuites><testcase"])
def test_a_torn_report_counts_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.xml"
    path.write_text(text)
    assert run_tests.read_report(path) == Result()


def test_the_last_line_is_the_sum() -> None:
    text, code = run_tests.summary({"a": Result(2), "b": Result(3, 1)}, in_ci=False)
    assert text.splitlines()[-1] == "5 passed, 1 failed"
    assert code == 1


def test_left_out_is_told_with_its_reason_and_forgiven() -> None:
    results = {"a": Result(2), "b": Result(left_out=[Missing("no root", "sudo make test")])}
    text, code = run_tests.summary(results, in_ci=False)
    assert "  b: no root. To bring it in: sudo make test" in text.splitlines()
    assert text.endswith("\n2 passed, 0 failed")
    assert code == 0


def test_left_out_in_ci_is_a_failure() -> None:
    results = {"a": Result(2), "b": Result(left_out=[Missing("no root.", "")])}
    text, code = run_tests.summary(results, in_ci=True)
    assert "  b: no root." in text.splitlines()
    assert text.endswith("\n2 passed, 1 failed")
    assert code == 1


def test_a_group_that_lacks_something_does_not_run() -> None:
    def fail() -> Result:
        raise AssertionError("must not run")

    lacking = Missing("no root", "sudo")
    assert run_tests.run_group(Group("x", fail, lambda: lacking)).left_out == [lacking]


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    # The child holds the write end of a pipe open: reading ends when it is gone.
    fifo = tmp_path / "fifo"
    script = f"mkfifo {fifo}; cat {fifo} > /dev/null & cat > {fifo} < /dev/zero"
    begun = time.monotonic()
    assert run_tests.execute(["sh", "-c", script], deadline=0.3) is None
    # Politely; who does not heed that has ten seconds.
    assert time.monotonic() - begun < 9


def test_exit_codes_are_counted() -> None:
    python = sys.executable
    result = run_tests.checks((python, "-c", ""), (python, "-c", "raise SystemExit(3)"))
    assert (result.passed, result.failed) == (1, 1)


@pytest.mark.parametrize(
    ("body", "passed", "failed", "left_out"),
    [
        ("def test_x(): pass", 1, 0, 0),
        ("def test_x(): assert 0", 0, 1, 0),
        ("import pytest\ndef test_x(): pytest.skip('why')", 0, 0, 1),
        ("raise OSError", 0, 1, 0),
        ("", 0, 0, 1),
    ],
)
def test_a_pytest_group_is_run_and_counted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    passed: int,
    failed: int,
    left_out: int,
) -> None:
    (tmp_path / "tests" / "integration").mkdir(parents=True)
    (tmp_path / "tests" / "integration" / "test_it.py").write_text(body)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "REPORTS", tmp_path / "reports")
    result = run_tests.tests("integration", 30)
    assert (result.passed, result.failed, len(result.left_out)) == (passed, failed, left_out)


@pytest.mark.parametrize(
    ("script", "good"),
    [("import {x} from './y.js'; export const a = await x;", True), ("export const a = ;", False)],
)
def test_scripts_are_checked_as_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, good: bool
) -> None:
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    path = tmp_path / "x.js"
    path.write_text(script)
    node = ci_needs.node()
    assert node is not None
    assert run_tests.is_module(node, path) is good


def test_an_absent_group_is_said_to_be_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    assert run_tests.tests("browser", 30).left_out[0].why == "there are no tests in it"


def test_an_unknown_group_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_tests.main(["unti"]) == 2
    assert "There is no group unti; say one or more of: lint, types" in capsys.readouterr().err


def test_without_root_a_runtime_is_left_out_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ci_needs, "is_debian", lambda: True)
    monkeypatch.setattr(ci_needs, "is_root", lambda: False)
    assert ci_needs.runtime() == Missing("containerd needs root", "sudo make test ONLY=runtime")
    monkeypatch.setattr(ci_needs, "is_root", lambda: True)
    assert ci_needs.runtime() is None


def test_elsewhere_than_on_debian_a_debian_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ci_needs, "is_debian", lambda: False)
    missing = ci_needs.runtime()
    assert missing is not None
    assert "not Debian" in missing.why
    assert "make test ONLY=runtime" in missing.command


def test_a_chromium_goes_to_the_tests_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLEGSCOPE_CHROMIUM", "/opt/chromium")
    assert ci_needs.browser() is None


def test_no_chromium_is_left_out_with_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PLEGSCOPE_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.setattr(ci_needs, "is_debian", lambda: True)
    monkeypatch.setattr(ci_needs, "is_root", lambda: False)
    missing = ci_needs.browser()
    assert missing == Missing(
        "there is no Chromium", "sudo apt-get install -y chromium && make test ONLY=browser"
    )


def test_playwrights_own_chromium_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "chromium-1200" / "chrome-linux" / "chrome"
    own.parent.mkdir(parents=True)
    own.touch()
    monkeypatch.delenv("PLEGSCOPE_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert ci_needs.find_chromium() == str(own)
