"""TypeScript comes whole, checked, and once; and the browser's modules keep their types."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

import ci_needs
import pytest
import run_tests
import typescript
from ci_needs import Missing
from hatch_build import Asset, BuildError

FILES = {
    "package/lib/tsc.js": b"// the compiler",
    "package/lib/_tsc.js": b"// more of it",
    "package/lib/lib.es5.d.ts": b"interface Array<T> {}",
    "package/lib/typescript.js": b"// for programs, not for us",
    "package/LICENSE.txt": b"a licence",
    "package/lib/../../../lib.evil.d.ts": b"out of the directory",
    "package/lib/de/lib.deep.d.ts": b"elsewhere",
}


class Registry:
    """Stands in for npm."""

    def __init__(self, files: dict[str, bytes]) -> None:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as tar:
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
            link = tarfile.TarInfo("package/lib/lib.link.d.ts")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(link)
        self.tarball = out.getvalue()
        self.asked = 0

    def pack(self, _asset: Asset, directory: Path) -> Path:
        self.asked += 1
        path = directory / "typescript.tgz"
        path.write_bytes(self.tarball)
        return path


def use(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]) -> Registry:
    registry = Registry(files)
    monkeypatch.setattr(typescript, "npm_pack", registry.pack)
    digest = base64.b64encode(hashlib.sha512(registry.tarball).digest()).decode()
    pinned = typescript.PACKAGE._replace(integrity=f"sha512-{digest}")
    monkeypatch.setattr(typescript, "PACKAGE", pinned)
    return registry


def test_it_is_fetched_once_and_only_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = use(monkeypatch, FILES)
    cache = tmp_path / "cache"
    path = typescript.compiler(cache)
    assert path == typescript.compiler(cache)
    assert registry.asked == 1
    assert path.read_bytes() == b"// the compiler"
    there = sorted(str(one.relative_to(cache)) for one in cache.rglob("*") if one.is_file())
    home = f"typescript-{typescript.PACKAGE.version}"
    names = ("LICENSE.txt", "lib/_tsc.js", "lib/lib.es5.d.ts", "lib/tsc.js")
    assert there == [f"{home}/{name}" for name in names]
    assert [one.name for one in tmp_path.iterdir()] == ["cache"]


def test_another_package_than_the_pinned_one_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = use(monkeypatch, FILES)
    registry.tarball = Registry({**FILES, "package/lib/tsc.js": b"// evil"}).tarball
    with pytest.raises(BuildError, match="Do not use it"):
        typescript.compiler(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_package_without_a_compiler_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, {"package/LICENSE.txt": b"a licence"})
    with pytest.raises(BuildError, match=r"has no lib/tsc\.js"):
        typescript.compiler(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_fetched_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> Path:
        raise BuildError("no registry")

    monkeypatch.setattr(typescript, "compiler", refuse)
    assert ci_needs.typescript() == Missing("no registry", "make lint")
    monkeypatch.setattr(run_tests, "checks", lambda *_commands: run_tests.Result(1))
    result = run_tests.types()
    assert (result.passed, result.failed) == (1, 0)
    assert result.left_out == [Missing("no registry", "make lint")]


@pytest.mark.parametrize(
    ("script", "code"),
    [("/** @type {number} */ export const a = 1;", 0), ("/** @type {number} */ let a = '';", 2)],
)
def test_a_wrong_type_is_found(tmp_path: Path, script: str, code: int) -> None:
    compiler, node = ci_needs.typescript(), ci_needs.node()
    assert isinstance(compiler, Path)
    assert node is not None
    config = json.loads(typescript.CONFIG.read_text())
    config["include"] = ["x.js"]
    config["compilerOptions"]["noUnusedLocals"] = False
    (tmp_path / "tsconfig.json").write_text(json.dumps(config))
    (tmp_path / "x.js").write_text(f"// @ts-check\n{script}\n")
    command = [str(node), str(compiler), "--project", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code, done.stdout
    assert ("is not assignable" in done.stdout) == bool(code)
