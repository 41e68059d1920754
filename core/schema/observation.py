"""What a page looked like: the observation, its elements, and the lines a prompt shows."""

import re
from typing import Literal

from core.schema.record import Record
from core.schema.secrets import Kind

_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""What `str.splitlines` parts lines at."""
_WRITTEN = {"\n": "\\n", "\r": "\\r"}
_TOKENS = re.compile(
    r"<(?=/?s>|/?[be]os>|\s*(?:[|\uff5c]|/?\s*(?:(?:start|end)_of_turn|tool_(?:call|response|result)s?|function_?(?:calls?|results?)?"
    r"|seed:think|think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad)\s*[>=]|<SYS>>|</SYS>>|/?unused\d|channel\|>))"
    r"|\[(?=\s*/?\s*(?:INST|THINK|SYSTEM_PROMPT|TOOL_(?:CALLS|RESULTS)|AVAILABLE_TOOLS)\s*\])|\u25c1(?=\s*/?\s*think)",
    re.IGNORECASE,
)
"""Where a mark begins that servers may take for their own, such as ``<|im_start|>``, or that parts off thinking."""
_BROKEN = {"<": "\u2039", "[": "\uff3b", "\u25c1": "\u25c3"}
_FRAME = re.compile(
    r"^(?=[ \t]*(?:#{1,6}[ \t]|-{3}|[A-Za-z][A-Za-z' ]{1,60}:[ \t]*$"
    r"|(?:system|user|human|assistant|task|observation|thought|reason|actions?|page|wrong here|you said)[ \t]*:))",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines that could pass for headings of a prompt, for roles, or for a reply."""

Ref = int
"""Names an element as long as it lives in its page; never used twice in a run's tab."""


class Box(Record):
    """A rectangle in CSS pixels, from the top left of the tab's viewport."""

    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


class Option(Record):
    """One option of a select."""

    label: str
    value: str
    selected: bool = False
    disabled: bool = False


Use = Literal["click", "type", "select", "check", "upload", "drag", "hover"]
"""What a person could do with an element, beyond pointing at it."""


HIDDEN_TEXT = (
    "the text is hidden and was not recorded; declare it in the task's `secrets` and put <secret:NAME> there, or take "
    "the page (F6) and type it."
)
"""Why bullets cannot be typed, and what to do, as the end of a sentence."""


def is_hidden(text: str) -> bool:
    """Return whether a text is bullets, which stand for a password."""
    return bool(text) and not text.strip("•")


LONGEST_VALUE = 2000
"""How many UTF-16 units of a value are read."""


class Element(Record):
    """One thing a person could see or use in a page."""

    ref: Ref
    role: str
    """ARIA role; ``text`` for plain text, ``generic`` for a box that only reacts to clicks."""
    name: str = ""
    """Accessible name; for ``text`` the words themselves."""
    value: str = ""
    """What is typed or chosen in it, by lines; passwords as bullets. Of a long text in an editor, the lines in view.
    A longer one than `LONGEST_VALUE` is cut there, and ends in ``…``."""
    digest: str = ""
    """A short number of the whole value, where that is cut; empty in pages of earlier versions, too."""
    states: tuple[str, ...] = ()
    """Such as checked, mixed, disabled, expanded, collapsed, focused, readonly, required, invalid, selected, pressed,
    current, busy, sorted ascending; and where it stands: level 2, row 3, column 2, 100 rows, 5 columns."""
    options: tuple[Option, ...] = ()
    detail: str = ""
    """What else is plain to the eye: colour, shape and size of a drawn thing, a placeholder, which lines were read."""
    uses: tuple[Use, ...] = ()
    depth: int = 0
    """How deep it lies among the other elements of the observation."""
    parent: Ref | None = None
    frame: int = 0
    """Index into `Observation.frames`."""
    box: Box
    in_viewport: bool = True
    tag: str = ""
    hides: Kind | Literal[""] = ""
    """Which secret it is a field for; its value is bullets."""

    @property
    def usable(self) -> bool:
        return bool(self.uses)

    @property
    def is_cut(self) -> bool:
        """Whether the value is only the beginning of what it holds."""
        cut = self.value.endswith("…") and len(self.value.encode("utf-16-le")) == 2 * LONGEST_VALUE
        return cut or bool(self.digest)

    @property
    def is_part(self) -> bool:
        """Whether the value is only the lines of it that an editor has drawn."""
        return "are read; scroll it for others" in self.detail

    @property
    def takes_lines(self) -> bool:
        """Whether it is a field of several lines."""
        return self.tag == "textarea" or (self.role == "textbox" and self.tag not in ("", "input"))

    def line(self) -> str:
        """Return the element as a prompt shows it, such as ``[12] checkbox "I agree" checked``."""
        parts = [f"[{self.ref}] {self.role}"]
        if self.name:
            parts.append(f'"{in_quotes(self.name)}"')
        if self.value and self.value != self.name:
            parts.append(f'value="{in_quotes(self.value)}"')
        parts.extend(self.states)
        if self.detail:
            parts.append(f"({one_line(self.detail)})")
        if self.options:
            labels = " | ".join(f"*{o.label}*" if o.selected else o.label for o in self.options)
            parts.append(f"options: {one_line(labels)}")
        return " ".join(parts)


def one_line(text: str) -> str:
    """Return words of a page in one line, with line breaks written out: they cannot pass for lines of a prompt.

    Tokens of chat templates are broken: ``<|im_start|>`` begins with another sign.
    """
    return _without_tokens(_BREAKS.sub(lambda found: _WRITTEN.get(found[0], " "), text))


def _without_tokens(text: str) -> str:
    return _TOKENS.sub(lambda found: _BROKEN[found[0]], text)


def fenced(text: str) -> str:
    """Return lines of a page as they stand in a prompt: what could pass for its headings or roles begins with ``>``."""
    return _FRAME.sub("> ", _without_tokens(text))


def in_quotes(text: str) -> str:
    """Return words of a page as they stand between quotes: in one line, and without a quote that ends them."""
    return one_line(text).replace('"', '\\"')


class PageFrame(Record):
    """A document inside the page; the first is the page's own."""

    id: str
    url: str
    name: str = ""


class Tab(Record):
    """One tab of the browser, as the agent may see it."""

    index: int
    title: str
    url: str
    current: bool = False


class Observation(Record):
    """What a page looked like at one moment."""

    url: str
    title: str = ""
    elements: tuple[Element, ...] = ()
    frames: tuple[PageFrame, ...] = ()
    tabs: tuple[Tab, ...] = ()
    viewport: tuple[int, int] = (0, 0)
    """Width and height in CSS pixels."""
    scroll: tuple[int, int] = (0, 0)
    """How far the page is scrolled, right and down, in CSS pixels."""
    page_size: tuple[int, int] = (0, 0)
    """Stored by versions up to 0.2.0, and read no more."""
    omitted: int = 0
    """Elements that were there but beyond the limit of the capture."""
    document: str = ""
    """Identifies the loaded document: it changes with each navigation."""
    reader: int = 0
    """Which version of the page reader made it; 0 before versions were kept."""

    def element(self, ref: Ref) -> Element | None:
        """Return the element of that ref, or None."""
        return next((element for element in self.elements if element.ref == ref), None)

    def lines(self) -> str:
        """Return all elements as indented lines, in document order."""
        return "\n".join("  " * element.depth + element.line() for element in self.elements)


class Capture(Record):
    """An observation with its large parts, which the trace stores as blobs."""

    observation: Observation
    html: str = ""
    """The documents' HTML, frames after the page's own."""
    screenshot: bytes = b""
    """A WebP or JPEG picture of the viewport, one pixel to a CSS pixel; empty if none could be taken."""
    milliseconds: float = 0.0


def picture_type(picture: bytes) -> str:
    """Return the media type of a picture, by how it begins."""
    if picture.startswith(b"\x89PNG"):
        return "image/png"
    return "image/jpeg" if picture.startswith(b"\xff\xd8") else "image/webp"


class CleanObservation(Record):
    """The part of an observation that state abstraction keeps for the prompt."""

    url: str
    title: str = ""
    elements: tuple[Element, ...] = ()
    text: str = ""
    """Exactly what the prompt shows of the page."""
    left_out: int = 0
    """Elements of the observation that are not shown."""
