"""Selectors of other programs as XPaths: CSS, accessible names and texts."""

import re

_NAME = r"(?:[\w-]|[^\x00-\x7f]|\\[0-9a-fA-F]{1,6}\s?|\\.)+"
_PART = re.compile(
    rf"(?P<tag>\*|{_NAME})|\#(?P<id>{_NAME})|\.(?P<class>{_NAME})"
    rf"|\[\s*(?P<key>{_NAME})\s*(?:(?P<sign>[~|^$*]?=)\s*(?P<value>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|{_NAME})\s*)?\]"
    r"|:(?P<place>(?:first|last|only)-(?:child|of-type)|nth-(?:last-)?(?:child|of-type)\(\s*(?P<number>\d+)\s*\))",
    re.DOTALL,
)
_BETWEEN = re.compile(r"\s*([>+~])\s*|\s+")
_AXES = {None: "//", ">": "/", "+": "/following-sibling::*[1]/self::", "~": "/following-sibling::"}
_SVG = {
    "svg",
    "g",
    "path",
    "circle",
    "rect",
    "use",
    "line",
    "polygon",
    "polyline",
    "ellipse",
    "text",
    "tspan",
}
"""Names that XPath finds in an HTML document only by their local name."""
_LONGEST = 2000


def css_xpath(css: str) -> str:
    """Return the XPath of a CSS selector, or nothing for one that has none or is not understood."""
    css, found, at = css.strip(), "", 0
    combinator: str | None = None
    while css and at < len(css) <= _LONGEST:
        tag, conditions, begin = "*", "", at
        while part := _PART.match(css, at):
            if (part["tag"] is not None and at > begin) or (
                tag == "*" and "of-type" in (part["place"] or "")
            ):
                return ""
            tag = _plain(part["tag"]) if part["tag"] else tag
            conditions += _condition(part, tag)
            at = part.end()
        if at == begin:
            return ""
        name = f'*[local-name()="{tag}"]' if tag in _SVG else tag
        found += f"{_AXES[combinator]}{name}{conditions}"
        if at == len(css):
            return found
        between = _BETWEEN.match(css, at)
        if between is None:
            return ""
        combinator, at = between[1], between.end()
    return ""


def _condition(part: re.Match[str], tag: str) -> str:
    if part["id"]:
        return f"[@id={quoted(_plain(part['id']))}]"
    if part["class"]:
        return _word("class", _plain(part["class"]))
    if part["key"]:
        return _attribute(part)
    if not part["place"]:
        return ""
    sibling = tag if "of-type" in part["place"] else "*"
    before = int(part["number"] or 1) - 1
    sides = ["following" if "last-" in part["place"] else "preceding"]
    if part["place"].startswith("only"):
        sides = ["preceding", "following"]
    return "".join(f"[count({side}-sibling::{sibling})={before}]" for side in sides)


def _attribute(part: re.Match[str]) -> str:
    name, sign = f"@{_plain(part['key'])}", part["sign"]
    if sign is None:
        return f"[{name}]"
    given = part["value"]
    text = _plain(given[1:-1] if given[0] in "\"'" else given)
    value = quoted(text)
    match sign:
        case "=":
            return f"[{name}={value}]"
        case "~=":
            return _word(name[1:], text)
        case "^=":
            return f"[starts-with({name},{value})]"
        case "*=":
            return f"[contains({name},{value})]"
        case "$=":
            return f"[substring({name},string-length({name})-{len(text) - 1})={value}]"
    return f"[{name}={value} or starts-with({name},{quoted(text + '-')})]"


def _word(attribute: str, word: str) -> str:
    return f'[contains(concat(" ",normalize-space(@{attribute})," "),{quoted(f" {word} ")})]'


def _plain(name: str) -> str:
    """Return a name or text without the escapes of CSS."""
    return re.sub(
        r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))",
        lambda found: found[2] or chr(min(int(found[1], 16), 0x10FFFF)),
        name,
        flags=re.DOTALL,
    )


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
