"""Selectors of other programs as XPaths: CSS, accessible names and texts."""

import re

from cssselect import HTMLTranslator, SelectorError
from lxml.etree import XPath, XPathSyntaxError  # type: ignore[import-untyped]

_SVG = re.compile(
    r"(?<=[/:])(svg|g|path|circle|rect|use|line|polygon|polyline|ellipse|text|tspan)(?=[\[/ ]|$)"
)
"""Elements that XPath finds in an HTML document only by their local name."""
_LONGEST = 2000


def css_xpath(css: str) -> str:
    """Return the XPath of a CSS selector, or nothing for one that has none or is not understood."""
    if not css.strip() or len(css) > _LONGEST:
        return ""
    try:
        xpath = HTMLTranslator().css_to_xpath(css, prefix="//")
        XPath(xpath)
    except (SelectorError, XPathSyntaxError, ValueError, RecursionError):
        return ""
    # What depends on the pointer or the like is translated to what is never there.
    return "" if "[0]" in xpath else _SVG.sub(r'*[local-name()="\1"]', xpath)


def text_xpath(text: str) -> str:
    """Return the XPath of the innermost element with this text."""
    same = f"normalize-space()={quoted(' '.join(text.split()))}"
    return f"//*[{same} and not(*[{same}])]"


def name_xpath(name: str) -> str:
    """Return the XPath of the first element with this accessible name: by attribute, label or text."""
    wanted = quoted(" ".join(name.split()))
    same = f"normalize-space()={wanted}"
    attributes = " or ".join(f"@{one}={wanted}" for one in ("aria-label", "alt", "title", "placeholder"))
    return (
        f"(//*[{attributes} or self::input[@value={wanted}] or @id=//label[{same}]/@for"
        f" or {same} and not(*[{same}]) and not(self::label)])[1]"
    )


def quoted(text: str) -> str:
    """Return the text as XPath quotes it."""
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    parts = ", '\"', ".join(f'"{part}"' for part in text.split('"'))
    return f"concat({parts})"
