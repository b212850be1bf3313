"""The two ways in which the lab says no; each message ends with what to do next."""


class LabError(Exception):
    """The lab is broken or was used wrongly. Tests fail on it."""


class LabUnavailable(LabError):
    """This machine cannot run the lab. Tests that need it are left out, with this reason."""
