"""The command line: ``plegscope demo``, ``watch``, ``simulate``, ``replay``, …."""

import argparse
import difflib
import os
import sys
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, NoReturn

from app import __version__, terminal
from app.errors import PlegscopeError, SettingsError, where
from app.settings import SETTINGS, Setting, Settings
from app.terminal import plain

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

VERSION = f"plegscope {__version__}\n"
DESCRIPTION = """\
See a Kubernetes node's Pod Lifecycle Event Generator (PLEG) at work: which stop event asked for
which relist, which relist found which change, and how long each hop took.

plegscope is a shadow: it only reads, and what it finds is what a kubelet would find.
"""

EXAMPLES = """\
examples:
  plegscope demo             learn and teach: a node that does not exist, and its dashboard
  sudo plegscope watch       debug: the container runtime of this machine
  sudo plegscope replay      explain: what `sudo plegscope watch` has recorded on this machine

`plegscope COMMAND --help` explains a command, Help in the dashboard every mark and word of it.
"""

_DEMO_EXAMPLES = """\
examples:
  plegscope demo                    open the dashboard on a simulated node
  plegscope demo --port 0           take any free port
  plegscope demo --seed 42          another node, the same each time
  plegscope demo --speed 5          a minute in twelve seconds
  plegscope demo --scenario runtime-restart
                                    the runtime goes away and comes back, in real time

A scenario's faults are told on the timeline as they begin and end. Once its time is over nothing
goes wrong any more, and the node runs on.
"""

_WATCH_EXAMPLES = """\
examples:
  sudo plegscope watch              find the runtime's socket and open the dashboard
  sudo plegscope watch --runtime-endpoint unix:///run/k3s/containerd/containerd.sock
  sudo plegscope watch --format jsonl --duration 30s > records.jsonl

The dashboard of a remote node: `ssh -L 7780:127.0.0.1:7780 NODE` on your own machine, then open the
printed address there. Begin at Now: what has just ended, what is slow, what there is.
"""

_SIMULATE_EXAMPLES = """\
examples:
  plegscope simulate churn                          a summary, after a second or less
  plegscope simulate lossy-stream --profile legacy  the same node under another PLEG
  plegscope simulate my.toml --duration 1h --format jsonl > records.jsonl

The same scenario, profile, seed and duration give the same bytes. The exit code is 1 if the shadow
does not know the runtime as it is in the end; under legacy, which looks every five minutes only,
that is told and is no failure.
"""

_COMPARE_EXAMPLES = """\
examples:
  plegscope compare demo --duration 10m
  plegscope compare stale-event --profiles kep,legacy
  plegscope compare lossy-stream --format json > lossy.json

`plegscope demo` shows the same as a timeline, on its page /compare.
"""

_REPLAY_EXAMPLES = """\
examples:
  plegscope simulate storm --record-to storm.mcap
  plegscope replay storm.mcap
  plegscope replay                  list what the flight recorder has
  sudo plegscope replay             what it has of `sudo plegscope watch`
  plegscope replay node-a.mcap node-b.mcap
                                    several nodes on one clock
  plegscope simulate storm --format jsonl > storm.jsonl
  plegscope replay storm.jsonl
"""

_RECORD_EXAMPLES = """\
examples:
  sudo plegscope record -o node.mcap                 until Ctrl-C
  sudo plegscope record -o node.mcap --duration 10m
  sudo chown "$USER" node.mcap                       it is readable by its owner only
  plegscope replay node.mcap
"""

_RECOVER_EXAMPLES = """\
examples:
  plegscope recover damaged.mcap -o clean.mcap

The exit code is 0 also if something was lost: what was is told.
"""

_EXPORT_EXAMPLES = """\
examples:
  plegscope export node.mcap --format perfetto -o node.pftrace   open it at ui.perfetto.dev
  plegscope export node.mcap --format html --redact -o incident.html
  plegscope export node.mcap --format html --from 1m30s --to 2m30s -o minute.html
  plegscope export node.mcap --format csv -o node.csv            and node.relists.csv
  plegscope export a.mcap b.mcap --format perfetto -o nodes.pftrace  several nodes on one clock
"""

_REDACT_EXAMPLES = """\
examples:
  plegscope redact node.mcap -o shared.mcap
  plegscope redact node.mcap --key-file team.key -o shared.mcap
                                    the same names as in other files with that key

Replaced, in fields of their own and wherever a text mentions them: names of pods and of the
workloads they belong to, namespaces, nodes, labels and annotations with their values, UIDs and
container IDs, images, IP and MAC addresses, the recording's own name; in texts also what is called
a Deployment, Secret, ConfigMap, volume, service, user or host there, host names, addresses of pages
and of mail, and paths of files.

Kept: times, states, reasons, exit codes, how many pods there are, names of containers (but for
those called like their workload), paths that systems and runtimes bring along, words of Kubernetes
and of plegscope, and what a text mentions without saying of what. Read what the runtime said before
you share it.
"""

_WHATIF_EXAMPLES = """\
examples:
  plegscope whatif node.mcap --profile generic       had EventedPLEG been off
  plegscope whatif node.mcap --period 10s --no-stream
  plegscope whatif node.mcap --stream-loss 0.5       had half of the events been lost
  plegscope whatif node.mcap                         the same settings: the same records

The runtime is rebuilt from what was listed, inspected and told. What can be known for sure and what
cannot is part of the answer. With the same settings, the exit code is 1 if the records differ.
"""

COMMANDS = {
    "demo": (
        "a simulated node, to learn and to teach",
        "Start a simulated node and the dashboard on this machine. Nothing needs to be prepared.",
        _DEMO_EXAMPLES,
    ),
    "watch": (
        "a real container runtime on this machine",
        "Watch the container runtime of this machine (containerd, CRI-O), reading only.",
        _WATCH_EXAMPLES,
    ),
    "simulate": (
        "a scenario in virtual time, without a server",
        "Play a scenario in virtual time and print its records and what it came to.",
        _SIMULATE_EXAMPLES,
    ),
    "compare": (
        "a scenario under several PLEGs, side by side",
        "Play a scenario in virtual time under two or three PLEGs, and print who noticed what.",
        _COMPARE_EXAMPLES,
    ),
    "replay": (
        "recordings in the player",
        "Play recordings, or journals of JSON lines: forwards, back, at any speed.",
        _REPLAY_EXAMPLES,
    ),
    "record": (
        "record a real container runtime into a file",
        "Watch the container runtime of this machine into a file, reading only, without a server.",
        _RECORD_EXAMPLES,
    ),
    "recover": (
        "write a clean file from a damaged recording",
        "Say what is damaged in a recording, and where, and write what can be read into a new one.",
        _RECOVER_EXAMPLES,
    ),
    "export": (
        "a recording as Perfetto trace, CSV, HTML page and others",
        "Write recordings, or journals of JSON lines, in a format that something else opens.",
        _EXPORT_EXAMPLES,
    ),
    "redact": (
        "a copy of a recording without its names",
        "Copy a recording, or a journal of JSON lines, with all names consistently replaced.",
        _REDACT_EXAMPLES,
    ),
    "whatif": (
        "a recording run again with other settings",
        "Run a recording again as another PLEG, and say what it had found sooner or later.",
        _WHATIF_EXAMPLES,
    ),
    "scenarios": (
        "list the scenarios that come with plegscope",
        "List the scenarios that come with plegscope, one a line, the name first.",
        "",
    ),
    "version": ("print plegscope's version", "Print plegscope's version.", ""),
}


class _Parser(argparse.ArgumentParser):
    """Its help fails when it cannot be written, which argparse since 3.12 does not tell, and its
    errors end with what to do."""

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print it to standard output, or to ``file``."""
        if file is None:
            terminal.say(self.format_help())
        else:
            super().print_help(file)

    def error(self, message: str) -> NoReturn:
        """Say how the command is used and what is wrong, and end with exit code 2."""
        self.print_usage(sys.stderr)
        self.exit(2, f"plegscope: {plain(message)}. `{self.prog} --help` explains it.\n")

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """Say which words it does not know, and which it might be that were meant."""
        known = [flag for one in self._actions for flag in one.option_strings]
        meant = difflib.get_close_matches(words[0].partition("=")[0], known, 1, 0.8)
        hint = f" (did you mean {meant[0]}?)" if meant else ""
        self.error(f"`{self.prog}` knows nothing called {' '.join(words)}{hint}")


class _PrintVersion(argparse.Action):
    """``--version``, likewise."""

    def __call__(self, *_given: object) -> NoReturn:
        terminal.say(VERSION)
        raise SystemExit(0)


def build_parser() -> argparse.ArgumentParser:
    """The parser, built from the table of settings."""
    parser = _Parser(
        prog="plegscope",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action=_PrintVersion, nargs=0, help="print plegscope's version"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (short, long, examples) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=short,
            description=long,
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for setting in _of(name):
            _add(command, setting)
        command.usage = _usage(command, {one.flag for one in _of(name) if one.needed})
        command.set_defaults(parser=command)
    return parser


def _of(command: str) -> list[Setting]:
    return [setting for setting in SETTINGS if command in setting.commands]


def _usage(command: argparse.ArgumentParser, flags: Container[str]) -> str:
    """The usage line, without brackets around what must be given: ``flags``.

    argparse does not check it: whoever leaves it out is told in a sentence, with an example.
    """
    needed = [
        one for one in command._actions if [*one.option_strings, str(one.metavar)][0] in flags
    ]
    kept = [(one, one.required, one.nargs) for one in needed]
    for one in needed:
        one.required = True
        if not one.option_strings:
            one.nargs = "+"
    usage = command.format_usage().removeprefix("usage: ").rstrip().replace("%", "%%")
    for one, required, nargs in kept:
        one.required, one.nargs = required, nargs
    return usage


def _add(parser: argparse.ArgumentParser, setting: Setting) -> None:
    if not setting.flag.startswith("-"):
        parser.add_argument(
            setting.field,
            metavar=setting.metavar,
            help=setting.help,
            nargs="*" if setting.many else None,
        )
        return
    if setting.parse is None:
        parser.add_argument(
            setting.flag,
            dest=setting.field,
            action="store_const",
            const=setting.constant,
            default=argparse.SUPPRESS,
            help=setting.help,
        )
        return
    parser.add_argument(
        setting.flag,
        dest=setting.field,
        action="append" if setting.many else "store",
        metavar=setting.metavar,
        default=argparse.SUPPRESS,
        help=setting.help,
    )


def settings_from(arguments: argparse.Namespace) -> Settings:
    """The settings a command line asks for.

    Raises:
        SettingsError: a value that cannot be used, named with its flag.
    """
    values: dict[str, object] = {}
    for setting in SETTINGS:
        if arguments.command not in setting.commands or not hasattr(arguments, setting.field):
            continue
        given = getattr(arguments, setting.field)
        if setting.parse is None:
            values[setting.field] = given
            continue
        try:
            values[setting.field] = (
                tuple(setting.parse(one) for one in given) if setting.many else setting.parse(given)
            )
        except SettingsError as error:
            raise SettingsError(f"{setting.flag}: {error}") from None
    return Settings(**values)  # type: ignore[arg-type]  # each parser gives its field's type


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (0 well, 1 an error told in a sentence, 2 usage)."""
    terminal.hold_streams()
    try:
        return _run(argv)
    except PlegscopeError as error:
        terminal.complain(error)
    except OSError as error:
        # Where it matters there is a sentence of its own; a system has more ways to refuse.
        terminal.complain(
            f"The system refused what plegscope needs: {error}. Allow it, or make room, "
            "and start plegscope again."
        )
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        terminal.complain(
            f"plegscope stopped working: {where(error)}. This is a fault of plegscope: "
            "please report it with this line."
        )
    return 1


def _run(argv: Sequence[str] | None) -> int:
    # Help is printed while the command line is read.
    with terminal.printing():
        parser = build_parser()
        if not (sys.argv[1:] if argv is None else argv):
            parser.print_help(sys.stderr)
            raise SystemExit(2)
        arguments, unknown = parser.parse_known_args(argv)
        if unknown:
            arguments.parser.refuse(unknown)
        if arguments.command == "version":
            terminal.say(VERSION)
            return 0
        if arguments.command == "scenarios":
            from app.simulate.command import scenarios

            return scenarios()
    if arguments.command == "simulate":
        from app.simulate.command import simulate

        return simulate(settings_from(arguments))
    if arguments.command == "compare":
        from app.simulate.compare import compare

        return compare(settings_from(arguments))
    if arguments.command == "recover":
        from app.recording.command import recover

        return recover(settings_from(arguments))
    if arguments.command == "export":
        from app.export.command import export

        return export(settings_from(arguments))
    if arguments.command == "redact":
        from app.export.command import redact

        return redact(settings_from(arguments))
    if arguments.command == "whatif":
        from app.whatif.command import whatif

        return whatif(settings_from(arguments))
    _serve(arguments)
    return 0


def _serve(arguments: argparse.Namespace) -> None:
    """Run a command that serves to its end."""
    # C-core writes lines of its own to standard error (GOAWAY and the like); it reads this once,
    # when grpc is first imported, which is why nothing above imports it.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    settings = settings_from(arguments)
    from app.assembly import run

    run(arguments.command, settings)


if __name__ == "__main__":
    sys.exit(main())
