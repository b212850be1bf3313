"""All scripts of a page as one, for a page that has no server to get them from.

Works on the modules of ``static/js`` as they are written: an ``import { … } from "./x.js";`` or an
``export`` stands at the beginning of a line, and nothing is imported in any other way. Each module
becomes a function that returns what it exports; modules that import each other stand in one more,
which has what they export as its variables. Whatever else is met is refused, so that a module which
is written otherwise is noticed by a test and not by a reader.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from app.errors import InstallationError

_FROM: Final = re.compile(
    r'^(?:import|export) \{([^}]*)\} from "\./([\w-]+)\.js";\n?', re.MULTILINE
)
_BARE: Final = re.compile(r'^import "\./([\w-]+)\.js";\n?', re.MULTILINE)
_DECLARED: Final = re.compile(
    r"^export (?=(?:const|class|function|async function)\s+([A-Za-z_$][\w$]*))", re.MULTILINE
)
_LISTED: Final = re.compile(r"^export \{([^}]*)\};\n?", re.MULTILINE)
_OTHER: Final = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_CLOSING: Final = re.compile(r"</script|<!--", re.IGNORECASE)


class _Module:
    """A module taken apart. ``imports``: name here and name there, by module."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.imports: dict[str, list[tuple[str, str]]] = {}
        self.exports: dict[str, str] = {}
        text = _FROM.sub(self._imported, text)
        text = _BARE.sub(lambda found: self._needs(found[1]), text)
        text = _DECLARED.sub(self._declared, text)
        self.text = _LISTED.sub(self._listed, text)
        other = _OTHER.search(self.text)
        if other is not None or _CLOSING.search(text):
            what = other[0] if other else "what would end a script element"
            raise InstallationError(
                f"static/js/{name}.js has {what[:80]!r}, which cannot be bundled. Install "
                "plegscope again, or report this."
            )

    def _needs(self, module: str) -> str:
        self.imports.setdefault(module, [])
        return ""

    def _imported(self, found: re.Match[str]) -> str:
        self._needs(found[2])
        pairs = list(_pairs(found[1]))
        if found[0].startswith("export"):
            # Handed on: it needs a name here, which nothing else has.
            for theirs, ours in pairs:
                self.imports[found[2]].append((f"{ours}$on", theirs))
                self.exports[ours] = f"{ours}$on"
        else:
            self.imports[found[2]] += [(ours, theirs) for theirs, ours in pairs]
        return ""

    def _declared(self, found: re.Match[str]) -> str:
        self.exports[found[1]] = found[1]
        return ""

    def _listed(self, found: re.Match[str]) -> str:
        for ours, told in _pairs(found[1]):
            self.exports[told] = ours
        return ""


def bundle(folder: Path, entry: str) -> str:
    """The module ``entry`` (without ``.js``) and all that it needs, as the text of one module.

    Args:
        folder: where the modules are.
        entry: runs last.

    Raises:
        InstallationError: a module is not there, or is written in a way that is not understood.
    """
    modules: dict[str, _Module] = {}
    wanted = [entry]
    while wanted:
        name = wanted.pop()
        if name not in modules:
            modules[name] = _Module(name, _read(folder / f"{name}.js"))
            wanted += modules[name].imports
    return "\n".join(_group(modules, group) for group in _groups(modules, entry))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InstallationError(f"{path} is missing. Install plegscope again.") from error


def _pairs(listed: str) -> Iterator[tuple[str, str]]:
    """``a, b as c`` as (a, a), (b, c)."""
    for one in listed.split(","):
        words = one.split()
        if words:
            yield words[0], words[-1]


def _groups(modules: dict[str, _Module], entry: str) -> list[list[str]]:
    """Modules in the order in which they run; those that need each other together (Tarjan)."""
    order: list[list[str]] = []
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for needed in modules[name].imports:
            if needed not in index:
                visit(needed)
                low[name] = min(low[name], low[needed])
            elif needed in stack:
                low[name] = min(low[name], index[needed])
        if low[name] == index[name]:
            place = stack.index(name)
            # The one that was visited last has nothing left to wait for, and runs first.
            order.append(stack[place:][::-1])
            del stack[place:]

    visit(entry)
    return order


def _group(modules: dict[str, _Module], group: list[str]) -> str:
    """The modules of a group, each a function of its own."""
    if len(group) == 1:
        return f"const {_variable(group[0])} = {_function(modules[group[0]])};"
    # Modules that need each other see what they import once all have run: as variables around
    # them, whose names are theirs. Nothing else of a module is seen by another.
    shared: dict[str, str] = {}
    lines: list[str] = []
    for name in group:
        module = modules[name]
        for told in module.exports:
            if shared.setdefault(told, name) != name:
                raise _refused(name, f"exports a second {told!r}", group)
        for needed in set(module.imports) & set(group):
            for ours, theirs in module.imports[needed]:
                if ours != theirs:
                    raise _refused(name, f"calls {theirs!r} {ours!r}", group)
        given = f"({{ {', '.join(module.exports)} }} = {_function(module, group)});"
        lines.append(given if module.exports else f"{_function(module, group)};")
    made = "".join(
        f"const {_variable(name)} = {{ {', '.join(modules[name].exports)} }};\n" for name in group
    )
    names = f"let {', '.join(shared)};\n" if shared else ""
    body = "\n".join(lines)
    variables = ", ".join(map(_variable, group))
    return (
        f"const {{ {variables} }} = (() => {{\n{names}{body}\n{made}"
        f"return {{ {variables} }};\n}})();"
    )


def _function(module: _Module, group: Sequence[str] = ()) -> str:
    """A call that runs a module and returns what it exports; ``group``: of whom it knows the
    exports without asking."""
    opening = "\n".join(
        f"const {{ {theirs}: {ours} }} = {_variable(needed)};"
        for needed, pairs in module.imports.items()
        if needed not in group
        for ours, theirs in dict.fromkeys(pairs)
    )
    told = ", ".join(f"{told}: {ours}" for told, ours in module.exports.items())
    return f"(() => {{\n{opening}\n{module.text.rstrip()}\nreturn {{ {told} }};\n}})()"


def _refused(name: str, what: str, group: list[str]) -> InstallationError:
    return InstallationError(
        f"static/js/{name}.js {what} and cannot be bundled with {', '.join(group)}. Install "
        "plegscope again, or report this."
    )


def _variable(module: str) -> str:
    """What a module's exports are called: no module has such a name itself."""
    return "$$" + re.sub(r"\W", "_", module)
