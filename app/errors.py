"""Errors that people see.

    PlegscopeError
    ├── EndpointError         no usable socket: none found, no permission, not a socket
    ├── RuntimeUnusable       something answers, but not CRI v1, or it does not answer in time
    │   └── RuntimeSilent     it takes connections and says nothing, as one that hangs
    ├── SettingsError         a flag or a setting that cannot be used
    ├── ScenarioError         no such scenario, or a file that says what cannot be
    ├── StageError            a link to a run that cannot be played
    │   ├── StageUnknown      it names what is not there
    │   └── StageBusy         too many runs are asked for at the same time
    ├── LessonError           a lesson file that says what cannot be
    ├── RecordingError        no such recording, or nothing in it that can be read
    │   ├── RecordingUnknown  a link to one that is not in reach
    │   └── RecordingBusy     too much is asked of recordings at the same time
    ├── ListenError           the dashboard's address or port cannot be listened on
    ├── OutputError           standard output cannot be written
    └── InstallationError     files of plegscope itself are missing

Each message is a sentence or two and ends with what to do. The command line prints it and ends
with exit code 1; no traceback reaches a user.
"""

import traceback


class PlegscopeError(Exception):
    """The root of the tree: a sentence for people that ends with what to do."""


class EndpointError(PlegscopeError):
    """There is no socket to talk to."""


class RuntimeUnusable(PlegscopeError):
    """A socket answers, but not as a CRI v1 runtime should, or not in time."""


class RuntimeSilent(RuntimeUnusable):
    """A socket takes connections, and nothing is answered in time: the runtime hangs, perhaps."""


class SettingsError(PlegscopeError):
    """A flag or setting that cannot be used."""


class ScenarioError(PlegscopeError):
    """A scenario that is not there, or a file with something in it that cannot be."""


class StageError(PlegscopeError):
    """A link to a run with something in it that cannot be played."""


class StageUnknown(StageError):
    """A link to a run of something that is not there."""


class StageBusy(StageError):
    """A run that cannot be played now, as too many are waited for."""


class LessonError(PlegscopeError):
    """A lesson file with something in it that cannot be."""


class RecordingError(PlegscopeError):
    """A recording that cannot be shown."""


class RecordingUnknown(RecordingError):
    """A link to a recording that is not in reach of this server."""


class RecordingBusy(RecordingError):
    """Something that cannot be made of a recording now, as too many wait for such."""


class ListenError(PlegscopeError):
    """The dashboard's address or port cannot be listened on."""


class OutputError(PlegscopeError):
    """What belongs on standard output cannot be written there: a full disk, for instance."""


class InstallationError(PlegscopeError):
    """A file that belongs to plegscope (generated code, assets, templates) is not there."""


def where(error: BaseException) -> str:
    """A fault of ours on one line: what, in which function and line; of a group its first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {frames[-1].name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}: {error}"
