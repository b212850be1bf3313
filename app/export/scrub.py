"""Free texts without names: every known one is replaced, and what looks like an identity as well.

A name is found where no letter or digit stands directly before or after it, in whatever case.
Looked for besides, known or not: what a text mentions as a name (``mentions``), UUIDs, long
hexadecimal numbers, IP addresses, with dots or dashes (``ip-10-0-3-7``), and MAC addresses.
"""

import ipaddress
import re
from typing import Final

from app.export.mentions import mentions
from app.export.names import Kind, Names

TAG: Final = re.compile(r"(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?$", re.ASCII)
"""What may end an image's name."""

Span = tuple[int, int, tuple[Kind, str]]
"""Where a name begins and ends, and what is called so."""

WEAK: Final = frozenset({"label", "value"})
"""Kinds that are no names of their own: a label's value is often the container's name."""

_ATOM: Final = re.compile(r"[^\W_]+")

MOST_LENGTHS: Final = 64
"""Different lengths of names with the same beginning that are tried, the longest first."""

_V4 = r"\d{1,3}(?:\.\d{1,3}){3}"
# Its end may be an IPv4 address (RFC 4291, section 2.2).
_V6 = rf"(?:[0-9a-fA-F]{{0,4}}:){{2,7}}(?:{_V4}|[0-9a-fA-F]{{0,4}})"
_MAC = r"[0-9a-fA-F]{2}(?:(?::[0-9a-fA-F]{2}){5}|(?:-[0-9a-fA-F]{2}){5})"
_IN_V6: Final = re.compile(rf"{_V4}$")
_PATTERN: Final = re.compile(
    r"(?P<uuid>[0-9A-Fa-f]{8}(?:[-_][0-9A-Fa-f]{4}){3}[-_][0-9A-Fa-f]{12})"
    rf"|(?<![\w.])(?P<v4>{_V4})(?![\w.]*\d)"
    r"|(?<![^\W_])(?P<dashed>\d{1,3}(?:-\d{1,3}){3})(?![^\W_])"
    rf"|(?<![^\W_])(?P<mac>{_MAC})(?![^\W_]|[:-]\w)"
    rf"|(?<![\w:])(?P<v6>{_V6})(?![\w:])"
    r"|(?<![^\W_])(?P<hex>(?=[0-9]*[a-f])[0-9a-f]{12,128})(?![^\W_])"
)


class Scrubber:
    """Knows the names to look for; a name that is met later is looked for from then on.

    ``containers``: whether names of containers are looked for by what a text says of them.
    """

    def __init__(self, names: Names, *, containers: bool = False) -> None:
        self._names = names
        self._containers = containers
        self._known: dict[str, tuple[Kind, str]] = {}
        """By the name in lower case, without what stands around its letters."""
        self._lengths: dict[str, list[int]] = {}
        """By a name's first atom: how many atoms names have that begin so, the longest first."""
        self._signs: dict[str, tuple[Kind, str]] = {}
        """Names without a letter or digit."""
        self._told: set[str] = set()
        """Those known ones that are concluded, or told by a text: a field that has one is right."""

    def learn(self, kind: Kind, name: str, also: str = "", *, told: bool = False) -> None:
        """Look for this name; ``also``: another one of the same thing, with the same stand-in.

        ``told``: no field has it.
        """
        self._learn(name, (kind, name), told=told)
        if also:
            self._learn(also, (kind, name), told=told)

    def knows(self, name: str) -> tuple[Kind, str] | None:
        """The thing that is called so."""
        return self._known.get(_core(name).lower())

    def _learn(self, name: str, thing: tuple[Kind, str], *, told: bool) -> None:
        atoms = _ATOM.findall(name)
        if not atoms:
            self._signs[name] = thing
            return
        core = _core(name).lower()
        known = self._known.get(core)
        if known is not None:
            weaker = thing[0] in WEAK
            strong = known[0] not in WEAK
            if weaker or (strong and (told or core not in self._told)):
                return
        self._known[core] = thing
        if told:
            self._told.add(core)
        else:
            self._told.discard(core)
        lengths = self._lengths.setdefault(atoms[0].lower(), [])
        if len(atoms) not in lengths and len(lengths) < MOST_LENGTHS:
            lengths.append(len(atoms))
            lengths.sort(reverse=True)

    def scrub(self, text: str, *, forms: bool = True, weak: bool = True) -> str:
        """The text without names, and without what has an identity's form (``forms``).

        ``weak``: whether labels and their values are names here.
        """
        if not text:
            return text
        for sign, (kind, name) in self._signs.items():
            if sign.strip() and sign in text:
                text = text.replace(sign, self._names.of(kind, name))
        spans = self._known_spans(text, weak=weak)
        if forms:
            spans += self._mentioned_spans(text)
            # Of those that begin at one place the longest, and nothing in what it covers.
            spans.sort(key=lambda span: (span[0], -span[1]))
        out: list[str] = []
        done = 0
        for start, end, thing in spans:
            if start >= done:
                out.append(self._patterns(text[done:start]) if forms else text[done:start])
                out.append(self._stand_in(*thing))
            # What is left of a name that another one cuts off goes with it.
            done = max(done, end)
        out.append(self._patterns(text[done:]) if forms else text[done:])
        return "".join(out)

    def _known_spans(self, text: str, *, weak: bool) -> list[Span]:
        found: list[Span] = []
        spans = [atom.span() for atom in _ATOM.finditer(text)]
        place = 0
        while place < len(spans):
            count = self._found(text, spans, place, weak=weak)
            if count:
                start, end = spans[place][0], spans[place + count - 1][1]
                found.append((start, end, self._known[text[start:end].lower()]))
            place += count or 1
        return found

    def _mentioned_spans(self, text: str) -> list[Span]:
        return [
            (one.start, one.end, self._thing(one.kind, one.name))
            for one in mentions(text)
            if self._containers or one.kind != "container"
        ]

    def _thing(self, kind: Kind, name: str) -> tuple[Kind, str]:
        """What a text means by a name of which it says what of."""
        known = self.knows(name)
        if known is None and kind == "image":
            known = self.knows(TAG.sub("", name))
        return known or (("ip" if _is_address(name) else kind), name)

    def _found(self, text: str, spans: list[tuple[int, int]], place: int, *, weak: bool) -> int:
        """How many atoms from this one on are a name; 0 for none."""
        start, end = spans[place]
        for count in self._lengths.get(text[start:end].lower(), ()):
            last = place + count - 1
            if last >= len(spans):
                continue
            known = self._known.get(text[start : spans[last][1]].lower())
            if known is not None and (weak or known[0] not in WEAK):
                return count
        return 0

    def _stand_in(self, kind: Kind, name: str) -> str:
        if kind == "id":
            return self._names.identity(name)
        return self._names.address(name) if kind == "ip" else self._names.of(kind, name)

    def _patterns(self, text: str) -> str:
        return _PATTERN.sub(self._pattern, text) if len(text) > 2 else text

    def _pattern(self, found: re.Match[str]) -> str:
        text = found[0]
        match found.lastgroup:
            case "dashed":
                dotted = text.replace("-", ".")
                return self._address(dotted).replace(".", "-") if _plain(dotted) else text
            case "mac":
                return self._names.mac(text)
            case "v4":
                return self._address(text)
            case "v6":
                known = self._address(text)
                # A time, or words with colons; behind them may be an address all the same.
                return known if known != text else _IN_V6.sub(self._pattern_in, text)
            case _:
                return self._names.identity(text)

    def _pattern_in(self, found: re.Match[str]) -> str:
        return self._address(found[0])

    def _address(self, text: str) -> str:
        """What stands in for an address; a version that looks like one stays."""
        return self._names.address(text) if _is_address(text) else text


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _plain(dotted: str) -> bool:
    """Whether it is an address as people write it, and neither a date nor a number of a part."""
    return all(part == str(int(part)) for part in dotted.split("."))


def _core(name: str) -> str:
    """From its first letter or digit to its last; all of it if it has none."""
    found = [one.span() for one in _ATOM.finditer(name)]
    return name[found[0][0] : found[-1][1]] if found else name
