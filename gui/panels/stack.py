"""Policy stack: which policy is acting, who called it, and the results of those that have ended."""

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.breakpoints.kinds.actions import PolicyPopped, PolicyPushed
from core.debugger.steps.views import FrameView, StackView, StepView
from core.schema.formats import count, cut
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button
from gui.widgets.commands import CHANGE, Command
from gui.widgets.editable import EditablePanel, show_right, why_no
from gui.widgets.item_views import ROW, MenuEntry, RowMenu
from gui.widgets.layouts import Section, in_column, in_sections
from gui.widgets.rows import Row, Rows
from gui.widgets.words import OrWords

_NONE = (
    "No policy is on the stack. Presets with policies show here which one is acting; "
    "switch Policies on in Mechanisms (Ctrl+Shift+H), or choose such a preset (Ctrl+Shift+S)."
)
_STATES = {
    "acting": ("arrow-right", "agent", "acting"),
    "waiting": ("history", "dim", "waiting"),
    "returned": ("check", "good", "returned"),
    "lacked": ("warning", "remedy", "lacked something"),
    "left": ("discard", "dim", "left"),
}
_RESULTS = {"lacked": "Lacked", "left": "Left"}
_PUSH = "Call a policy by hand (Ctrl+P, C)"
_POP = "End the current policy by hand (Ctrl+P, Q)"
_LETTERS = 70
"""Maximum length of argument and result in the row of a closed frame."""

Key = tuple[str, int]


class StackPanel(EditablePanel):
    """Shows `StackView`, with the current frame on top; a click or Enter opens and closes a frame.

    Open frames stay open while they exist. The menu of the current frame pops, restarts and edits it.
    """

    fact_changed = Signal(str)
    call_wanted = Signal(int)
    """The number of the LLM call whose prompt to show."""
    file_wanted = Signal(str)
    """The path of the policy to open in the editor."""
    breakpoint_wanted = Signal(object)
    """A `Breakpoint` at a policy."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = StackView()
        self._opened: set[Key] = set()
        self._policies: dict[Key, str] = {}
        self.frames = Rows(theme, "Policy stack, the acting frame first")
        self.ended = Rows(theme, "Ended frames, the latest first")
        for rows in (self.frames, self.ended):
            rows.pressed_on.connect(self._on_pressed)
            RowMenu(rows, self.entries)
        self.stack_section = Section(theme, "On the stack", self.frames)
        self.ended_section = Section(theme, "Ended", self.ended)
        self.push_button = icon_button(theme, "debug-step-into", _PUSH, self.push)
        self.pop_button = icon_button(theme, "debug-step-out", _POP, self.pop)
        for button in (self.push_button, self.pop_button):
            self.stack_section.head.addWidget(button)
        self.or_words = OrWords(in_sections(self.stack_section, self.ended_section), self)
        self.or_words.say(_NONE)
        in_column(self, self.or_words)

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        self.show_stack(step.stack)
        self.show_liveness(step)

    def show_rights(self) -> None:
        show_right(self.push_button, _PUSH, self.why_not("RestartFrame"))
        show_right(self.pop_button, _POP, self.why_not("PopFrame"))

    def show_stack(self, view: StackView) -> None:
        """Replace what is shown with `view`."""
        self._view = view
        there = bool(view.frames or view.finished)
        self.or_words.say(view.message or ("" if there else _NONE))
        self.fact_changed.emit(f"depth {len(view.frames)}" if view.frames and not view.message else "")
        self.stack_section.show_where(view.frames, _limits(view))
        self.ended_section.show_where(view.finished, str(len(view.finished)))
        frames = enumerate((*view.frames[::-1], *view.finished))
        self._policies = {_key(frame, at): frame.policy for at, frame in frames}
        self._opened &= self._policies.keys()
        self._render()

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries of a row's frame."""
        row: Row = index.data(ROW)
        policy = self._policies.get(row.key, "")
        if not policy:
            return ()
        want = self.breakpoint_wanted.emit
        return (
            *self._edits(row.key),
            MenuEntry(f"Stop when {policy} is called", lambda: want(PolicyPushed(policy=policy))),
            MenuEntry(f"Stop when {policy} returns", lambda: want(PolicyPopped(policy=policy))),
        )

    def _edits(self, key: Key) -> tuple[MenuEntry, ...]:
        """Return the edits of a frame: of the current one, and of the one that returned last."""
        at_work = next((_key(frame, 0) for frame in self._view.frames if frame.current), None)
        if key == at_work:
            return (
                self.edit_entry("Pop it…", self.pop, "PopFrame", "Ctrl+P, Q"),
                self.edit_entry("Restart it", self.restart, "RestartFrame", "Ctrl+P, A"),
                self.text_entry("Edit argument, notes and history…", "frame", "Ctrl+P, F"),
                self.edit_entry("Push a policy onto it…", self.push, "RestartFrame", "Ctrl+P, C"),
            )
        came_back = [one for one in self._view.finished if one.state != "left"]
        if came_back and key == _key(came_back[0], 0):
            return (self.text_entry("Edit what it came back with…", "return", "Ctrl+P, B"),)
        return ()

    @Slot()
    def pop(self) -> None:
        """Ask what to return to the caller of the current policy, and end the policy."""
        if not self.why_not("PopFrame"):
            label = "Its answer. To end it because something was missing, begin with “lacked: ”:"
            self.ask_line("Pop the policy at work", label, self._pop)

    def _pop(self, said: str) -> None:
        head, colon, lacked = said.partition(":")
        if colon and head.strip().lower() == "lacked":
            self.ask_edit("PopFrame", lacked=lacked.strip())
        else:
            self.ask_edit("PopFrame", answer=said)

    @Slot()
    def restart(self) -> None:
        """Restart the current policy."""
        if not self.why_not("RestartFrame"):
            self.ask_edit("RestartFrame")

    @Slot()
    def push(self) -> None:
        """Ask which policy to call, with its arguments."""
        if not self.why_not("RestartFrame"):
            label = "The call, written as an action, such as search_shop [steel bottle]:"
            names = self._view.callable
            self.ask_line(
                "Push a policy",
                label,
                lambda call: self.ask_edit("PushPolicy", call=call),
                choices=names,
            )

    def _render(self) -> None:
        depth = len(self._view.frames)
        frames, ended = enumerate(self._view.frames), enumerate(self._view.finished, start=depth)
        self.frames.show_rows(row for at, one in frames for row in self._rows(one, depth - 1 - at))
        self.ended.show_rows(row for at, one in ended for row in self._rows(one, at))

    def _rows(self, frame: FrameView, place: int) -> list[Row]:
        key = _key(frame, place)
        opened = key in self._opened
        row = _frame_row(frame, key, opened=opened)
        return [row, *_inside(frame)] if opened else [row]

    def _on_pressed(self, key: tuple[str, object]) -> None:
        kind, what = key
        if kind == "call":
            self.call_wanted.emit(what)
        elif kind == "file":
            self.file_wanted.emit(what)
        elif isinstance(what, int):
            self._opened ^= {(kind, what)}
            self._render()

    COMMANDS = (
        Command("pop_policy", "Pop the policy at wor&k…", "Ctrl+P, Q", "debug-step-out", CHANGE, 6.1,
            "End the current policy with an answer, or with what it lacked", pop, why_no("PopFrame")),
        Command("restart_policy", "Restart the policy &at work", "Ctrl+P, A", "debug-restart-frame", CHANGE, 6.2,
            "Restart the current policy without its history and notes", restart, why_no("RestartFrame")),
        Command("push_policy", "Push a poli&cy…", "Ctrl+P, C", "debug-step-into", CHANGE, 6.3,
            "Call a policy by hand, written as an action", push, why_no("RestartFrame")),
    )  # fmt: skip


def _key(frame: FrameView, place: int) -> Key:
    """Return the key of a frame: its number, or if it has none, its position from the bottom."""
    return ("frame", frame.number or -1 - place)


def _limits(view: StackView) -> str:
    depth = f"depth {len(view.frames)}" + (f" of {view.depth_limit}" if view.depth_limit else "")
    calls = f"{view.calls} of {view.calls_limit} calls" if view.calls_limit else count(view.calls, "call")
    return f"{depth} · {calls}" if view.calls or view.calls_limit else depth


def _frame_row(frame: FrameView, key: Key, *, opened: bool) -> Row:
    state = "waiting" if frame.state == "acting" and not frame.current else frame.state
    icon, tone, word = _STATES[state]
    argument = f" [{frame.argument}]" if frame.argument else ""
    return Row(
        frame.policy + (argument if opened else cut(argument.replace("\n", " "), _LETTERS)),
        icon,
        tone,
        f"{word} · {count(frame.steps, 'step')}",
        detail="" if opened else cut(frame.result.replace("\n", " "), _LETTERS),
        strong=frame.current,
        quiet=state in ("returned", "lacked", "left"),
        key=key,
        tooltip="Close the frame (Enter)" if opened else "Open the frame: its history and prompt (Enter)",
    )


def _inside(frame: FrameView) -> list[Row]:
    """Return the content of an open frame: result, history, notes and where its texts are."""
    began = f"began at step {frame.began}" if frame.began else ""
    rows = [Row(text=began, indent=1, quiet=True)] if began else []
    if frame.result:
        rows.append(_part(_RESULTS.get(frame.state, "Came back with"), frame.result))
    steps = "\n".join(frame.history) or "no steps of its own yet"
    rows.append(_part("History", steps))
    if frame.notes:
        rows.append(_part("Notes", "\n".join(frame.notes)))
    for number in frame.calls:
        words, where = f"Show its prompt: call {number}", "Go to this call in Prompt (Enter)"
        rows.append(_lead(words, "comment-discussion", ("call", number), where))
    if not frame.calls:
        rows.append(Row("It asked no LLM in this step.", indent=1, quiet=True))
    if frame.file:
        key, words = ("file", frame.file), "Open the policy's file in the editor"
        rows.append(_lead(words, "go-to-file", key, f"{frame.file} (Enter)"))
    return rows


def _part(title: str, text: str) -> Row:
    return Row(title, detail=text, strong=True, indent=1)


def _lead(text: str, icon: str, key: tuple[str, object], tooltip: str) -> Row:
    return Row(text, icon, "agent", link=True, indent=1, key=key, tooltip=tooltip)
