"""Pictures of the tools that correct a run."""

from PySide6.QtWidgets import QInputDialog, QWidget

from core.agent.resources import agent_resources_of
from core.debugger.editing.views import EditText, RefusedEdit
from core.debugger.editing.words import words_of_file
from core.debugger.session_view import EditMade
from core.schema.errors import DataError
from gui.editing.controller import EditingController
from tests.gui import samples
from tests.gui.look.studio import Studio
from tests.gui.stand_ins import AskedService

_MEMORY = EditText(
    name="memory",
    title="Buffer and memory",
    hint="remembered, looked_at, buffer, transitions and chosen; the next prompt and its permissible actions follow.",
    language="toml",
    text='transitions = 4\nlooked_at = ["B1", "B2"]\n\n[remembered]\nkeyword = "green lamp"\n',
)
_POLICY = """+++
description = "Enters keywords, and a price limit, into the shop's search and brings up the list of results."
actions = ["type", "click", "press", "go_back", "wait"]
policies = []

[[parameters]]
name = "words"
description = "What to search for."
+++

# Instruction

Enter the words in the search field. Keep the price out of the keywords.
"""


def _edited(studio: Studio, view: EditText) -> QWidget:
    studio.review()
    service = AskedService("files_listed")
    controller = EditingController(studio.window, service)
    studio.settle()
    studio.session.text_offered.send(view.replace(asked=True))
    studio.settle()
    return controller.editors[view.name]


_WORDS = words_of_file("policies", "", agent_resources_of())


def editor(studio: Studio) -> QWidget:
    return _edited(studio, _MEMORY)


def editor_problem(studio: Studio) -> QWidget:
    shown = _edited(studio, _MEMORY)
    text = _MEMORY.text.replace("looked_at", "looked")
    shown.field.setPlainText(text)
    error = DataError('buffer and memory.toml, line 2: there is no key "looked"; did you mean looked_at?')
    error.problems = (
        (2, 'there is no key "looked"; did you mean looked_at?'),
        (5, "the key must be a list."),
    )
    studio.session.text_offered.send(_MEMORY.replace(text=text).wrong(error))
    studio.session.session_changed.send(samples.SESSION.replace(step=6))
    return shown


def editor_file(studio: Studio) -> QWidget:
    view = EditText(
        name="policies/shop/search_shop.md",
        title="The policy shop/search_shop.md",
        language="markdown",
        text=_POLICY,
        note="Saves to your own copy, /home/me/.config/backstep/policies/shop/search_shop.md. "
        "The bundled file stays unchanged.",
        preview="### system\nYou operate a web page.\n\n### user\n" + samples.RAW,
    )
    return _edited(studio, view)


_FILE = EditText(
    name="policies/shop/search_shop.md",
    title="The policy shop/search_shop.md",
    language="markdown",
    text=_POLICY,
    note="Saves to /home/me/.config/backstep/policies/shop/search_shop.md, your own copy.",
    preview="### system\nYou operate a web page.\n\n### user\n" + samples.RAW,
    words=_WORDS,
    bundled=_POLICY.replace(" Keep the price out of the keywords.", "").replace('"press", ', ""),
)


def editor_replace(studio: Studio) -> QWidget:
    shown = _edited(studio, _FILE)
    shown.field.open_finder(replaces=True)
    shown.field.finder.field.setText("the")
    studio.settle()
    return shown


def editor_diff(studio: Studio) -> QWidget:
    shown = _edited(studio, _FILE)
    shown.pane.diff_button.click()
    studio.settle()
    return shown


def editor_completion(studio: Studio) -> QWidget:
    """Only the list: it is a window of its own."""
    shown = _edited(studio, _FILE)
    shown.field.go_to_line(3, 13)
    shown.field.offer()
    studio.settle()
    return shown.field.names.popup


def put_right(studio: Studio) -> None:
    """The panels with the buttons that edit the run: plan, permissible actions."""
    studio.review()
    beside = samples.STEP.permissible.replace(beside=("goto",))
    studio.session.step_changed.send(samples.STEP.replace(permissible=beside, state=samples.SPACE))
    studio.window.place("Permissible actions").bring()
    studio.window.place("Plan & remedies").bring()


def put_right_stack(studio: Studio) -> None:
    studio.review()
    studio.session.step_changed.send(samples.STEP.replace(state=samples.SPACE))
    studio.window.place("Policy stack").bring()


def refused_line(studio: Studio) -> QWidget:
    studio.review()
    studio.settle()
    stack = studio.window.stack
    stack.push()
    studio.settle()
    stack.findChild(QInputDialog).textValueSelected.emit("serch_shop [steel bottle]")
    _, name, values = studio.session.asked[-1]
    problem = (
        'The policy at work, shop, calls no policy "serch_shop" here; did you mean search_shop? '
        "It may call check_item, search_shop and sort_results."
    )
    studio.session.edit_refused.send(RefusedEdit(name=name, values=values, problem=problem))
    studio.settle()
    return stack.findChildren(QInputDialog)[-1]


def put_right_exemplars(studio: Studio) -> None:
    studio.review()
    studio.window.place("Exemplars").bring()


def menu(studio: Studio) -> QWidget:
    studio.review()
    studio.session.session_changed.send(
        samples.SESSION.replace(
            edits=(EditMade(key="edit 1", kind="plan"),),
            refusals={"parser": "This preset uses no program for the clean observation."},
        )
    )
    studio.settle()
    edit = studio.window.menus.bar.actions()[1].menu()
    edit.popup(studio.window.mapToGlobal(studio.window.rect().topLeft()))
    return edit
