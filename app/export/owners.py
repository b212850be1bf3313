"""Whom a pod is named after: its ReplicaSet, Deployment, Job, CronJob or StatefulSet.

Controllers name what they make: a ReplicaSet's pod has five letters behind it, out of those in
``SafeEncodeString`` (k8s.io/apimachinery, util/rand); a Deployment's ReplicaSet its template's hash
in the same letters, or in digits in old versions; a CronJob's Job the minute it is of; and a
StatefulSet's pod its number.
"""

import re
from typing import Final

_SAFE: Final = "bcdfghjklmnpqrstvwxz2456789"
_MADE: Final = re.compile(rf"(?P<owner>.+)-[{_SAFE}]{{5}}")
_TEMPLATE: Final = re.compile(rf"(?P<owner>.+)-(?:[{_SAFE}]{{6,10}}|\d{{7,11}})")
_NUMBERED: Final = re.compile(r"(?P<owner>.+)-\d{1,6}")

_WORDS: Final = """
after all and app at before by cache call calls change changes changed container containers
containerd cri crio demo end ended event events exited for found from generic global health healthy
held hint image in is job kep kubelet limit list lists lost names namespace node nodes note now of
on or plegscope pleg pod pods poll polling queue record records recording relist relists request
requests restart runtime running sandbox scenario seed session shadow slow source start started
state status stop stopped stops stream sync syncpod test the time to unhealthy unknown was watch web
"""
WORDS: Final = frozenset(_WORDS.split())
"""Words of the trade and of plegscope's own sentences. Alone they tell nothing of anybody, and no
sentence could be read without them."""


def owners(pod: str) -> tuple[str, ...]:
    """Names of what a pod belongs to, the nearest first; those are left out that are but a word."""
    found: list[str] = []
    made = _MADE.fullmatch(pod)
    if made is not None:
        found.append(made["owner"])
        above = _TEMPLATE.fullmatch(made["owner"]) or _NUMBERED.fullmatch(made["owner"])
        if above is not None:
            found.append(above["owner"])
    else:
        numbered = _NUMBERED.fullmatch(pod)
        if numbered is not None:
            found.append(numbered["owner"])
    return tuple(one for one in found if one.lower() not in WORDS)


def is_telling(name: str) -> bool:
    """Whether it is more than a word, so that it is the same wherever it is mentioned."""
    return len(name) > 3 and re.search(r"[-_.0-9]", name) is not None and not name.isdigit()
