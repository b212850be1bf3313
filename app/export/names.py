"""What stands in for a name: the same for the same, and nothing of what it was.

Names become ``pod-1``, ``ns-2`` in the order in which they were met. Identities (UIDs, container
IDs) and addresses keep their form and get other digits, made with a key by HMAC-SHA-256. The key is
made anew each time and forgotten, unless somebody keeps one in a file: then names get letters
made with it instead of numbers (``pod-k7qf3mzd``), so that several files agree. A stand-in that is
somebody's name is not used.
"""

import base64
import errno
import hmac
import ipaddress
import os
import re
import secrets
import stat
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from app.errors import RecordingError

Kind = Literal[
    "pod", "namespace", "node", "container", "image", "label", "value", "ip", "id", "file",
    "workload", "object", "host", "url", "account", "path",
]  # fmt: skip

WORDS: Final[dict[Kind, str]] = {
    "pod": "pod",
    "namespace": "ns",
    "node": "node",
    "container": "container",
    "image": "image",
    "label": "label",
    "value": "value",
    "file": "recording",
    "workload": "workload",
    "object": "object",
    "host": "host",
    "url": "address",
    "account": "account",
    "path": "path",
}

MOST_NAMES: Final = 600_000
"""Names in one file: some 250 MB, and more than two days of a Job and its pod a second."""

MOST_LETTERS: Final = 256
"""Characters of a name that is looked for in texts (Kubernetes' own end at 253). A longer value,
such as a manifest in an annotation, is replaced where it stands, and only its digest is kept."""

SHORT_ID: Final = 12
"""Digits to which container IDs are often cut; the short form's stand-in begins the long form's."""

KEY_BYTES: Final = 32
MOST_KEY: Final = 4096

UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:[-_][0-9A-Fa-f]{4}){3}[-_][0-9A-Fa-f]{12}")
HEX: Final = re.compile(r"(?=[0-9]*[a-f])[0-9a-f]{12,128}")


class Names:
    """All names of a file, each with its stand-in.

    Args:
        key: the secret.
        lasting: whether the key is kept, so that the stand-ins must follow from it alone.
    """

    def __init__(self, key: bytes, *, lasting: bool = False) -> None:
        self._key = key
        self._lasting = lasting
        self._known: dict[tuple[Kind, str], str] = {}
        self._numbers: dict[Kind, int] = {}
        self._taken: set[str] = set()
        self.originals: set[str] = set()
        """All names that were met, in lower case; none of them may be a stand-in."""

    def meet(self, kind: Kind, name: str) -> bool:
        """Learn a name; returns whether it is new.

        Raises:
            RecordingError: there are more names than any recording has.
        """
        told, name = name, _kept(name)
        if not name or (kind, name) in self._known:
            return False
        if len(self._known) >= MOST_NAMES:
            raise RecordingError(
                f"There are more than {MOST_NAMES:,} names in it, which is more than can be kept "
                "apart. Redact a shorter recording."
            )
        # Its stand-in is found when all names are known.
        self._known[kind, name] = ""
        if name == told:
            self.originals.add(name.lower())
        return True

    def of(self, kind: Kind, name: str) -> str:
        """The stand-in of a name; empty for an empty one."""
        if not name:
            return ""
        key = (kind, _kept(name))
        found = self._known.get(key, "")
        if not found:
            self.meet(kind, name)
            self._known[key] = found = self._made(kind, name)
        return found

    def identity(self, text: str) -> str:
        """What stands in for a UID or an ID, in the same form."""
        if UUID.fullmatch(text):
            digits = re.sub("[-_]", "", text).lower()
            made = iter(self._digest("id", digits)[:32])
            return re.sub("[0-9A-Fa-f]", lambda _digit: next(made), text)
        if HEX.fullmatch(text):
            short = self._digest("id", text[:SHORT_ID])[:SHORT_ID]
            return (short + self._digest("id", text)[SHORT_ID:])[: len(text)]
        return self.of("id", text)

    def address(self, text: str) -> str:
        """What stands in for an IP address: one that nobody has (RFC 1112, RFC 3849)."""
        try:
            version = ipaddress.ip_address(text).version
        except ValueError:
            return self.of("value", text)
        found = self._known.get(("ip", text), "")
        if not found:
            self.meet("ip", text)
            self._known["ip", text] = found = self._free_address(text, version)
        return found

    def mac(self, text: str) -> str:
        """What stands in for a MAC address: one that no maker gives away (IEEE 802, the bit for
        locally administered), with the same signs between."""
        plain = re.sub("[:-]", "", text).lower()
        made = iter("02" + self._digest("mac", plain)[:10])
        return re.sub("[0-9A-Fa-f]", lambda _digit: next(made), text)

    def _free_address(self, text: str, version: int) -> str:
        for attempt in range(1000):
            digest = int(self._digest("ip", f"{attempt} {text}")[:16], 16)
            if version == 4:
                made = str(ipaddress.IPv4Address(0xF0000000 | digest & 0x0FFFFFFF))
            else:
                made = str(ipaddress.IPv6Address(0x20010DB8 << 96 | digest))
            if self._take(made):
                return made
        raise RecordingError("There are too many addresses in it. Redact a shorter recording.")

    def _made(self, kind: Kind, name: str) -> str:
        word = WORDS.get(kind, "id")
        if self._lasting or kind == "id":
            letters = base64.b32encode(bytes.fromhex(self._digest(kind, name))).decode().lower()
            for size in range(8, len(letters)):
                if self._take(f"{word}-{letters[:size]}"):
                    return f"{word}-{letters[:size]}"
        number = self._numbers.get(kind, 0)
        while True:
            number += 1
            if self._take(f"{word}-{number}"):
                self._numbers[kind] = number
                return f"{word}-{number}"

    def _take(self, made: str) -> bool:
        if made in self._taken or made in self.originals:
            return False
        self._taken.add(made)
        return True

    def _digest(self, kind: str, text: str) -> str:
        """64 hexadecimal digits, and as many again for what is longer."""
        data = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
        first = hmac.new(self._key, data, sha256).hexdigest()
        return (
            first
            if len(text) <= 64
            else first + hmac.new(self._key, data + b"\1", sha256).hexdigest()
        )


def _kept(name: str) -> str:
    """What is kept of a name to know it by."""
    if len(name) <= MOST_LETTERS:
        return name
    return f"\0{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"


def read_key(path: str) -> tuple[bytes, bool]:
    """The key in a file, which is made if it is not there (mode 0600), and whether it is kept.

    An empty path: a key that nobody keeps.

    Raises:
        RecordingError: the file cannot be read or made, or has too little in it.
    """
    if not path:
        return secrets.token_bytes(KEY_BYTES), False
    try:
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            number = os.open(path, flags, 0o600)
        except FileExistsError:
            if not stat.S_ISREG(Path(path).stat().st_mode):
                raise OSError(errno.EINVAL, "it is no regular file") from None
            with Path(path).open("rb") as file:
                key = file.read(MOST_KEY)
        else:
            key = secrets.token_hex(KEY_BYTES).encode() + b"\n"
            with os.fdopen(number, "wb") as file:
                file.write(key)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordingError(
            f"The key file {path} cannot be used ({reason}). Give another --key-file."
        ) from error
    if len(key.strip()) < 16:
        raise RecordingError(
            f"The key file {path} has fewer than 16 bytes, which can be guessed. Give another "
            "--key-file, or one that is not there: it is made then."
        )
    return key.strip(), True
