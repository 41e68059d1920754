"""The shared libraries and fonts that QtWebEngine and Playwright need, and their Debian packages.

The wheels contain Qt itself; other linked libraries must be on the system. Before PySide6 is installed, a
table says what will be needed; after that, `ldd` says what is missing.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from core.schema.errors import WorldError
from core.setup.console import answer_of

FONT_PACKAGE = "fonts-dejavu-core"

# Direct needs of the Qt libraries, plugins and programs listed in _PROBES and of Playwright's driver,
# without what every Debian has. Names end in t64 on systems with 64-bit time.
_NEEDED = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libXcomposite.so.1": "libxcomposite1",
    "libXdamage.so.1": "libxdamage1",
    "libXext.so.6": "libxext6",
    "libXfixes.so.3": "libxfixes3",
    "libXrandr.so.2": "libxrandr2",
    "libXtst.so.6": "libxtst6",
    "libasound.so.2": "libasound2",
    "libatomic.so.1": "libatomic1",
    "libbrotlicommon.so.1": "libbrotli1",
    "libbrotlidec.so.1": "libbrotli1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libexpat.so.1": "libexpat1",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libgbm.so.1": "libgbm1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libnspr4.so": "libnspr4",
    "libnss3.so": "libnss3",
    "libnssutil3.so": "libnss3",
    "libsmime3.so": "libnss3",
    "libstdc++.so.6": "libstdc++6",
    "libudev.so.1": "libudev1",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-dri3.so.0": "libxcb-dri3-0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbfile.so.1": "libxkbfile1",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
# What another release of PySide6 or of the system may ask for next to them.
_FURTHER = {
    "libOpenGL.so.0": "libopengl0",
    "libXcursor.so.1": "libxcursor1",
    "libXi.so.6": "libxi6",
    "libXrender.so.1": "libxrender1",
    "libdrm.so.2": "libdrm2",
    "libgobject-2.0.so.0": "libglib2.0-0",
    "libplc4.so": "libnspr4",
    "libplds4.so": "libnspr4",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libwayland-server.so.0": "libwayland-server0",
    "libxcb-present.so.0": "libxcb-present0",
    "libxcb-xinerama.so.0": "libxcb-xinerama0",
}
_PACKAGES = {**_NEEDED, **_FURTHER}
_RENAMED = {"libasound2": "libasound2t64", "libglib2.0-0": "libglib2.0-0t64"}

_PROBES = (
    "PySide6/QtWebEngineWidgets.abi3.so",
    "PySide6/QtWebEngineCore.abi3.so",
    "PySide6/QtSvg.abi3.so",
    "PySide6/QtSvgWidgets.abi3.so",
    "PySide6/QtPrintSupport.abi3.so",
    "PySide6/QtOpenGLWidgets.abi3.so",
    "PySide6/QtTest.abi3.so",
    "PySide6/Qt/libexec/QtWebEngineProcess",
    "PySide6/Qt/plugins/platforms/libqxcb.so",
    "PySide6/Qt/plugins/platforms/libqwayland.so",
    "PySide6/Qt/plugins/platforms/libqoffscreen.so",
    "PySide6/Qt/plugins/xcbglintegrations/libqxcb-egl-integration.so",
    "PySide6/Qt/plugins/xcbglintegrations/libqxcb-glx-integration.so",
    "PySide6/Qt/plugins/tls/libqopensslbackend.so",
    "PySide6/Qt/plugins/imageformats/libqsvg.so",
    "PySide6/Qt/plugins/imageformats/libqjpeg.so",
    "PySide6/Qt/plugins/imageformats/libqwebp.so",
    "PySide6/Qt/plugins/iconengines/libqsvgicon.so",
    "playwright/driver/node",
)
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
_FONT_ENDINGS = (".ttf", ".otf", ".ttc", ".pfb")


@dataclass(frozen=True)
class Missing:
    """What is not on the system."""

    libraries: tuple[str, ...] = ()
    fonts: bool = False

    def __bool__(self) -> bool:
        return bool(self.libraries) or self.fonts

    def sentence(self) -> str:
        """Name what is missing, without the packages."""
        parts = []
        if self.libraries:
            parts.append(f"the shared libraries {', '.join(self.libraries)}")
        if self.fonts:
            parts.append("any font")
        return " and ".join(parts)


def missing_libraries(site_packages: Path) -> Missing:
    """Ask `ldd` what the installed packages link and the system does not have; raises WorldError.

    Finds nothing missing on systems other than Linux, whose wheels bring all.
    """
    if not sys.platform.startswith("linux"):
        return Missing()
    probes = [str(site_packages / probe) for probe in _PROBES if (site_packages / probe).exists()]
    if not probes:
        raise WorldError(f"PySide6 is not in {site_packages}; delete .venv and start again.")
    ldd = shutil.which("ldd", path=_search_path())
    if ldd is None:
        raise WorldError("The command ldd is missing; install it (package libc-bin) and start again.")
    try:
        answer = subprocess.run(
            [ldd, *probes],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorldError(f"{ldd} did not answer ({error}); start again.") from error
    return Missing(not_found(answer.stdout), fonts=not has_fonts())


def likely_missing() -> Missing:
    """Say by the table what will be missing once the packages are installed."""
    if not sys.platform.startswith("linux"):
        return Missing()
    ldconfig = shutil.which("ldconfig", path=_search_path())
    answer = answer_of([ldconfig, "-p"]) if ldconfig is not None else None
    if answer is None:
        return Missing(fonts=not has_fonts())
    mark = {"x86_64": "x86-64", "aarch64": "AArch64"}.get(platform.machine(), "")
    known = {line.split()[0] for line in answer.stdout.splitlines() if "=>" in line and mark in line}
    return Missing(tuple(name for name in _NEEDED if name not in known), fonts=not has_fonts())


def not_found(ldd_output: str) -> tuple[str, ...]:
    """Return the names that `ldd` did not find, each once, sorted."""
    names = {line.split()[0] for line in ldd_output.splitlines() if line.rstrip().endswith("=> not found")}
    return tuple(sorted(names))


def has_fonts(folders: Iterable[str] = _FONT_FOLDERS) -> bool:
    """Whether any font lies where fontconfig looks; without one, pages show no text."""
    return any(
        name.lower().endswith(_FONT_ENDINGS)
        for folder in folders
        for _, _, names in os.walk(os.path.expanduser(folder))
        for name in names
    )


def packages_for(missing: Missing, *, time64: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the Debian packages that bring what is missing, and the libraries no package is known for."""
    packages = {_PACKAGES[name] for name in missing.libraries if name in _PACKAGES}
    if missing.fonts:
        packages.add(FONT_PACKAGE)
    if time64:
        packages = {_RENAMED.get(name, name) for name in packages}
    return tuple(sorted(packages)), tuple(name for name in missing.libraries if name not in _PACKAGES)


def known_packages(*, time64: bool) -> tuple[str, ...]:
    """Return all packages that this module could ask for."""
    return packages_for(Missing(tuple(_PACKAGES), fonts=True), time64=time64)[0]


def _search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
