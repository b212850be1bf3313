"""The second MCAP reader comes whole, checked, and once."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from pathlib import Path

import ci_needs
import mcapreader
import pytest
from ci_needs import Missing
from hatch_build import Asset, BuildError

FILES = {
    "package/package.json": b"{}",
    "package/dist/index.js": b"export {};",
    "package/dist/index.d.ts": b"export {};",
    "package/LICENSE": b"a licence",
    "package/../../evil.js": b"out of the directory",
    "elsewhere/index.js": b"of another",
}


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def use(monkeypatch: pytest.MonkeyPatch, tarball: bytes) -> list[Asset]:
    """Let npm bring this; returns what it is asked for."""
    asked: list[Asset] = []

    def pack(asset: Asset, directory: Path) -> Path:
        asked.append(asset)
        (directory / "it.tgz").write_bytes(tarball)
        return directory / "it.tgz"

    digest = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    names = ("@some/reader", "part")
    monkeypatch.setattr(
        mcapreader,
        "PACKAGES",
        tuple(Asset(name, "1.2.3", f"sha512-{digest}", name, {}) for name in names),
    )
    monkeypatch.setattr(mcapreader, "npm_pack", pack)
    return asked


def test_it_is_fetched_once_and_only_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = use(monkeypatch, packed(FILES))
    cache = tmp_path / "cache"
    home = mcapreader.reader(cache)
    assert home == mcapreader.reader(cache) == cache / "mcap-reader-1.2.3"
    assert [asset.package for asset in asked] == ["@some/reader", "part"]
    there = {str(one.relative_to(home)) for one in home.rglob("*") if one.is_file()}
    kept = ("LICENSE", "package.json", "dist/index.js")
    assert there == {
        f"node_modules/{name}/{one}" for name in ("@some/reader", "part") for one in kept
    }
    assert [one.name for one in tmp_path.iterdir()] == ["cache"]


def test_others_than_the_pinned_ones_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, packed(FILES))
    wrong = [one._replace(integrity="sha512-other") for one in mcapreader.PACKAGES]
    monkeypatch.setattr(mcapreader, "PACKAGES", tuple(wrong))
    with pytest.raises(BuildError, match="another"):
        mcapreader.reader(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_one_without_its_description_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, packed({"package/index.js": b""}))
    with pytest.raises(BuildError, match=r"no package\.json"):
        mcapreader.reader(tmp_path)


def test_where_it_cannot_be_had_its_tests_are_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> Path:
        raise BuildError("no registry")

    monkeypatch.setattr(mcapreader, "reader", refuse)
    assert ci_needs.reader() == Missing("no registry", "make test ONLY=reader")
