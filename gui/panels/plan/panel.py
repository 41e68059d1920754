"""Plan & remedies: the current plan, the alternatives to try, and the judgements of the steps."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from core.debugger.steps.views import GradeView, JudgementView, PermissibleView, PlanView, StepView
from core.schema.formats import count, ranges, seconds
from core.schema.progress import Subtask
from core.schema.restore import GRADES
from core.schema.step import JudgementPart, RemedyRecord
from gui.panels.plan.editor import PlanEditor
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.commands import ACTION, CHANGE, RUN, Command, Do, WhyNot
from gui.widgets.copying import CopyEntry, action_copies
from gui.widgets.editable import EditablePanel, show_right, why_no
from gui.widgets.enabled_commands import why_no_step
from gui.widgets.item_views import ROW, MenuEntry, RowMenu
from gui.widgets.keys import takes_key
from gui.widgets.layouts import Section, in_column, in_sections, indented
from gui.widgets.rows import Row, Rows
from gui.widgets.words import FittedText, NoteLabel, OrWords

_SUBTASKS = {
    "done": ("check", "good", "done"),
    "current": ("arrow-right", "agent", "current"),
    "waiting": ("circle-outline", "dim", "waiting"),
    "needless": ("circle-slash", "dim", "needless"),
}
_REMEDIES = {
    "waiting": ("discard", "remedy", "waiting"),
    "chosen": ("arrow-right", "agent", "chosen"),
    "tried": ("check", "dim", "tried"),
    "dropped": ("close", "dim", "dropped"),
}
_ALIGNED = {
    True: ("check", "good", "aligned"),
    False: ("close", "bad", "not aligned"),
    None: ("question", "remedy", "unclear"),
}
GRADE_MARKS = {
    "exact": ("check-all", "good"),
    "equivalent": ("check", "good"),
    "recorded": ("history", "remedy"),
    "same page": ("warning", "remedy"),
    "lost": ("close", "bad"),
}
NONE = (
    "No plan, remedies or judgements in this step. Switch Plan, Remedies or Judgement on in Mechanisms "
    "(Ctrl+Shift+H), or choose a preset that has them (Ctrl+Shift+S); they show here from the next step on."
)
_NO_SUBTASK = "No subtask lies ahead: it needs a plan, and a run that rests"
_NO_PLAN = "No plan yet. It is made at the start of a run; you can write one yourself (Ctrl+Shift+E)."
_NO_REMEDIES = "No remedies wait. The agent asks for them before it carries out an action."
_NO_PLAN_TOLD = "The agent reported no plan. To report one, call backstep_sdk.plan(…) in its program."
_NO_REMEDIES_TOLD = (
    "The agent reported no remedies. To report one, call backstep_sdk.remedy(…) in its program."
)


def subtask_row(at: int, subtask: Subtask) -> Row:
    """Return the row of the subtask at index `at`, from 0."""
    steps = "steps" if len(subtask.steps) > 1 else "step"
    return Row(
        f"{at + 1}. {subtask.text}",
        *_SUBTASKS[subtask.status],
        detail=f"{steps} {ranges(sorted(set(subtask.steps)))}" if subtask.steps else "",
        strong=subtask.status == "current",
        quiet=subtask.status in ("done", "needless"),
        key=at,
    )


def remedy_row(remedy: RemedyRecord, plan: PlanView) -> Row:
    serves = ""
    if remedy.subtask is not None and remedy.subtask < len(plan.subtasks):
        serves = f"for subtask {remedy.subtask + 1}"
    origin = " · ".join(filter(None, (f"from step {remedy.step}", remedy.target, serves)))
    return Row(
        remedy.action,
        *_REMEDIES[remedy.state],
        detail="\n".join(filter(None, (origin, remedy.reason, remedy.why))),
        machine=True,
        quiet=remedy.state in ("tried", "dropped"),
        key=remedy.number,
    )


def judgement_row(judgement: JudgementView) -> Row:
    facts = [f"step {judgement.step}"]
    for what, answer in (("subtask", judgement.subtask_done), ("task", judgement.task_done)):
        if answer is not None:
            facts.append(f"{what} done" if answer else f"{what} not done")
    facts += [f"{part} unclear" for part in judgement.unclear if part != "aligned"]
    lines = [" · ".join(facts)]
    if judgement.unclear:
        lines.append("the LLM gave no clear judgement, even when asked again: it counts as no")
    if judgement.by_rule:
        lines.append(f"by rule, without the LLM: {judgement.by_rule}")
    if judgement.summarised:
        lines.append("the page was too long; a summary was judged")
    return Row(
        judgement.sentence or "No sentence was given.",
        *_verdict(judgement),
        detail="\n".join(lines),
        quiet=not judgement.sentence,
        key=judgement.step,
    )


def _verdict(judgement: JudgementView) -> tuple[str, str, str]:
    """Return icon, colour and label of a judgement; for a stop, whether it was allowed."""
    by = ", said by you" if judgement.overruled else ""
    if judgement.stop_refused:
        return "close", "bad", f"stop refused{by}"
    if judgement.aligned is None and judgement.task_done and not judgement.unclear:
        return "check", "good", f"task done{by}"
    icon, tone, word = _ALIGNED[judgement.aligned]
    return icon, tone, f"{word}{by}"


def grade_row(grade: GradeView) -> Row:
    took = seconds(grade.seconds) if grade.seconds else ""
    how = " · ".join(filter(None, (grade.strategy, took)))
    lines = (how, *(f"differs: {difference}" for difference in grade.differences), *grade.remarks)
    return Row(
        f"step {grade.step}: back to step {grade.to}",
        *GRADE_MARKS[grade.grade],
        word=grade.grade,
        detail="\n".join(filter(None, lines)),
        tooltip=f"{grade.grade}: {GRADES[grade.grade]}",
    )


def plan_fact(view: PlanView) -> str:
    """Return, for example, ``2 of 4 · trial 1 of 3``: the current subtask, or how many are done."""
    parts = []
    total = len(view.subtasks)
    current = next((at for at, one in enumerate(view.subtasks) if one.status == "current"), None)
    if current is not None:
        parts.append(f"{current + 1} of {total}")
    elif total:
        over = sum(1 for subtask in view.subtasks if subtask.status in ("done", "needless"))
        parts.append(f"{over} of {total} done")
    if view.trials > 1 or view.trial > 1:
        parts.append(f"trial {view.trial} of {view.trials}")
    return " · ".join(parts)


def _overruling(part: JudgementPart, is_so: bool) -> tuple[Do, WhyNot]:
    return lambda panel: panel.overrule(part, is_so), why_no("OverruleJudgement")


class PlanPanel(EditablePanel):
    """Shows `PlanView`. The plan is edited in place, and a waiting remedy is fired without confirmation.

    Menus correct remedies and judgements.
    """

    subtask_wanted = Signal(int)
    """The index of a subtask, from 0, until which the run continues."""
    state_changed = Signal()
    """The set of available commands has changed."""
    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = PlanView()
        self._permissible = PermissibleView()
        self.subtasks = Rows(theme, "Subtasks of the plan")
        self.subtasks.chosen.connect(self.edit)
        self.subtasks.selected.connect(self._refresh)
        RowMenu(self.subtasks, self.entries)
        self.editor = PlanEditor(theme)
        self.editor.hide()
        self.editor.applied.connect(self._on_applied)
        self.editor.cancelled.connect(self._end_editing)
        self.no_plan = NoteLabel("dim", _NO_PLAN)
        in_place = "Edit the plan in its place (Ctrl+Shift+E)"
        self.edit_button = key_button("Edit", in_place, "", self.edit)
        self.remark = NoteLabel()
        self.plan = Section(theme, "Plan", self.remark, self.subtasks, self.no_plan, self.editor)
        self.plan.head.addWidget(self.edit_button)
        self.experience_text = FittedText("Lessons of earlier trials", lines=8)
        self.experience = Section(theme, "Lessons of earlier trials", indented(self.experience_text))
        self.lessons_button = key_button("Edit", "", "", lambda: self.text_wanted.emit("experience"))
        self.experience.head.addWidget(self.lessons_button)
        self.waiting = Rows(theme, "Remedies")
        self.waiting.chosen.connect(self._on_chosen)
        self.waiting.selected.connect(self._refresh)
        self.waiting.installEventFilter(self)
        RowMenu(self.waiting, self.remedy_entries, copies=self._copies)
        self.no_remedies = NoteLabel("dim", _NO_REMEDIES)
        for note in (self.no_plan, self.remark, self.no_remedies):
            note.setContentsMargins(10, 1, 10, 3)
        tried = "Go back to the step this remedy starts from, and try it (Ctrl+P, J; Enter in the list)"
        self.fire_button = key_button("Try it", tried, "", self.fire)
        self.remedies = Section(theme, "Remedies", self.waiting, self.no_remedies)
        self.add_button = key_button("Add…", "", "", self.add_remedy)
        self.remedies.head.addWidget(self.add_button)
        self.remedies.head.addWidget(self.fire_button)
        self.judged = Rows(theme, "Judgements, the latest first")
        RowMenu(self.judged, self.judgement_entries)
        self.judgements = Section(theme, "Judgements", self.judged)
        self.went_back = Rows(theme, "Times the run went back, latest first")
        self.grades = Section(theme, "Going back", self.went_back)
        sections = (self.plan, self.remedies, self.judgements, self.grades, self.experience)
        self.or_words = OrWords(in_sections(*sections), self)
        self.or_words.say(NONE)
        in_column(self, self.or_words)

    @property
    def editing(self) -> bool:
        return not self.editor.isHidden()

    @property
    def can_edit(self) -> bool:
        return self.live and self._view.editable and not self.why_not()

    @property
    def remedy(self) -> int | None:
        """The remedy that can be fired now: the selected one, or else the topmost waiting one."""
        if self.why_not():
            return None
        waiting = [remedy.number for remedy in self._view.remedies if remedy.state == "waiting"]
        return _chosen_or_first(self.waiting.key, waiting)

    @property
    def subtask(self) -> int | None:
        """The subtask that can be run to: the selected one, or else the one after the current one."""
        if not self.live or why_no_step(self.session):
            return None
        states = [subtask.status for subtask in self._view.subtasks]
        current = states.index("current") if "current" in states else -1
        ahead = [at for at, state in enumerate(states) if at > current and state == "waiting"]
        return _chosen_or_first(self.subtasks.key, ahead)

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries of a subtask."""
        row: Row = index.data(ROW)
        can = row.key == self.subtask
        why = "" if can else "Only to a subtask that waits, while the run rests"
        return (
            MenuEntry("Run to this subtask", self.run_to_subtask, key="Ctrl+F8", enabled=can, why=why),
            MenuEntry("Edit the plan", self.edit, key="Ctrl+Shift+E", enabled=self.can_edit),
            self._again("plan", "Ask for the plan again", "Ctrl+P, 1"),
            self.edit_entry(
                "Start a new trial", lambda: self.ask_edit("StartNewTrial"), "StartNewTrial", "Ctrl+P, T"
            ),
        )

    def remedy_entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries of a remedy."""
        row: Row = index.data(ROW)
        self.waiting.setCurrentIndex(index)
        fires = row.key == self.remedy
        add = self.edit_entry("Add a remedy…", self.add_remedy, "ForceState", "Ctrl+P, R")
        again = self._again("remedies", "Ask for the remedies again", "Ctrl+P, 4")
        if row.key not in self._waiting_numbers:
            return (add, again)
        why = "" if fires else "Only while the run rests"
        return (
            MenuEntry("Try it", self.fire, key="Ctrl+P, J", enabled=fires, why=why),
            self.edit_entry("Edit it…", self.edit_remedy, key="F2"),
            self.edit_entry("Try it sooner", lambda: self._move_remedy(1), key="Alt+Up"),
            self.edit_entry("Try it later", lambda: self._move_remedy(-1), key="Alt+Down"),
            self.edit_entry("Drop it", self.drop_remedy, key="Delete"),
            add,
            again,
        )

    def _copies(self, index: QModelIndex) -> tuple[CopyEntry, ...]:
        number = index.data(ROW).key
        remedy = next((one for one in self._view.remedies if one.number == number), None)
        return action_copies(remedy.action, words=remedy.target) if remedy is not None else ()

    def judgement_entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries that overrule a judgement; only the last one has any."""
        row: Row = index.data(ROW)
        done = f"The run has already continued from step {row.key}. Go back to it on a branch (Ctrl+B)"
        why = self.why_not() or (done if index.row() else self.why_not("OverruleJudgement"))
        said: tuple[tuple[str, JudgementPart, bool, str], ...] = (
            ("It was right", "aligned", True, "Ctrl+P, Y"),
            ("It was wrong", "aligned", False, "Ctrl+P, N"),
            ("The subtask is done", "subtask", True, "Ctrl+P, S"),
            ("The subtask is not done", "subtask", False, ""),
            ("The task is done", "task", True, "Ctrl+P, D"),
            ("The task is not done", "task", False, ""),
        )
        overruled = (
            MenuEntry(text, partial(self.overrule, part, so), key=key, enabled=not why, why=why)
            for text, part, so, key in said
        )
        return (*overruled, self._again("judgement", "Ask for the judgement again", "Ctrl+P, 5"))

    def _again(self, what: str, text: str, key: str) -> MenuEntry:
        return self.edit_entry(
            text, lambda: self.ask_edit("AskQuestionAgain", what=what), f"AskQuestionAgain {what}", key
        )

    def overrule(self, part: JudgementPart, is_so: bool) -> None:
        """Overrule the judgement of the step that was just carried out."""
        if not self.why_not("OverruleJudgement"):
            self.ask_edit("OverruleJudgement", part=part, is_so=is_so)

    @property
    def _waiting_numbers(self) -> list[int]:
        return [remedy.number for remedy in self._view.remedies if remedy.state == "waiting"]

    @property
    def _chosen_remedy(self) -> int | None:
        """The remedy to edit, move or drop: the selected one, or else the topmost waiting one."""
        return _chosen_or_first(self.waiting.key, self._waiting_numbers)

    @Slot()
    def add_remedy(self) -> None:
        """Ask for another remedy, which is put on top of the waiting ones."""
        if not self.why_not("ForceState"):
            label = "The action to try first if this step's action turns out wrong:"
            self._ask_action("Add a remedy", label, lambda text: self.ask_edit("AddRemedy", action=text))

    def edit_remedy(self) -> None:
        """Ask for another action to replace a remedy's."""
        number = self._chosen_remedy
        if number is not None and not self.why_not():
            now = next(remedy.action for remedy in self._view.remedies if remedy.number == number)
            self.ask_line(
                f"Edit remedy {number}",
                "The action to try:",
                lambda text: self.ask_edit("EditRemedy", number=number, action=text),
                text=now,
            )

    def drop_remedy(self) -> None:
        """Drop a remedy."""
        if (number := self._chosen_remedy) is not None:
            self.ask_edit("DropRemedy", number=number)

    def _move_remedy(self, sooner: int) -> None:
        if (number := self._chosen_remedy) is not None:
            self.ask_edit("MoveRemedy", number=number, sooner=sooner)

    def _ask_action(self, title: str, label: str, then: Callable[[str], object]) -> None:
        rows = self._permissible.rows
        self.ask_line(
            title, label, then, choices={f"{row.text}  {row.label}".strip(): row.text for row in rows}
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.waiting and isinstance(event, QKeyEvent):
            keys: dict[str, Callable[[], None]] = {
                "F2": self.edit_remedy,
                "Del": self.drop_remedy,
                "Ins": self.add_remedy,
                "Alt+Up": partial(self._move_remedy, 1),
                "Alt+Down": partial(self._move_remedy, -1),
            }
            do = keys.get(QKeySequence(event.keyCombination()).toString())
            if do is not None and takes_key(event, do):
                return True
        return super().eventFilter(watched, event)

    @Slot()
    def run_to_subtask(self) -> None:
        """Continue until the subtask given by `subtask` is current."""
        if self.subtask is not None:
            self.subtask_wanted.emit(self.subtask)

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        self._permissible = step.permissible
        self.show_plan(step.plan, live=step.live)

    def show_plan(self, view: PlanView, *, live: bool = True) -> None:
        """Replace what is shown with `view`; a draft of the plan stays while there is a plan to replace."""
        self._view, self.live = view, live
        there = view.subtasks or view.remedies or view.judgements or view.grades or view.experience
        said = view.message or ("" if there or self.can_edit else NONE)
        if self.editing and said:
            self._end_editing()
        self.or_words.say(said)
        self.subtasks.show_rows(subtask_row(at, one) for at, one in enumerate(view.subtasks))
        self.waiting.show_rows(remedy_row(remedy, view) for remedy in view.remedies)
        self.judged.show_rows(judgement_row(judgement) for judgement in view.judgements)
        self.went_back.show_rows(grade_row(grade) for grade in view.grades)
        self.experience_text.show_text(view.experience)
        self.experience.show_where(view.experience)
        self.judgements.show_where(view.judgements, count(len(view.judgements), "step"))
        self.grades.show_where(view.grades)
        self.remedies.show_fact(_remedies_fact(view))
        self.waiting.setVisible(bool(view.remedies))
        self.no_remedies.setVisible(not view.remedies)
        self.no_plan.setText(_NO_PLAN_TOLD if view.told else _NO_PLAN)
        self.no_remedies.setText(_NO_REMEDIES_TOLD if view.told else _NO_REMEDIES)
        self.plan.show_fact(_plan_facts(view))
        self.remark.setText(view.remark)
        self.fact_changed.emit("" if said else plan_fact(view))
        self._refresh()

    def show_rights(self) -> None:
        self._refresh()

    @Slot()
    def edit(self) -> None:
        """Start editing the plan, if that is possible."""
        if self.editing:
            self.editor.list.setFocus()
        elif self.can_edit:
            self.editor.show()
            self._refresh()
            self.editor.list.setFocus()
            self.editor.begin(self._view)

    @Slot()
    def fire(self) -> None:
        """Fire the remedy given by `remedy`."""
        if self.remedy is not None:
            self.ask_edit("FireRemedy", number=self.remedy)

    def _on_chosen(self, number: int) -> None:
        if number == self.remedy:
            self.fire()

    def _on_applied(self, texts: tuple[str, ...], current: int) -> None:
        self.ask_edit("EditPlan", subtasks=texts, current=current)
        self._end_editing()

    def _end_editing(self) -> None:
        had_focus = self.editor.isAncestorOf(self.focusWidget() or self)
        self.editor.hide()
        self._refresh()
        if had_focus:
            (self.edit_button if self.edit_button.isEnabled() else self).setFocus()

    def _refresh(self) -> None:
        editing = self.editing
        self.subtasks.setVisible(bool(self._view.subtasks) and not editing)
        self.no_plan.setVisible(not self._view.subtasks and not editing)
        self.remark.setVisible(bool(self._view.remark) and not editing)
        self.edit_button.setVisible(not editing)
        self.edit_button.setEnabled(self.can_edit)
        self.editor.allow(self.can_edit)
        self.fire_button.setVisible(any(remedy.state == "waiting" for remedy in self._view.remedies))
        self.fire_button.setEnabled(self.remedy is not None)
        show_right(
            self.add_button, "Add a remedy (Ctrl+P, R; Insert in the list)", self.why_not("ForceState")
        )
        lessons = "Edit the lessons of earlier trials (Ctrl+P, L)"
        show_right(self.lessons_button, lessons, self.why_not("experience"))
        self.state_changed.emit()

    COMMANDS = (
        Command("run_to_subtask", "Run to the subt&ask", "Ctrl+F8", "debug-continue-small", RUN, 1.7,
            "Run until the chosen subtask of the plan, or else the next one, is current", run_to_subtask,
            lambda self: _NO_SUBTASK if self.subtask is None else ""),
        Command("judge_right", "The step was &right", "Ctrl+P, Y", "pass", CHANGE, 4.1,
            "Overrule the judgement: the last step served its purpose", *_overruling("aligned", True)),
        Command("judge_wrong", "The step was &wrong", "Ctrl+P, N", "error", CHANGE, 4.2,
            "Overrule the judgement: the last step did not serve its purpose", *_overruling("aligned", False)),
        Command("judge_subtask", "The &subtask is done", "Ctrl+P, S", "check", CHANGE, 4.3,
            "Overrule the judgement: the subtask is done", *_overruling("subtask", True)),
        Command("judge_task", "The task is &done", "Ctrl+P, D", "check-all", CHANGE, 4.4,
            "Overrule the judgement: the task is done", *_overruling("task", True)),
        Command("add_remedy", "Add a remed&y…", "Ctrl+P, R", "add", CHANGE, 5.2,
            "Add an action to try if this step's action turns out wrong", add_remedy, why_no("ForceState")),
        Command("fire_remedy", "&Try a remedy", "Ctrl+P, J", "discard", ACTION, 1.3,
            "Go back to where the chosen remedy starts, or else the topmost one, and try it", fire,
            lambda self: "No remedy waits" if self.remedy is None else ""),
    )  # fmt: skip


def _chosen_or_first(chosen: int | None, usable: list[int]) -> int | None:
    """Return the selected item if it can be used; if nothing is selected, the first usable item."""
    if chosen is None:
        return usable[0] if usable else None
    return chosen if chosen in usable else None


def _plan_facts(view: PlanView) -> str:
    by = "yours" if view.author == "person" else ""
    revision = f"revision {view.revision}" if view.revision else ""
    return " · ".join(filter(None, (revision, by)))


def _remedies_fact(view: PlanView) -> str:
    waiting = sum(1 for remedy in view.remedies if remedy.state == "waiting")
    return f"{waiting} waiting" if view.remedies else ""
