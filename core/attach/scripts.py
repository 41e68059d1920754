"""Scripts that an agent runs in a page: what they do if they are the client's own, and how the agent's are tried.

V8 runs a script with `throwOnSideEffect` only as far as it certainly changes nothing. One that passes this trial only
reads; one that does not may act. Functions of Playwright and Puppeteer run in a world of their own, or get Playwright's
injected script; what they do is known from the functions that they call.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Message = dict[str, Any]
LIBRARY_WORLDS = ("__playwright_utility_world", "__puppeteer_utility_world")
"""How the names of the worlds begin in which clients run only their own functions."""
_UTILITY = "utilityScript.evaluate("
"""How Playwright calls each function, its own and its user's: the function is the first text of the arguments."""
_INJECTED = re.compile(r"\s*\(*(?:async\b)?[\s(\[{]*injected\w*\b")
"""How functions begin that are given Playwright's injected script."""
_BUNDLE = re.compile(r"\s*\(\(\) => \{\s*const module = \{\};")
"""How Playwright brings its injected scripts into a page."""
_CALLED = re.compile(
    r"\binjected\w*\.(dispatchEvent|fill|selectOptions|setInputFiles|setupHitTargetInterceptor|selectText"
    r"|blurNode|focusNode)\("
)
_OF_MCP = re.compile(
    r"async \((?:element, )?expr\) => \{\s*const value = eval\(`\(\$\{expr\}\)`\);[^;]*;[^;]*;[^;]*;\s*\}$"
)
_GIVES_TEXT = "functionText"
_SEARCH = re.compile(r"\binjected\w*\.querySelectorAll\(")
_PUPPETEER_CONTENT = (
    "()=>{letcontent='';for(constnodeofdocument.childNodes){switch(node){casedocument.documentElement:"
    "content+=document.documentElement.outerHTML;break;default:"
    "content+=newXMLSerializer().serializeToString(node);break;}}returncontent;}"
)
"""Puppeteer's function for the whole page, without white space: V8 takes an `XMLSerializer` for a side effect."""
_LAYOUT = re.compile(r"//# sourceURL=.*|\s")
_ACTS = re.compile(
    r"\.(?:click|submit|requestSubmit|dispatchEvent|focus|blur|select)\s*\(|\bdocument\.(?:write|execCommand)\s*\("
    r"|\bcreateElement\s*\(\s*['\"`](?:script|style|link)\b"
    r"|\.(?:value|checked|selected|selectedIndex)\s*=[^=]"
)
"""How scripts act on an element or its document without Playwright's injected script."""
_PICTURE = re.compile(r"\(*function inPagePrepareForScreenshots\(")
"""How Playwright's function begins that gives the page a style for as long as a picture is taken."""
_SIDE_EFFECT = "EvalError: Possible side-effect in debug-evaluate"
_SYNTAX = "SyntaxError"


class Script(NamedTuple):
    """One script of a message."""

    words: str
    """The function or the expression."""
    handles: tuple[str, ...] = ()
    """The objects that it is given."""
    given: tuple[Any, ...] = ()
    """Its arguments, as Playwright writes them."""
    own: bool = False
    """Whether it is the client's own."""
    calls: str = ""
    """What it calls of Playwright's injected script that does something in the page."""

    @property
    def objects(self) -> tuple[str, ...]:
        """The handles of what may be the element that it is about."""
        return self.handles[1:] if _INJECTED.match(self.words) else self.handles

    @property
    def shown(self) -> str:
        """The script as a person reads it, with its arguments."""
        words, values = self.run
        given = ", ".join(_literal(value, "element") for value in values if value not in _NONE)
        return f"{words} ({given})" if given else words

    @property
    def run(self) -> tuple[str, tuple[Any, ...]]:
        """The function that is run, and its arguments; Playwright's MCP server gives it to one of its own as a text."""
        if _OF_MCP.match(self.words):
            text = next((one for one in reversed(self.given) if isinstance(one, str)), "")
            if text:
                return text, tuple(one for one in self.given if one is not text)
        return self.words, self.given

    @property
    def searches(self) -> bool:
        """Whether Playwright looks for an element, as it does after each attempt that failed."""
        return _SEARCH.search(self.words) is not None

    @property
    def acts(self) -> bool:
        """Whether a script of the client's own does something in the page other than by the injected script."""
        if not self.own or self.calls or _BUNDLE.match(self.words) or _PICTURE.match(self.words):
            return False
        return names_act(self.words)

    def named(self, *names: str) -> Any:
        """Return the first of the arguments that has one of these names; None if there is none."""
        found = dict(reversed([pair for one in self.given for pair in _named(one)]))
        return next((found[name] for name in names if name in found), None)


_NONE = ({"v": "undefined"}, {"v": "null"})
"""Arguments that say nothing: Playwright gives one of them to a function without any."""


def script_of(message: Message, *, in_library: bool = False) -> Script | None:
    """Return the script that a message runs; `in_library` says that it is in the world of a client's own functions."""
    given = message.get("params") or {}
    if message.get("method") not in ("Runtime.evaluate", "Runtime.callFunctionOn"):
        return None
    words = str(given.get("expression") or given.get("functionDeclaration") or "")
    arguments: list[Message] = given.get("arguments") or []
    if _UTILITY not in words:
        handles = tuple(one["objectId"] for one in (given, *arguments) if one.get("objectId"))
        own = in_library or _BUNDLE.match(words) is not None or _LAYOUT.sub("", words) == _PUPPETEER_CONTENT
        return Script(words, handles, own=own)
    handles = tuple(argument["objectId"] for argument in arguments[1:] if argument.get("objectId"))
    at, words = next(
        ((at, one["value"]) for at, one in enumerate(arguments) if isinstance(one.get("value"), str)),
        (len(arguments), ""),
    )
    values = tuple(argument.get("value") for argument in arguments[at + 2 :] if "objectId" not in argument)
    own = in_library or _INJECTED.match(words) is not None
    script = Script(words, handles, values, own)
    if not own:
        return script
    # Functions that are given to its functions stand in arguments such as `functionText`.
    pairs = (pair for value in values for pair in _named(value)) if _GIVES_TEXT in words else ()
    inner = [str(text) for name, text in pairs if name.endswith("Text")]
    called = next(filter(None, map(_CALLED.search, (words, *inner))), None)
    return script._replace(calls=called[1]) if called else script


def trials_of(message: Message, script: Script) -> list[Message]:
    """Return messages that try a script, the likeliest first; a further one is for one that is no expression.

    Each is a method and its parameters. There is none for a script that cannot be tried.
    """
    given, method = message["params"], message["method"]
    if _UTILITY not in str(given.get("functionDeclaration")):
        return [{"method": method, "params": {**given, "awaitPromise": False, "throwOnSideEffect": True}}]
    handles = [{"objectId": handle} for handle in script.handles]
    words, values = script.run
    if script.own:  # It waits for a condition of the agent's.
        arguments = dict(pair for one in script.given for pair in _pairs(one))
        words, values = str(script.named("expression")), (arguments.get("arg", {"v": "undefined"}),)
    try:
        called = f"({', '.join(_literal(value) for value in values)})"
    except ValueError:
        return []
    declared = f"function(...h) {{ const f = ({words}\n); if (typeof f === 'function') f{called}; }}"
    on = given.get("objectId", "")
    tried: Message = {"throwOnSideEffect": True, "userGesture": True}
    trials = [
        {
            "method": "Runtime.callFunctionOn",
            "params": {"functionDeclaration": declared, "objectId": on, "arguments": handles, **tried},
        }
    ]
    if (context := context_of(on)) is not None and not handles:
        trials.append(
            {"method": "Runtime.evaluate", "params": {"expression": words, "contextId": context, **tried}}
        )
    return trials


def names_act(words: str) -> bool:
    """Return whether a script has words that act on an element, if it comes to them."""
    return _ACTS.search(words) is not None


def waits_for_condition(script: Script) -> bool:
    """Return whether Playwright waits by a script until a condition of the agent's holds."""
    return script.own and not script.calls and isinstance(script.named("expression"), str)


def may_act(answer: Mapping[str, Any]) -> bool:
    """Return whether the answer to a trial says that the script was stopped before it changed something."""
    return _thrown_by(answer).startswith(_SIDE_EFFECT)


def is_no_expression(answer: Mapping[str, Any]) -> bool:
    """Return whether the answer to a trial says that the script was not understood."""
    return _thrown_by(answer).startswith(_SYNTAX)


def _thrown_by(answer: Mapping[str, Any]) -> str:
    return str(answer.get("exceptionDetails", {}).get("exception", {}).get("description", ""))


def context_of(handle: str) -> int | None:
    """Return the context in which an object is, by its handle; V8 writes ISOLATE.CONTEXT.NUMBER."""
    parts = handle.split(".")
    return int(parts[1]) if len(parts) == 3 and parts[1].isdecimal() else None


def _named(value: object) -> Iterator[tuple[str, Any]]:
    """Yield what arguments name, at any depth: Playwright sends an object as a list of its keys and values."""
    if isinstance(value, dict):
        if isinstance(value.get("k"), str):
            yield value["k"], value.get("v")
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _named(one)


def _pairs(value: object) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of one object."""
    if isinstance(value, dict):
        yield from ((one["k"], one["v"]) for one in value.get("o", ()))


def _literal(value: Any, handle: str = "") -> str:
    """Return an argument of Playwright's as JavaScript, objects of the page as `h[0]`, or as `handle`.

    Raises ValueError for one that has no literal.
    """
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a list without its number")
        return json.dumps(value, ensure_ascii=False)
    match value:
        case {"v": str(name)} if name in ("undefined", "null", "NaN", "Infinity", "-Infinity", "-0"):
            return name
        case {"o": list(pairs)}:
            return (
                "{"
                + ", ".join(f"{json.dumps(pair['k'])}: {_literal(pair['v'], handle)}" for pair in pairs)
                + "}"
            )
        case {"a": list(items)}:
            return f"[{', '.join(_literal(item, handle) for item in items)}]"
        case {"h": int(number)}:
            return handle or f"h[{number}]"
        case {"d": str(date)}:
            return f"new Date({json.dumps(date)})"
        case {"bi": str(digits)} if digits.lstrip("-").isdecimal():
            return f"{digits}n"
    if handle:
        return "…"
    raise ValueError("it has no literal")
