import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from core.schema.action import Check, Click, Press, RefTarget, RoleTarget, Select, Stop, Type
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.action_text import parse_action
from gui.panels.action.fields import ChoiceField, FlagField, TargetField
from gui.panels.action.form import ActionForm, same_action
from tests.gui import samples

TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=40).filter(
    lambda text: not text.startswith("\ufeff")  # Qt takes a byte-order mark for the encoding's.
)


@pytest.fixture
def form(qtbot: QtBot, theme) -> ActionForm:
    form = ActionForm(theme)
    qtbot.addWidget(form)
    form.show_options(samples.PERMISSIBLE.actions, samples.ELEMENTS)
    form.show()
    return form


def write(form: ActionForm, text: str) -> None:
    form.line.setText(text)
    form.line.textEdited.emit(text)


def test_a_target_is_shown_with_its_words(form: ActionForm):
    form.show_text("click [6]")
    target = form.field("target")
    assert isinstance(target, TargetField)
    assert target.box.currentText() == '[6] button "Buy now"'
    assert form.kinds.currentText() == "click"


def test_choosing_a_target_rewrites_the_line(form: ActionForm, qtbot: QtBot):
    form.show_text("click [6]")
    with qtbot.waitSignal(form.changed):
        form.field("target").box.setCurrentText('[7] button "Description"')
    assert form.text == "click [7]"
    assert form.problem == ""


def test_writing_the_line_fills_the_fields(form: ActionForm):
    form.show_text("click [6]")
    write(form, "type [9] [two [words]] [enter=1]")
    assert form.kinds.currentText() == "type"
    assert form.field("target").value == "9"
    assert form.field("text").value == "two [words]"
    assert form.field("enter").value is True
    assert form.problem == ""


def test_a_place_has_a_field_where_it_is_offered_and_is_refused_elsewhere(form: ActionForm):
    write(form, "click [6] [at=0.3,0.7]")
    assert form.problem == "click takes no at here."
    click = next(one for one in samples.PERMISSIBLE.actions if one.name == "click")
    at = Parameter(name="at", required=False)
    form.show_options((click.replace(parameters=(*click.parameters, at)),), samples.ELEMENTS)
    assert (form.problem, form.field("at").value) == ("", "0.3,0.7")
    form.field("at").edit.setText("0.5, 1")
    form.field("at").changed.emit()
    assert (form.text, form.problem) == ("click [6] [at=0.5,1]", "")
    form.field("at").edit.setText("there")
    form.field("at").changed.emit()
    assert "at cannot be" in form.problem
    form.field("at").edit.setText("")
    form.field("at").changed.emit()
    assert form.text == "click [6]"


def test_every_option_of_an_action_has_a_field_where_nothing_is_prescribed(form: ActionForm):
    form.show_options((), samples.ELEMENTS)
    write(form, "select_text [6] [two words] [nth=2]")
    assert form.field("nth").value == "2"
    write(form, "drag [6] [7] [from_at=0,0] [to_at=1,1]")
    assert (form.field("from_at").value, form.field("to_at").value, form.problem) == ("0,0", "1,1", "")
    write(form, "select [6] [Oslo] [selected=0]")
    assert form.field("selected").value is False
    assert form.text == "select [6] [Oslo] [selected=0]"


def test_another_kind_of_action_keeps_what_fits(form: ActionForm):
    form.show_text("type [9] [hello]")
    form.kinds.setCurrentText("press")
    assert form.field("target") is None
    assert form.text == "press []"
    assert form.problem == "Enter a value for keys."
    form.field("keys").edit.setText("Enter")
    form.field("keys").edit.textEdited.emit("Enter")
    assert form.text == "press [Enter]"
    assert form.problem == ""


def test_a_target_that_is_not_listed_is_refused_in_words(form: ActionForm):
    write(form, "click [44]")
    assert form.problem.startswith("click is not permissible on [44]")
    assert form.note.text() == form.problem


def test_an_action_that_is_not_permissible_is_refused_in_words(form: ActionForm):
    write(form, "go_back")
    assert form.problem.startswith("go_back is not permissible here")


def test_a_text_that_is_no_action_leaves_the_fields_and_says_why(form: ActionForm):
    form.show_text("click [6]")
    write(form, "clik [6]")
    assert "did you mean click?" in form.problem
    assert form.field("target").value == "6"


def test_the_options_on_offer_follow_the_target(form: ActionForm):
    write(form, "select [10] [20-inch]")
    option = form.field("option")
    assert isinstance(option, ChoiceField)
    offered = [option.box.itemText(at) for at in range(option.box.count())]
    assert offered == ["14-inch", "20-inch"]
    assert form.problem == ""
    write(form, "select [10] [30-inch]")
    assert "not on offer" in form.problem


def test_a_target_may_be_written_out_as_role_and_name(form: ActionForm):
    write(form, 'click [button "Save"]')
    assert form.field("target").value == 'button "Save"'
    assert parse_action(form.text) == Click(target=RoleTarget(role="button", name="Save"))
    form.field("target").box.setEditText('button "Other"')
    assert parse_action(form.text) == Click(target=RoleTarget(role="button", name="Other"))


def test_a_target_that_names_nothing_is_at_fault(form: ActionForm):
    form.show_text("click [6]")
    form.field("target").box.setEditText("that one")
    assert '"that one" names no element' in form.problem
    form.field("target").box.setEditText("")
    assert form.problem == "Choose an element for target."


def test_a_row_with_parts_to_fill_in_goes_to_the_first_of_them(form: ActionForm, qtbot: QtBot):
    form.activateWindow()
    row = next(row for row in samples.PERMISSIBLE.rows() if row.text == "type [9] []")
    assert form.show_row(row) is False
    assert form.field("text").edit.hasFocus()
    whole = next(row for row in samples.PERMISSIBLE.rows() if row.text == "click [7]")
    assert form.show_row(whole) is True
    assert form.text == "click [7]"


def test_pointing_fills_the_target(form: ActionForm):
    form.show_text("click [6]")
    assert form.show_target(8) is True
    assert form.text == "click [8]"
    form.show_text("press [Enter]")
    assert form.show_target(8) is False
    form.show_text("")
    assert form.show_target(8) is True
    assert form.text == "click [8]"


def test_showing_an_action_tells_of_no_change(form: ActionForm, qtbot: QtBot):
    with qtbot.assertNotEmitted(form.changed):
        form.show_text("type [9] [x]")
        form.show_options(samples.PERMISSIBLE.actions[:2], samples.ELEMENTS)
        form.show_text("click [6]")


def test_a_flag_that_is_on_by_default_can_be_cleared(qtbot: QtBot, theme):
    form = ActionForm(theme)
    qtbot.addWidget(form)
    form.show_options((), samples.ELEMENTS)
    form.show_text("check [9]")
    checked = form.field("checked")
    assert isinstance(checked, FlagField)
    assert checked.value is True
    checked.check.click()
    assert parse_action(form.text) == Check(target=RefTarget(ref=9), checked=False)


def test_a_field_at_fault_is_framed(form: ActionForm):
    write(form, "click [6]")
    form.field("target").box.setEditText("that one")
    assert form.field("target").box.property("wrong") is True
    form.field("target").box.setEditText("[7]")
    assert form.field("target").box.property("wrong") is False


@given(
    action=st.one_of(
        st.builds(Type, target=st.builds(RefTarget, ref=st.just(9)), text=TEXT, enter=st.booleans()),
        st.builds(Press, keys=TEXT.filter(lambda text: text.strip() == text and text)),
        st.builds(Select, target=st.builds(RefTarget, ref=st.just(10)), option=TEXT),
        st.builds(Stop, answer=TEXT),
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_line_and_fields_agree_on_any_action(form: ActionForm, action):
    form.show_text(str(action))
    form._on_field()
    assert parse_action(form.text) == action


def test_the_same_action_is_known_however_it_is_written():
    assert same_action("click [6]", " CLICK [#6] ")
    assert not same_action("click [6]", "click [7]")
    assert not same_action("click [6]", "nonsense")


BUY = PermissibleAction(
    name="buy_now",
    origin="state",
    parameters=(
        Parameter(name="size", choices=(Choice(value="7"), Choice(value="8 [wide]"))),
        Parameter(name="count", type="integer", required=False),
        Parameter(name="gift", type="boolean", required=False),
    ),
)


@pytest.fixture
def in_state(form: ActionForm) -> ActionForm:
    form.show_options((BUY,), samples.ELEMENTS)
    return form


def test_an_action_of_the_state_has_its_own_fields(in_state: ActionForm):
    in_state.show_text(r"buy_now [8 \[wide\]] [] [true]")
    assert in_state.kinds.currentText() == "buy_now"
    assert [in_state.field(name).value for name in ("size", "count", "gift")] == ["8 [wide]", "", True]
    assert in_state.problem == ""


def test_the_fields_of_a_states_action_rewrite_the_line(in_state: ActionForm):
    in_state.kinds.setCurrentText("buy_now")
    assert in_state.problem == "Enter a value for size."
    in_state.field("size").box.setCurrentText("8 [wide]")
    in_state.field("gift").check.click()
    assert in_state.text == r"buy_now [8 \[wide\]] [] [true]"
    assert in_state.problem == ""


def test_a_value_that_is_not_on_offer_is_reported(in_state: ActionForm):
    write(in_state, "buy_now [44]")
    assert in_state.problem == '"44" is not on offer for size; there are: 7 | 8 [wide].'


def test_a_row_of_a_states_action_comes_in_with_its_value(in_state: ActionForm):
    pick = PermissibleAction(
        name="pick",
        origin="state",
        parameters=(Parameter(name="item", choices=(Choice(value="B1"), Choice(value="B2"))),),
    )
    in_state.show_options((pick, BUY), samples.ELEMENTS)
    second = Permissible(actions=(pick,)).rows()[1]
    assert in_state.show_row(second) is True
    assert in_state.text == "pick [B2]"
    blank = Permissible(actions=(BUY,)).rows()[0]
    assert in_state.show_row(blank) is True
    assert in_state.text == "buy_now [7]"
