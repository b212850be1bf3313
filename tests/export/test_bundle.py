"""Modules become one script, in the order in which they would have run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from app.errors import InstallationError
from app.export.bundle import bundle
from app.resources import static_dir

MODULES = {
    "entry": """
import { double, NAME as name } from "./a.js";
import { even } from "./even.js";
import "./effect.js";
const mine = 1;
console.log(JSON.stringify([double(2), name, even(5), even(6), globalThis.order, mine]));
""",
    "a": """
// import { nothing } from "./comment.js";
import { two } from "./b.js";
const mine = 7;
export const NAME = "a";
export function double(value) { return value * two() * mine / 7; }
""",
    "b": """
export { two } from "./c.js";
""",
    "c": """
(globalThis.order ??= []).push("c");
const hidden = 2;
export { hidden as other };
export function two() { return hidden; }
export class Unused {}
export async function late() {}
""",
    "even": """
import { odd } from "./odd.js";
export function even(value) { return value === 0 || odd(value - 1); }
""",
    "odd": """
import { even } from "./even.js";
export function odd(value) { return value !== 0 && even(value - 1); }
""",
    "effect": """
globalThis.order.push("effect");
""",
}


def written(folder: Path, **changed: str) -> Path:
    for name, text in (MODULES | changed).items():
        (folder / f"{name}.js").write_text(text)
    return folder


def run(text: str) -> str:
    done = subprocess.run(
        ["node", "--input-type=module", "-"], input=text, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_bundle_does_what_the_modules_do(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    apart = subprocess.run(
        ["node", "entry.js"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    told = '[4,"a",false,true,["c","effect"],1]'
    assert apart.stdout.strip() == told
    assert run(bundle(tmp_path, "entry")) == told


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('import * as all from "./a.js";', "import [*]"),
        ('import one from "./a.js";', "import one"),
        ("export default 1;", "export default"),
        ("export let changing = 1;", "export let"),
        ('const end = "</script>";', "script element"),
        ('const end = "<!-- x";', "script element"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, line: str, what: str) -> None:
    written(tmp_path, c=MODULES["c"] + line + "\n")
    with pytest.raises(InstallationError, match=what):
        bundle(tmp_path, "entry")


def test_what_modules_in_a_circle_keep_to_themselves_may_have_one_name(tmp_path: Path) -> None:
    changed = {
        name: MODULES[name].replace("value - 1", "value - one()") + "function one() { return 1; }\n"
        for name in ("even", "odd")
    }
    written(tmp_path, **changed)
    assert run(bundle(tmp_path, "entry")) == '[4,"a",false,true,["c","effect"],1]'


@pytest.mark.parametrize(
    ("even", "odd", "what"),
    [
        ("export const same = 1;\n", "export const same = 1;\n", "second 'same'"),
        ('import { odd as strange } from "./odd.js";\n', "", "calls 'odd' 'strange'"),
    ],
)
def test_in_a_circle_what_is_shared_has_one_name(
    tmp_path: Path, even: str, odd: str, what: str
) -> None:
    written(tmp_path, even=MODULES["even"] + even, odd=MODULES["odd"] + odd)
    with pytest.raises(InstallationError, match=what):
        bundle(tmp_path, "entry")


def test_a_module_that_is_missing_is_named(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "b.js").unlink()
    with pytest.raises(InstallationError, match=r"b\.js is missing"):
        bundle(tmp_path, "entry")


def test_the_pages_own_modules_can_be_bundled() -> None:
    text = bundle(static_dir() / "js", "export")
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    checked = subprocess.run(
        ["node", "--input-type=module", "--check", "-"], input=text, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
