from pathlib import Path

import pytest

from core.schema.errors import WorldError
from core.setup.libraries import FONT, has_fonts, missing_libraries


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    probe = tmp_path / "site-packages/PySide6/QtWebEngineCore.abi3.so"
    probe.parent.mkdir(parents=True)
    probe.touch()
    return tmp_path / "site-packages"


def test_what_ldd_does_not_find_is_missing_and_named_once(commands, site_packages):
    lines = (
        "libz.so.1 => /lib/libz.so.1 (0x00007f)",
        *("libnss3.so => not found",) * 2,
        "liba.so => not found",
    )
    commands.add("ldd", f"printf '%s\\n' {' '.join(map(repr, lines))}; exit 1")
    assert missing_libraries(site_packages) == ("liba.so", "libnss3.so")


def test_a_font_is_missing_where_there_is_none(commands, site_packages, monkeypatch):
    monkeypatch.setattr("core.setup.libraries.has_fonts", lambda: False)
    commands.add("ldd")
    assert missing_libraries(site_packages) == ("a font",)


def test_the_real_libraries_are_all_looked_up_by_the_real_ldd():
    import sysconfig

    found = missing_libraries(Path(sysconfig.get_path("platlib")))
    assert all(name.startswith("lib") for name in found if name != FONT)


def test_an_environment_without_pyside6_is_told_apart(tmp_path):
    with pytest.raises(WorldError, match="PySide6 is not in"):
        missing_libraries(tmp_path)


def test_a_font_is_found_in_any_depth(tmp_path):
    assert not has_fonts([str(tmp_path)])
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/Sans.TTF").touch()
    assert has_fonts([str(tmp_path)])
