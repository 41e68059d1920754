"""The modules that a parser may import, and clear messages if it tries more.

This is not the sandbox: code can bypass it. It turns likely attempts into messages for a person or an LLM;
the kernel refuses the rest.
"""

import builtins
import codecs
import importlib
import sys
import time
from collections.abc import Sequence
from types import ModuleType
from typing import Any

ALLOWED = tuple(
    "__future__ abc base64 bisect bs4 calendar cmath collections contextlib copy csv dataclasses datetime decimal "
    "difflib enum fractions functools hashlib heapq html io itertools json lxml math numbers operator pprint "
    "random re soupsieve statistics string struct textwrap time types typing unicodedata urllib.parse warnings "
    "xml.etree zlib".split()
)
"""What may be imported, each with all its modules."""
_UNDER_THE_HOOD = ("_strptime", "_pylong")
"""What the interpreter imports by itself in the name of the code."""
_LOADED = (
    "bs4.builder._htmlparser bs4.builder._lxml bs4.dammit collections.abc html.entities html.parser lxml.etree "
    "lxml.html lxml.html.soupparser lxml.objectify xml.etree.ElementTree _strptime".split()
)
"""What those modules and their users import late, when no file can be read any more."""
_OPTIONAL = "_pylong bs4.builder._html5lib chardet charset_normalizer cssselect lxml.cssselect lxml.html.clean".split()
_CODECS = (
    "ascii utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 latin-1 cp1252 iso8859-15 idna punycode "
    "unicode_escape raw_unicode_escape hex base64".split()
)

_EVENTS = {
    "open": "open files",
    "os.fork": "start processes",
    "os.exec": "start other programs",
    "os.posix_spawn": "start other programs",
    "os.spawn": "start other programs",
    "os.system": "start other programs",
    "os.startfile": "start other programs",
    "os.kill": "send signals",
    "os.putenv": "change the environment",
    "os.": "touch files or the system",
    "shutil.": "touch files",
    "glob.": "look for files",
    "pathlib.": "touch files",
    "tempfile.": "make files",
    "fcntl.": "touch files",
    "sqlite3.": "open databases",
    "subprocess.": "start other programs",
    "pty.": "start other programs",
    "webbrowser.": "start other programs",
    "socket.": "use the network",
    "urllib.": "use the network",
    "http.": "use the network",
    "ftplib.": "use the network",
    "smtplib.": "use the network",
    "ctypes.": "reach past Python",
    "mmap.": "map memory",
    "pickle.": "load pickles",
    "marshal.": "load compiled code",
    "code.__new__": "make compiled code",
    "gc.": "look through the memory of its process",
    "signal.": "send signals",
    "_thread.start": "start threads",
    "resource.": "change its limits",
    "sys.addaudithook": "watch the interpreter",
    "sys.setprofile": "watch the interpreter",
    "sys.settrace": "watch the interpreter",
    "builtins.breakpoint": "start a debugger",
    "builtins.input": "ask for input",
}


class NotAllowed(PermissionError):
    """The code reached for something a parser has no use for; the text is a sentence."""


class NotImportable(ImportError):
    """The code asked for a module that parsers have no use for; the text is a sentence."""


def load_all(more: Sequence[str] = ()) -> None:
    """Import all that parsers may use, and `more`, while files can still be read."""
    for name in (*ALLOWED, *_LOADED, *more):
        importlib.import_module(name)
    for name in _OPTIONAL:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    for name in _CODECS:
        codecs.lookup(name)
    time.localtime()


def put_up() -> dict[str, Any]:
    """Watch this process from now on; return the builtins for the code, with its own import."""
    sys.meta_path.clear()
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.addaudithook(_on_event)
    return {**vars(builtins), "__import__": _import}


def _on_event(event: str, arguments: tuple[object, ...]) -> None:
    for start, attempt in _EVENTS.items():
        if event.startswith(start):
            raise NotAllowed(f"The code may not {attempt}; it gets the page as a text and returns a text.")


def _import(
    name: str,
    outer: dict[str, Any] | None = None,
    inner: dict[str, Any] | None = None,
    names: Sequence[str] = (),
    level: int = 0,
) -> ModuleType:
    """Import as the statement does, if `name` is on the list."""
    wanted = [name]
    if names and any(allowed.startswith(name + ".") for allowed in ALLOWED):
        wanted = [f"{name}.{item}" for item in names]
    for one in wanted:
        if level or not (_is_allowed(one) or one in _UNDER_THE_HOOD):
            raise NotImportable(f"The code may not import {one!r}, but only {_listed()}.")
    return builtins.__import__(name, outer, inner, names, level)


def _is_allowed(name: str) -> bool:
    return any(name == allowed or name.startswith(allowed + ".") for allowed in ALLOWED)


def _listed() -> str:
    names = [name for name in ALLOWED if name not in ("__future__", "soupsieve")]
    return f"{', '.join(names[:-1])} and {names[-1]}"
