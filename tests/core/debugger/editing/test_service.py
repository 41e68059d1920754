"""Files that agents go by, edited while a run rests: checked, shown in the prompt, saved and tried at once."""

import threading

import pytest

from core.debugger.branching.service import ForkService
from core.debugger.features import Features
from core.schema.changes import Changes
from core.storage.resources import RESOURCES
from tests.core.debugger.live import SECONDS
from tests.core.stage import on, page_file
from tests.llm_server import Reply

pytestmark = pytest.mark.browser
PLAIN = "presets/plain.toml"
POLICY = "policies/shop/search_shop.md"


def says(action):
    return Reply(text=f"REASON: So.\nACTION: {action}")


class Editor:
    """The service of a session, with what it said last."""

    def __init__(self, live) -> None:
        self.live = live
        self.service = Features(live.session)["editing"]
        self.views: list = []
        self.names: tuple[str, ...] = ()
        self._answered = threading.Event()
        self.service.changed.connect(self._keep_view)
        self.service.files_listed.connect(self._keep_names)

    def _keep_view(self, view) -> None:
        self.views.append(view)
        self._answered.set()

    def _keep_names(self, names) -> None:
        self.names = names
        self._answered.set()

    def ask(self, command, *arguments):
        """Give a command, and return the view that it sends."""
        self.views.clear()
        self._answered.clear()
        command(*arguments)
        assert self._answered.wait(SECONDS)
        self.live.settle()
        return self.views[-1] if self.views else None


@pytest.fixture
def editor(live):
    before = {path for path in live.config.rglob("*") if path.is_file()}
    editor = Editor(live)
    yield editor
    for path in {path for path in live.config.rglob("*") if path.is_file()} - before:
        path.unlink()
    editor.service.session.closers.remove(editor.service.close)


def saved(live, name):
    return live.config / name


def test_all_kinds_of_files_are_listed(editor):
    editor.ask(editor.service.list_files)
    assert {PLAIN, POLICY, "prompts/turn.j2"} <= set(editor.names)
    assert {name.partition("/")[0] for name in editor.names} == {
        "policies",
        "presets",
        "prompts",
        "state_spaces",
    }
    assert not [name for name in editor.names if "README" in name]


def test_a_bundled_file_is_saved_as_a_copy_of_ones_own_which_then_holds(editor, live):
    view = editor.ask(editor.service.open_path, str(RESOURCES / PLAIN))
    assert (view.name, view.language, view.asked, view.problem) == (PLAIN, "toml", True, "")
    assert f"Saves to your own copy, {saved(live, PLAIN)}" in view.note
    before = (RESOURCES / PLAIN).read_text()
    text = "# mine\n" + view.text
    view = editor.ask(editor.service.save, PLAIN, text, view.base)
    assert view.applied
    assert saved(live, PLAIN).read_text() == text
    assert (RESOURCES / PLAIN).read_text() == before
    view = editor.ask(editor.service.open, PLAIN)
    assert view.text == text
    assert "your own copy" in view.note


def test_what_was_written_to_the_file_meanwhile_is_not_overwritten(editor, live):
    view = editor.ask(editor.service.open, PLAIN)
    file, mine, other = saved(live, PLAIN), "# mine\n" + view.text, "# other\n" + view.text
    file.parent.mkdir(exist_ok=True)
    file.write_text(other)
    for ask in (editor.service.save, editor.service.save):
        refused = editor.ask(ask, PLAIN, mine, view.base)
        assert (refused.applied, refused.text) == (False, mine)
        assert refused.problem.startswith(f"{file} was changed since this text was read. Reload (Alt+R)")
        assert file.read_text() == other
    view = editor.ask(editor.service.open, PLAIN)
    assert view.text == other
    view = editor.ask(editor.service.save, PLAIN, mine, view.base)
    assert view.applied
    assert editor.ask(editor.service.save, PLAIN, mine + "# more\n", view.base).applied
    assert file.read_text() == mine + "# more\n"


def test_a_file_keeps_its_line_ends(editor, live):
    text = (RESOURCES / PLAIN).read_text().replace("\n", "\r\n")
    saved(live, PLAIN).parent.mkdir(exist_ok=True)
    saved(live, PLAIN).write_bytes(text.encode())
    view = editor.ask(editor.service.open, PLAIN)
    assert (view.text, view.problem) == (text, "")
    editor.ask(editor.service.save, PLAIN, "# mine\r\n" + view.text, view.base)
    assert saved(live, PLAIN).read_bytes() == f"# mine\r\n{text}".encode()


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        (PLAIN, "title =", "titel =", "plain.toml, line 2:"),
        (PLAIN, 'space = "', 'space = "x', "there is no state space"),
        (POLICY, "actions =", "action =", "search_shop.md, line 3:"),
        ("prompts/turn.j2", "{{", "{{ tsk }}{{", 'there is no value "tsk"'),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line_and_nothing_is_saved(editor, live, name, old, new, problem):
    text = editor.ask(editor.service.open, name).text
    assert old in text
    wrong = text.replace(old, new, 1)
    view = editor.ask(editor.service.check, name, wrong)
    assert problem in view.problem
    assert "/tmp" not in view.problem
    view = editor.ask(editor.service.save, name, wrong, None)
    assert (view.applied, problem in view.problem) == (False, True)
    assert not saved(live, name).exists()


def test_a_half_typed_name_of_a_filter_is_a_problem_of_the_text_and_the_session_goes_on(editor, live):
    mode = live.view.mode
    view = editor.ask(editor.service.check, "prompts/turn.j2", "{{ task | trunc }}")
    assert view.problem == "turn.j2, line 1: No filter named 'trunc'."
    assert live.view.mode == mode != "failed"


def test_the_prompt_that_would_result_is_shown_for_the_step_in_view_and_tried_there(
    editor, live, server, tmp_path
):
    name = "prompts/" + live.session.services().resources.presets.get("plain").prompts.system
    text = editor.ask(editor.service.open, name).text
    assert "open a task" in editor.ask(editor.service.check, name, text).preview
    server.script(on('button "Go"'), on('button "Go"'))
    live.open("web/open", url=page_file(tmp_path, "<button>Go</button>"), instruction="Go.")
    live.to_review()
    view = editor.ask(editor.service.check, name, text)
    assert view.preview.startswith("This text does not change the prompt of the current action")
    view = editor.ask(editor.service.check, name, text + "\nBe quick.")
    assert view.preview.startswith("### system")
    assert "Be quick." in view.preview
    assert 'button "Go"' in view.preview
    assert len(server.requests) == 1
    view = editor.ask(editor.service.try_here, name, text + "\nBe quick.", None)
    assert view.applied
    server.wait_for_requests(2)
    live.wait_phase("review")
    assert "Be quick." in "\n".join(server.requests[-1].texts)
    assert [kind for kind, _, _, _ in live.interventions(live.view.run)] == ["ask again"]


def to_called_policy(live, server):
    """Go on to the first action of a policy that the shop's first one has called."""
    live.session.agent.set_preset("step")
    live.open("shop/goal-000")
    server.script(says("search_shop [steel bottle]"), says("wait [1]"))
    live.to_review()
    live.session.corrections.accept()
    live.wait_phase("observe")
    live.to_review()


def test_a_policy_is_tried_in_the_frame_at_work(editor, live, server):
    to_called_policy(live, server)
    assert live.step.stack.frames[0].policy == "search_shop"
    view = editor.ask(editor.service.open_path, live.step.stack.frames[0].file)
    assert view.name == POLICY
    assert not view.why_no_try
    text = view.text.replace("# Instruction\n", "# Instruction\n\nMind the capacity.\n", 1)
    view = editor.ask(editor.service.check, POLICY, text)
    assert view.problem == ""
    assert "Mind the capacity." in view.preview
    server.script(says("wait [1]"))
    before = len(server.requests)
    editor.ask(editor.service.try_here, POLICY, text, None)
    server.wait_for_requests(before + 1)
    live.wait_phase("review")
    assert "Mind the capacity." in "\n".join(server.requests[-1].texts)
    assert live.step.stack.frames[0].policy == "search_shop"


def test_a_file_of_elsewhere_is_left_to_an_editor_of_ones_own(editor, live):
    editor.service.open_path("/elsewhere/x.md")
    live.wait(lambda: "/elsewhere/x.md is neither a bundled file" in live.told)


@pytest.fixture
def shop(live, server):
    """The shop's task at its first action, on a policy of its own text."""
    to_called_policy(live, server)
    return live.view.run


def fork(live, run, changes):
    forking = ForkService(live.session)
    forking.fork(run, 2, changes, confirmed=False)
    live.wait(lambda: live.view.run not in (None, run) and live.view.mode == "waiting", "the branch")
    live.session.agent.set_preset("step")
    return forking


@pytest.mark.parametrize("by", ["text", "folder"])
def test_a_file_that_a_branch_does_not_go_by_is_not_tried_in_it(editor, live, server, shop, tmp_path, by):
    text = (RESOURCES / POLICY).read_text()
    own = text.replace("# Instruction\n", "# Instruction\n\nBe thrifty.\n", 1)
    file = tmp_path / "library" / "shop" / "search_shop.md"
    file.parent.mkdir(parents=True)
    file.write_text(own)
    changes = {
        "text": Changes(policy_texts={"shop/search_shop": own}),
        "folder": Changes(policies=str(tmp_path / "library")),
    }
    forking = fork(live, shop, changes[by])
    server.script(says("wait [1]"))
    live.to_review()
    assert "Be thrifty." in "\n".join(server.requests[-1].texts)
    mine = text.replace("# Instruction\n", "# Instruction\n\nMind the capacity.\n", 1)
    view = editor.ask(editor.service.check, POLICY, mine)
    said = {
        "text": "This run uses its own text of the policy shop/search_shop, not this file. Fork it",
        "folder": f"This run uses {file}, not this file. Edit that file",
    }
    assert view.problem == ""
    assert view.note.startswith(said[by])
    assert view.why_no_try.startswith(said[by])
    assert "Mind the capacity." not in view.preview
    assert "Be thrifty." in view.preview
    asked = len(server.requests)
    editor.service.try_here(POLICY, mine, None)
    live.wait(lambda: live.view.message.startswith(said[by]))
    assert not saved(live, POLICY).exists()
    assert len(server.requests) == asked
    assert "action" in editor.ask(editor.service.check, POLICY, mine.replace("actions =", "actio =")).problem
    # A preview of another policy has the branch's own text of this one.
    other = "policies/shop/check_item.md"
    view = editor.ask(editor.service.check, other, (RESOURCES / other).read_text())
    assert "Be thrifty." in view.preview
    assert view.why_no_try == ""
    live.session.closers.remove(forking.close)


def test_the_settings_file_is_edited_at_a_key_and_checked(editor, live):
    view = editor.ask(editor.service.open_setting, "max_steps")
    assert view.asked
    lines = view.text.split("\n")
    assert lines[view.line - 1].lstrip("# ").startswith("max_steps = ")
    wrong = editor.ask(editor.service.check, view.name, view.text + "\nmax_stepz = 3\n")
    assert "max_steps" in wrong.problem
    before = (
        (live.config / "settings.toml").read_text("utf-8")
        if (live.config / "settings.toml").exists()
        else None
    )
    try:
        saved = editor.ask(editor.service.save, view.name, "max_steps = 12\n", view.base)
        assert saved.applied
        assert (live.config / "settings.toml").read_text("utf-8") == "max_steps = 12\n"
        assert editor.ask(editor.service.open_setting, "max_steps").line == 1
        assert editor.ask(editor.service.open_setting, "theme").text == 'max_steps = 12\n# theme = "system"\n'
    finally:
        if before is not None:
            (live.config / "settings.toml").write_text(before, "utf-8")
