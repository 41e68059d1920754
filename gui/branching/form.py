"""What a fork is to do otherwise, as fields; every choice can be taken back."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QPlainTextEdit, QSpinBox, QWidget

from core.debugger.branching.views import ForkView
from core.debugger.snapshots import Catalogue
from core.schema.changes import NONE, OWN, Changes, named, pages_in_words
from gui.branching.place_field import PlaceField
from gui.theme.theme import Theme

_REPLAY = "replay:"
_LIVE, _FIRST, _ONLY = range(3)
_RECORDED = 2


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
        self.preset = self._combo("Preset")
        self.llm = self._combo("LLM")
        self.replay = QComboBox(self)
        self.replay.setAccessibleName("Recorded replies")
        self.replay.addItems(
            ("not used", "as long as prompts are the same, then the LLM", "only; stop where a prompt differs")
        )
        self.replay.setToolTip("Whether the run's own replies are repeated, without a network and cost")
        self.replay.currentIndexChanged.connect(self._on_edited)
        self.pages = QComboBox(self)
        self.pages.setAccessibleName("Pages")
        self.pages.setToolTip("Whether pages reach their servers, or get what these answered in the run")
        self.pages.addItems(("as in the run", "live", "recorded answers only; nothing leaves"))
        self.pages.currentIndexChanged.connect(self._on_edited)
        own = ("built-in and own", OWN)
        self.policies = PlaceField(
            "Policies", (("as in the run", None), own), place="a folder that wins…", parent=self
        )
        self.exemplars = PlaceField(
            "Exemplars",
            (("as in the run", None), own, ("none", NONE)),
            place="only those of…",
            suffix=".jsonl",
            parent=self,
        )
        for field in (self.policies, self.exemplars):
            field.changed.connect(self._on_edited)
        self.policy = QComboBox(self)
        self.policy.setAccessibleName("Text of a policy")
        self.policy.setToolTip("Rewrite a policy for this branch; its file stays as it is")
        self.policy.currentIndexChanged.connect(self._on_policy)
        self.text = QPlainTextEdit(self)
        self.text.setFont(theme.machine_font())
        self.text.setAccessibleName("The policy's text")
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
        """Offer these presets and LLMs; what is chosen stays so."""
        for box, offered in (
            (self.preset, [(one.name, one.title, one.description) for one in catalogue.presets]),
            (self.llm, [(one.name, one.title, one.description) for one in catalogue.llms]),
        ):
            with QSignalBlocker(box):
                chosen = box.currentData()
                first = box.itemText(0) or "as in the run"
                box.clear()
                box.addItem(first, "")
                for name, title, words in offered:
                    box.addItem(title, name)
                    box.setItemData(box.count() - 1, words, Qt.ItemDataRole.ToolTipRole)
                self._choose(box, chosen or "")

    def offer(self, view: ForkView) -> None:
        """Say what the run has, and offer its policies and numbers; choices begin anew."""
        self._view = view
        self._past, self._future = [], []
        self.preset.setItemText(0, f"{view.preset} (as in the run)")
        self.llm.setItemText(0, f"{view.llm} (as in the run)")
        self.pages.setItemText(0, f"{pages_in_words(view.offline)} (as in the run)")
        self._form.setRowVisible(self.pages, view.recorded)
        earlier = view.earlier
        self.policies.set_words(0, f"{named(earlier.policies)} (as in the run)")
        self.exemplars.set_words(0, f"{named(earlier.exemplars)} (as in the run)")
        with QSignalBlocker(self.policy):
            self.policy.clear()
            self.policy.addItem("as it is" if view.policies else "there are no policies", "")
            for one in view.policies:
                self.policy.addItem(one.id, one.id)
        for spin in self.amounts.values():
            self._form.removeRow(spin)
        self.amounts = {}
        for amount in view.amounts:
            spin = QSpinBox(self)
            spin.setRange(amount.least, amount.most)
            spin.setValue(amount.value)
            spin.setMaximumWidth(120)
            spin.setToolTip(f"{amount.value} in the run; from {amount.least} to {amount.most}")
            spin.valueChanged.connect(self._on_edited)
            words = f"{amount.mechanism.capitalize()}: {amount.label}"
            spin.setAccessibleName(words)
            self._form.addRow(words, spin)
            self.amounts[amount.mechanism] = spin
        self.put(Changes())

    @property
    def changes(self) -> Changes:
        """What is chosen, as far as it differs from the run."""
        view = self._view
        return Changes(
            preset=self.preset.currentData() or "",
            llm=self._llm(),
            policies=self.policies.value,
            policy_texts=dict(self._texts),
            exemplars=self.exemplars.value,
            amounts={
                one.mechanism: self.amounts[one.mechanism].value()
                for one in view.amounts
                if self.amounts[one.mechanism].value() != one.value
            },
            offline=self._offline(),
        )

    @property
    def differs(self) -> tuple[str, ...]:
        """How the branch will differ from the run, a few words each."""
        view, changes = self._view, self.changes
        labels = {one.mechanism: one for one in view.amounts}
        found = [
            f"preset {changes.preset} (was {view.preset})" if changes.preset else "",
            f"LLM {changes.llm} (was {view.llm})" if changes.llm else "",
            *(pages_in_words(changes.offline) for _ in (1,) if changes.offline is not None),
            *(f"policies {named(changes.policies)}" for _ in (1,) if changes.policies is not None),
            *(f"policy {id} rewritten" for id in changes.policy_texts),
            *(f"exemplars {named(changes.exemplars)}" for _ in (1,) if changes.exemplars is not None),
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
        """Show these choices, without counting them as new ones."""
        self._now = changes
        boxes = (
            self.preset,
            self.llm,
            self.replay,
            self.pages,
            self.policy,
            self.text,
            *self.amounts.values(),
        )
        blockers = [QSignalBlocker(box) for box in boxes]
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
        del blockers
        self.edited.emit()

    def _on_edited(self) -> None:
        changes = self.changes
        if changes == self._now:
            return
        self._past.append(self._now)
        self._future.clear()
        self._now = changes
        self.edited.emit()

    def take_over(self, last: Changes) -> None:
        """Choose as was done for another step, as far as this one has it."""
        known = {one.mechanism for one in self._view.amounts}
        ids = {one.id for one in self._view.policies}
        self.take(
            last.replace(
                amounts={name: value for name, value in last.amounts.items() if name in known},
                offline=last.offline if self._view.recorded else None,
                policy_texts={id: text for id, text in last.policy_texts.items() if id in ids},
            )
        )

    def take(self, changes: Changes) -> None:
        """Choose these, as one choice that can be taken back."""
        if changes != self._now:
            self._past.append(self._now)
            self._future.clear()
        self.put(changes)

    def _offline(self) -> bool | None:
        """Return what is chosen for pages, None where it is as in the run."""
        chosen = self.pages.currentIndex()
        offline = chosen == _RECORDED
        return None if chosen == 0 or offline == self._view.offline else offline

    def _llm(self) -> str:
        """Return the LLM of the branch, empty where it is the run's own."""
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
        return next((one.text for one in self._view.policies if one.id == id), "")

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
        # The editor takes back its letters itself; a text counts as one choice.
        if id in self._now.policy_texts and id in self._texts:
            self._now = self.changes
            self.edited.emit()
        else:
            self._on_edited()

    def _combo(self, name: str) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(name)
        box.addItem("as in the run", "")
        box.currentIndexChanged.connect(self._on_edited)
        return box

    @staticmethod
    def _choose(box: QComboBox, name: str) -> None:
        """Choose a name, which is offered from then on where it was not."""
        if box.findData(name) < 0:
            box.addItem(name, name)
        box.setCurrentIndex(box.findData(name))
