"""The fields for the changes of a fork; every choice can be undone."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QSpinBox,
    QToolButton,
    QWidget,
)

from core.debugger.branching.views import ForkView
from core.debugger.catalogue import Catalogue
from core.schema.changes import NONE, OWN, Changes, named, pages_in_words
from gui.theme.theme import Theme
from gui.widgets.choices import offer_choices
from gui.widgets.layouts import in_row
from gui.widgets.words import labelled

_REPLAY = "replay:"
_LIVE, _FIRST, _ONLY = range(3)
_RECORDED = 2
_SAME = "as in the run"


class PlaceField(QWidget):
    """Offers fixed choices, each with a value, and as the last one a path, which is typed or browsed."""

    changed = Signal()

    def __init__(
        self,
        name: str,
        choices: tuple[tuple[str, str | None], ...],
        *,
        place: str,
        suffix: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """`suffix` is that of files that can be chosen in addition to folders; without it, only folders can."""
        super().__init__(parent)
        self._name = name
        self._suffix = suffix
        self._values = [value for _, value in choices]
        self.choice = labelled(QComboBox(self), name)
        self.choice.addItems([*(words for words, _ in choices), place])
        self.choice.currentIndexChanged.connect(self._on_choice)
        self.path = labelled(QLineEdit(self), f"{name}: where")
        self.path.setPlaceholderText("a path" if suffix else "a folder")
        self.path.editingFinished.connect(self.changed)
        self.browse = labelled(QToolButton(self), f"{name}: browse", "Choose it on disk")
        self.browse.setText("…")
        if suffix:
            menu = QMenu(self.browse)
            menu.addAction("A folder…", self._on_folder)
            menu.addAction(f"A file ({suffix})…", self._on_file)
            self.browse.setMenu(menu)
            self.browse.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        else:
            self.browse.clicked.connect(self._on_folder)
        in_row(self, self.choice, (self.path, 1), self.browse, 0, spacing=6)
        self._show_path()

    @property
    def value(self) -> str | None:
        """The value of the choice, or the path; the first choice if no path was given yet."""
        if self._is_place:
            return self.path.text().strip() or self._values[0]
        return self._values[self.choice.currentIndex()]

    def set_value(self, value: str | None) -> None:
        """Choose this without emitting a change."""
        with QSignalBlocker(self.choice), QSignalBlocker(self.path):
            if value in self._values:
                self.choice.setCurrentIndex(self._values.index(value))
            else:
                self.choice.setCurrentIndex(len(self._values))
                self.path.setText(str(value))
        self._show_path()

    @property
    def _is_place(self) -> bool:
        return self.choice.currentIndex() == len(self._values)

    def _show_path(self) -> None:
        for widget in (self.path, self.browse):
            widget.setVisible(self._is_place)

    def _on_choice(self) -> None:
        self._show_path()
        if self._is_place:
            self.path.setFocus()
        self.changed.emit()

    def _on_folder(self) -> None:
        self._take(QFileDialog.getExistingDirectory(self, self._name, self.path.text()))

    def _on_file(self) -> None:
        chosen = f"{self._name} (*{self._suffix})"
        self._take(QFileDialog.getOpenFileName(self, self._name, self.path.text(), chosen)[0])

    def _take(self, path: str) -> None:
        if path:
            self.path.setText(path)
            self.changed.emit()


class ForkForm(QWidget):
    """Holds the choices, and those before them."""

    edited = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = ForkView(run=0, step=0)
        self._texts: dict[str, str] = {}
        """Policies whose text was edited."""
        self._past: list[Changes] = []
        self._future: list[Changes] = []
        self._now = Changes()
        self._form = QFormLayout(self)
        self._form.setContentsMargins(14, 8, 14, 8)
        self._form.setSpacing(8)
        self.preset = labelled(QComboBox(self), "Preset")
        self.llm = labelled(QComboBox(self), "LLM")
        for box in (self.preset, self.llm):
            box.addItem(_SAME, "")
        repeated = "Whether to repeat the run's own replies, without network and cost"
        self.replay = labelled(QComboBox(self), "Recorded replies", repeated)
        self.replay.addItems(
            ("not used", "while prompts are the same, then the LLM", "only; stop if a prompt differs")
        )
        reached = "Whether pages use their servers, or the answers recorded in the run"
        self.pages = labelled(QComboBox(self), "Pages", reached)
        self.pages.addItems((_SAME, "live", "recorded answers only; nothing leaves"))
        for box in (self.preset, self.llm, self.replay, self.pages):
            box.currentIndexChanged.connect(self._on_edited)
        same, own = (_SAME, None), ("built-in and own", OWN)
        self.policies = PlaceField(
            "Policies", (same, own), place="a folder that overrides them…", parent=self
        )
        self.exemplars = PlaceField(
            "Exemplars", (same, own, ("none", NONE)), place="only those of…", suffix=".jsonl", parent=self
        )
        for field in (self.policies, self.exemplars):
            field.changed.connect(self._on_edited)
        rewritten = "Rewrite a policy for this branch. Its file stays as it is"
        self.policy = labelled(QComboBox(self), "Text of a policy", rewritten)
        self.policy.currentIndexChanged.connect(self._on_policy)
        self.text = labelled(QPlainTextEdit(self), "The policy's text")
        self.text.setFont(theme.machine_font())
        self.text.setMinimumHeight(190)
        self.text.textChanged.connect(self._on_text)
        self.amounts: dict[str, QSpinBox] = {}
        for words, widget in (
            ("Preset", self.preset),
            ("LLM", self.llm),
            ("Recorded replies", self.replay),
            ("Pages", self.pages),
            ("Policies", self.policies),
            ("Text of a policy", self.policy),
            ("", self.text),
            ("Exemplars", self.exemplars),
        ):
            self._form.addRow(words, widget)

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs; the current choice is kept."""
        preset, llm = self.preset.currentData(), self.llm.currentData()
        with QSignalBlocker(self.preset), QSignalBlocker(self.llm):
            offer_choices(self.preset, catalogue.presets, first=self.preset.itemText(0))
            offer_choices(self.llm, catalogue.llms, first=self.llm.itemText(0))
            self._choose(self.preset, preset)
            self._choose(self.llm, llm)

    def offer(self, view: ForkView) -> None:
        """Show the values of the run, and offer its policies and numbers; choices are reset."""
        self._view = view
        self._past, self._future = [], []
        self._form.setRowVisible(self.pages, view.recorded)
        for box, had in (
            (self.preset, view.preset),
            (self.llm, view.llm),
            (self.pages, pages_in_words(view.offline)),
            (self.policies.choice, named(view.earlier.policies)),
            (self.exemplars.choice, named(view.earlier.exemplars)),
        ):
            box.setItemText(0, f"{had} ({_SAME})")
        with QSignalBlocker(self.policy):
            self.policy.clear()
            self.policy.addItem("as it is" if view.policies else "there are no policies", "")
            for policy in view.policies:
                self.policy.addItem(policy.id, policy.id)
        for spin in self.amounts.values():
            self._form.removeRow(spin)
        self.amounts = {}
        for amount in view.amounts:
            words = f"{amount.mechanism.capitalize()}: {amount.label}"
            limits = f"{amount.value} in the run; from {amount.least} to {amount.most}"
            spin = labelled(QSpinBox(self, minimum=amount.least, maximum=amount.most), words, limits)
            spin.setValue(amount.value)
            spin.setMaximumWidth(120)
            spin.valueChanged.connect(self._on_edited)
            self._form.addRow(words, spin)
            self.amounts[amount.mechanism] = spin
        self.put(Changes())

    @property
    def changes(self) -> Changes:
        """The choices that differ from the run."""
        view = self._view
        if self._by_agent:
            return Changes(llm=self._llm(), offline=self._offline())
        return Changes(
            preset=self.preset.currentData() or "",
            llm=self._llm(),
            policies=self.policies.value,
            policy_texts=dict(self._texts),
            exemplars=self.exemplars.value,
            amounts={
                amount.mechanism: self.amounts[amount.mechanism].value()
                for amount in view.amounts
                if self.amounts[amount.mechanism].value() != amount.value
            },
            offline=self._offline(),
        )

    @property
    def differs(self) -> tuple[str, ...]:
        """How the branch will differ from the run, a few words each."""
        view, changes = self._view, self.changes
        labels = {amount.mechanism: amount for amount in view.amounts}
        found = [
            f"preset {changes.preset} (was {view.preset})" if changes.preset else "",
            f"LLM {changes.llm} (was {view.llm})" if changes.llm else "",
            pages_in_words(changes.offline) if changes.offline is not None else "",
            f"policies {named(changes.policies)}" if changes.policies is not None else "",
            *(f"policy {id} rewritten" for id in changes.policy_texts),
            f"exemplars {named(changes.exemplars)}" if changes.exemplars is not None else "",
            *(
                f"{value} {labels[name].label} (were {labels[name].value})"
                for name, value in changes.amounts.items()
            ),
        ]
        return tuple(filter(None, found))

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def undo(self) -> None:
        if self._past:
            self._future.append(self._now)
            self.put(self._past.pop())

    def redo(self) -> None:
        if self._future:
            self._past.append(self._now)
            self.put(self._future.pop())

    def put(self, changes: Changes) -> None:
        """Show these choices without recording them as new ones."""
        self._now = changes
        boxes = (self.preset, self.llm, self.replay, self.pages, self.policy)
        blockers = [QSignalBlocker(box) for box in (*boxes, self.text, *self.amounts.values())]
        self._choose(self.preset, changes.preset)
        llm, how = changes.llm, _LIVE
        if llm.startswith(f"{_REPLAY}{self._view.run}"):
            llm = llm.removeprefix(f"{_REPLAY}{self._view.run}").removeprefix(":")
            how = _FIRST if llm else _ONLY
            llm = "" if llm == self._view.llm else llm
        self._choose(self.llm, llm)
        self.replay.setCurrentIndex(how)
        self.pages.setCurrentIndex(0 if changes.offline is None else 1 + changes.offline)
        self.policies.set_value(changes.policies)
        self.exemplars.set_value(changes.exemplars)
        self._texts = dict(changes.policy_texts)
        if self._texts and self.policy.currentData() not in self._texts:
            self.policy.setCurrentIndex(max(0, self.policy.findData(next(iter(self._texts)))))
        for amount in self._view.amounts:
            self.amounts[amount.mechanism].setValue(changes.amounts.get(amount.mechanism, amount.value))
        self._show_text()
        self._show_own()
        del blockers
        self.edited.emit()

    @property
    def _by_agent(self) -> bool:
        """Whether an attached agent continues: it has no policies, exemplars and numbers of Backstep."""
        return self._view.attached and not self.preset.currentData()

    def _show_own(self) -> None:
        """Offer the choices for built-in agents if one of them continues."""
        for field in (self.policies, self.exemplars, self.policy, *self.amounts.values()):
            self._form.setRowVisible(field, not self._by_agent)
        self._form.setRowVisible(self.text, bool(self.policy.currentData()) and not self._by_agent)

    def _on_edited(self) -> None:
        self._show_own()
        changes = self.changes
        if changes == self._now:
            return
        self._past.append(self._now)
        self._future.clear()
        self._now = changes
        self.edited.emit()

    def take_over(self, last: Changes) -> None:
        """Use the choices made for another step, as far as this one has them."""
        known = {amount.mechanism for amount in self._view.amounts}
        ids = {policy.id for policy in self._view.policies}
        self.take(
            last.replace(
                amounts={name: value for name, value in last.amounts.items() if name in known},
                offline=last.offline if self._view.recorded else None,
                policy_texts={id: text for id, text in last.policy_texts.items() if id in ids},
            )
        )

    def take(self, changes: Changes) -> None:
        """Choose these as a single choice that can be undone."""
        if changes != self._now:
            self._past.append(self._now)
            self._future.clear()
        self.put(changes)

    def _offline(self) -> bool | None:
        """Return the choice for pages, None if it is the same as in the run."""
        chosen = self.pages.currentIndex()
        offline = chosen == _RECORDED
        return None if chosen == 0 or offline == self._view.offline else offline

    def _llm(self) -> str:
        """Return the LLM of the branch, empty if it is the run's own."""
        llm, how = self.llm.currentData() or "", self.replay.currentIndex()
        if how == _LIVE:
            return str(llm)
        own = f"{_REPLAY}{self._view.run}"
        return own if how == _ONLY else f"{own}:{llm or self._view.llm}"

    # Policies

    def _on_policy(self) -> None:
        self._show_text()
        self.edited.emit()

    def _recorded_text(self) -> str:
        id = self.policy.currentData()
        return next((policy.text for policy in self._view.policies if policy.id == id), "")

    def _show_text(self) -> None:
        id = self.policy.currentData() or ""
        with QSignalBlocker(self.text):
            self.text.setPlainText(self._texts.get(id, self._recorded_text()))
        self.text.setEnabled(bool(id))
        self._form.setRowVisible(self.text, bool(id))

    def _on_text(self) -> None:
        id, text = self.policy.currentData(), self.text.toPlainText()
        if text == self._recorded_text():
            self._texts.pop(id, None)
        else:
            self._texts[id] = text
        # The editor undoes single letters itself; a text counts as one choice.
        if id in self._now.policy_texts and id in self._texts:
            self._now = self.changes
            self.edited.emit()
        else:
            self._on_edited()

    @staticmethod
    def _choose(box: QComboBox, name: str) -> None:
        """Choose a name; if it was not offered before, it is from then on."""
        if box.findData(name) < 0:
            box.addItem(name, name)
        box.setCurrentIndex(box.findData(name))
