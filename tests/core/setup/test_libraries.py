from pathlib import Path

import pytest

from core.schema.errors import WorldError
from core.setup.libraries import (
    Missing,
    has_fonts,
    likely_missing,
    missing_libraries,
    not_found,
    packages_for,
)

LDD = """
PySide6/QtWebEngineCore.abi3.so:
	linux-vdso.so.1 (0x00007ffd)
	libnss3.so => not found
	libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f)
	libasound.so.2 => not found
PySide6/Qt/libexec/QtWebEngineProcess:
	libnss3.so => not found
"""


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    probe = tmp_path / "site-packages/PySide6/QtWebEngineCore.abi3.so"
    probe.parent.mkdir(parents=True)
    probe.touch()
    return tmp_path / "site-packages"


def test_a_library_that_several_files_miss_is_named_once():
    assert not_found(LDD) == ("libasound.so.2", "libnss3.so")


def test_what_ldd_does_not_find_is_missing(commands, site_packages):
    commands.add("ldd", "printf '\\tlibnss3.so => not found\\n'; exit 1")
    assert missing_libraries(site_packages).libraries == ("libnss3.so",)


def test_the_real_libraries_are_all_looked_up_by_the_real_ldd():
    import sysconfig

    found = missing_libraries(Path(sysconfig.get_path("platlib")))
    assert all(name.startswith("lib") for name in found.libraries)


def test_an_environment_without_pyside6_is_told_apart(tmp_path):
    with pytest.raises(WorldError, match="PySide6 is not in"):
        missing_libraries(tmp_path)


def test_before_the_packages_are_there_the_table_says_what_will_be_missing(commands):
    commands.add("ldconfig", "/sbin/ldconfig -p | grep -v libnss3.so")
    commands.add("ldd")
    assert "libnss3.so" in likely_missing().libraries


def test_packages_are_named_once_and_sorted():
    missing = Missing(("libsmime3.so", "libnss3.so", "libasound.so.2"))
    assert packages_for(missing, time64=False) == (("libasound2", "libnss3"), ())


def test_packages_renamed_for_64_bit_time_have_their_new_names():
    missing = Missing(("libasound.so.2", "libgthread-2.0.so.0"))
    assert packages_for(missing, time64=True)[0] == ("libasound2t64", "libglib2.0-0t64")


def test_a_library_without_a_known_package_is_given_back():
    assert packages_for(Missing(("libnew.so.9",)), time64=False) == ((), ("libnew.so.9",))


def test_without_any_font_a_font_package_is_wanted():
    assert packages_for(Missing(fonts=True), time64=False)[0] == ("fonts-dejavu-core",)


def test_a_font_is_found_in_any_depth(tmp_path):
    assert not has_fonts([str(tmp_path)])
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/Sans.TTF").touch()
    assert has_fonts([str(tmp_path)])


def test_the_sentence_names_libraries_and_fonts():
    assert Missing(("libnss3.so",), fonts=True).sentence() == "the shared libraries libnss3.so and any font"
