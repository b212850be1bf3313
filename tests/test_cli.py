"""The command line: what it understands, and that nobody ever sees a traceback."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import app.assembly
from app import __version__
from app.cli import COMMANDS, build_parser, main, settings_from
from app.errors import SettingsError
from app.settings import SETTINGS

README = Path(__file__).parent.parent / "README.md"


def test_flags_become_settings() -> None:
    arguments = build_parser().parse_args(
        ["watch", "--port", "0", "--no-browser", "--duration", "30s", "--join-shared-stream"]
    )
    settings = settings_from(arguments)
    assert (settings.port, settings.browser, settings.join_shared_stream) == (0, False, True)
    assert settings.duration_ns == 30_000_000_000


def test_help_speaks_of_the_command_at_hand(capsys: pytest.CaptureFixture[str]) -> None:
    told = {}
    for command in ("simulate", "watch", "replay"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        told[command] = " ".join(capsys.readouterr().out.split())
    assert "flight" not in told["simulate"]
    assert "in its own time" in told["simulate"]
    assert "in its own time" not in told["watch"] + told["replay"]


def test_a_repeated_flag_adds_up() -> None:
    arguments = build_parser().parse_args(["demo", "--allow-host", "a", "--allow-host", "b"])
    assert settings_from(arguments).allow_hosts == ("a", "b")


def test_a_flag_of_two_commands_is_read_as_each_of_them_reads_it() -> None:
    parser = build_parser()
    watch = settings_from(parser.parse_args(["watch", "--format", "jsonl"]))
    assert (watch.format, watch.output) == ("jsonl", "table")
    play = settings_from(parser.parse_args(["simulate", "churn", "--format", "json"]))
    assert (play.scenario, play.format, play.output) == ("churn", "page", "json")
    with pytest.raises(SettingsError, match="--format: 'page' is no output format: choose table"):
        settings_from(parser.parse_args(["simulate", "churn", "--format", "page"]))


def test_without_flags_the_defaults_hold() -> None:
    settings = settings_from(build_parser().parse_args(["demo"]))
    assert (settings.host, settings.browser, settings.duration_ns) == ("127.0.0.1", True, 0)


def test_a_bad_value_is_named_with_its_flag() -> None:
    with pytest.raises(SettingsError, match="--duration: 'soon' is no duration"):
        settings_from(build_parser().parse_args(["demo", "--duration", "soon"]))


def test_a_bad_value_ends_with_a_sentence_and_exit_code_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["watch", "--port", "x"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("plegscope: --port:")
    assert "Traceback" not in error


def test_the_demo_plays_a_scenario_and_says_which_one_was_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = settings_from(build_parser().parse_args(["demo", "--scenario", "churn"]))
    assert settings.scenario == "churn"
    assert main(["demo", "--port", "0", "--no-browser", "--scenario", "chrun"]) == 1
    error = capsys.readouterr().err
    assert "'chrun' is neither a scenario nor a file. Did you mean churn? `plegscope" in error
    assert main(["demo", "--port", "0", "--no-browser", "--scenario", "/nope.toml"]) == 1
    assert "There is no such file as /nope.toml." in capsys.readouterr().err
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device", "/tmp/x"), r"No space left on device: '/tmp/x'"),
        (ValueError("odd\x1b[2J"), r"stopped working: ValueError in fail, line \d+: odd\\x1b\[2J"),
        (ExceptionGroup("many", [KeyError("a"), KeyError("b")]), "stopped working: KeyError: 'a'"),
    ],
)
def test_whatever_goes_wrong_is_told_on_one_line(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_given: object) -> None:
        raise error

    monkeypatch.setattr(app.assembly, "run", fail)
    assert main(["demo"]) == 1
    told = capsys.readouterr().err
    assert re.search(said, told)
    assert told.startswith("plegscope: ")
    assert told.endswith(".\n")
    assert told.count("\n") == 1


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out == f"plegscope {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out.split("examples:")[0]
    flags = {
        one.flag: {name for two in SETTINGS if two.flag == one.flag for name in two.commands}
        for one in SETTINGS
    }
    for flag, commands in flags.items():
        found = re.search(rf"(?<![\w-]){re.escape(flag)}\b", text) is not None
        assert found == (command in commands), flag


def test_no_command_is_a_usage_error_that_names_the_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "COMMAND" in told.err
    assert all(re.search(rf"^ +{name}\b", told.err, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("simulate", "required: SCENARIO. `plegscope simulate --help` explains it."),
        ("watch --runtime-endpiont=x", "endpiont=x (did you mean --runtime-endpoint?). `plegscope"),
        ("replay --format", "`plegscope replay` knows nothing called --format. `pleg"),
        ("demo --port", "argument --port: expected one argument. `plegscope demo --help` explains"),
        ("wtach", "invalid choice: 'wtach'"),
        ("\x1b[2J", r"invalid choice: '\x1b[2J'"),
        ("demo \x1b[2J", r"`plegscope demo` knows nothing called \x1b[2J."),
    ],
)
def test_a_usage_error_shows_the_commands_own_usage_and_where_it_is_explained(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.endswith("--help` explains it.\n")
    first = words.split(maxsplit=1)[0]
    own = first if first in COMMANDS else "[-h]"
    assert told.err.startswith(f"usage: plegscope {own} ")


@pytest.mark.parametrize("command", ["record", "recover", "export", "redact"])
def test_what_must_be_given_has_no_brackets(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    usage = capsys.readouterr().out.split("\n\n")[0]
    assert " -o OUT" in usage
    assert "[-o" not in usage
    if command == "export":
        assert " --format FORMAT " in usage
        assert " FILE [FILE ...]" in usage


def test_the_readme_tells_of_every_flag() -> None:
    text = README.read_text(encoding="utf-8")
    missing = [setting.flag for setting in SETTINGS if f"`{setting.flag}" not in text]
    assert missing == []


def test_python_minus_m_is_the_same_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app", "version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"plegscope {__version__}\n"


@pytest.mark.parametrize(
    "argv",
    [
        ["scenarios"],
        ["simulate", "storm", "--duration", "1s"],
        ["compare", "storm", "--duration", "1s"],
    ],
)
def test_simulating_needs_no_grpc_no_loop_and_no_web_server(argv: list[str]) -> None:
    code = (
        "import sys; from app.cli import main; code = main(sys.argv[1:]); "
        "print(code, sorted({'grpc', 'asyncio', 'uvicorn', 'fastapi'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *argv], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "0 []"


def test_grpc_is_imported_after_its_verbosity_is_set() -> None:
    """C-core reads GRPC_VERBOSITY once, at import; importing the command line must not do that."""
    done = subprocess.run(
        [sys.executable, "-c", "import app.cli, sys; print('grpc' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
