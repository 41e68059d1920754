"""Draws Fix."""

from PySide6.QtWidgets import QWidget

from core.debugger.editing.views import EditText
from core.debugger.fix.views import FixView, Rerun
from core.schema.errors import DataError
from gui.fix.window import FixWindow
from tests.gui.fix import samples
from tests.gui.look.studio import Studio


def _fix(studio: Studio, view: FixView) -> FixWindow:
    shown = FixWindow(studio.window.theme, studio.window.remembered, studio.window)
    shown.show()
    shown.show_view(view)
    studio.settle()
    return shown


def fix(studio: Studio) -> QWidget:
    return _fix(studio, samples.VIEW)


def fix_patch(studio: Studio) -> QWidget:
    """A cause has a change of the file that is open."""
    return _fix(studio, samples.PROPOSED)


def fix_proving(studio: Studio) -> QWidget:
    return _fix(studio, samples.PROVING)


def fix_proven(studio: Studio) -> QWidget:
    return _fix(studio, samples.PROVEN.replace(proposer="qwen3:8b"))


def fix_reading(studio: Studio) -> QWidget:
    return _fix(studio, FixView(run=14))


def fix_long(studio: Studio) -> QWidget:
    """A long policy, a run that is still running, and something that going back does not undo."""
    text = samples.POLICY + "\n".join(
        f"{number}. Look at the results, and where none fits go on to the next page of them; never open the "
        "basket before all wishes of the task are met."
        for number in range(1, 60)
    )
    irreversible = "Going back to step 3 does not undo POST http://shop.example/order (step 4) and 2 more"
    preview = f"### system\n{text}\n\n### user\nObjective"
    view = samples.VIEW.replace(
        text=samples.TEXT.replace(text=text, preview=preview, asked=True),
        irreversible=irreversible,
        going_on=True,
    )
    return _fix(studio, view)


def fix_mistake(studio: Studio) -> QWidget:
    shown = _fix(studio, samples.VIEW)
    text = samples.POLICY.replace("description", "descripton", 1)
    shown.field.put(text)
    told = 'there is no key "descripton"; did you mean description?'
    error = DataError(f"search_shop.md, line 2: {told}")
    error.problems = ((2, told), (1, 'the key "description" is missing; add it.'))
    wrong = samples.TEXT.replace(text=text, preview="", bundled=samples.POLICY).wrong(error)
    shown.show_view(samples.VIEW.replace(text=wrong))
    return shown


def fix_small(studio: Studio) -> QWidget:
    shown = fix_mistake(studio)
    shown.resize(900, 600)
    shown.field.open_finder(replaces=True)
    return shown


def fix_rerun(studio: Studio) -> QWidget:
    going = Rerun(run=15, step=3, steps=4)
    return _fix(studio, samples.VIEW.replace(rerun=going, saved=(samples.NAME,)))


def fix_success(studio: Studio) -> QWidget:
    return _fix(studio, samples.VIEW.replace(rerun=samples.ENDED, saved=(samples.NAME,)))


def fix_lost(studio: Studio) -> QWidget:
    lost = Rerun(
        run=15, step=3, state="lost", words="Back at step 3: lost. There is no way to go back to it."
    )
    return _fix(studio, samples.VIEW.replace(rerun=lost, saved=(samples.NAME,)))


def fix_action(studio: Studio) -> QWidget:
    text = EditText(
        name="action", title="The action", hint="Written as in the Action panel.", text="click [12]"
    )
    view = samples.VIEW.replace(
        place=samples.ACTION, text=text.replace(asked=True, preview=samples.TEXT.preview)
    )
    return _fix(studio, view)


def fix_exemplar(studio: Studio) -> QWidget:
    hint = "Run again without this exemplar, retire it (Alt+K), or edit it in the library."
    text = EditText(
        name="buy-lamp", title="Exemplar", hint=hint, text="", asked=True, preview=samples.TEXT.preview
    )
    return _fix(studio, samples.VIEW.replace(place=samples.EXEMPLAR, text=text))


def fix_attached(studio: Studio) -> QWidget:
    why = (
        "An attached agent made this run, and Backstep does not have its files. Edit the reply that it "
        "gets at this step, or fix its files and start it again."
    )
    return _fix(studio, samples.VIEW.replace(attached=True, why_not=why, places=(), place=None, text=None))
