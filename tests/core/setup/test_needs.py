import pytest

from core.setup import display_problem, needs


@pytest.mark.parametrize(
    ("words", "extras", "libraries"),
    [
        ([], (), "require"),
        (["--task", "miniwob/click-test"], (), "require"),
        (["test"], ("test",), "require"),
        (["test", "--no-lint", "-k", "name"], ("test",), "require"),
        (["doctor"], (), "try"),
        (["runs", "--json"], (), "ignore"),
        (["tasks"], (), "ignore"),
        (["run", "--task", "miniwob/click-test"], (), "require"),
        (["run", "--browser", "embedded"], (), "require"),
        (["run", "--browser", "/usr/bin/chromium"], (), "ignore"),
        (["run", "--browser=/usr/bin/chromium"], (), "ignore"),
        (["mcp", "--http"], (), "require"),
        (["mcp", "--browser", "chromium"], (), "ignore"),
        (["--db", "x.db", "runs"], (), "ignore"),
        (["--llm", "test"], (), "require"),
        (["--db", "runs"], (), "require"),
        *(([name, "1"], (), "ignore") for name in ("compare", "causes", "files", "draft")),
        (["exemplars", "list"], (), "ignore"),
        (["exemplars", "replay"], (), "require"),
        (["exemplars", "worth", "x", "--browser", "chromium"], (), "ignore"),
        (["eval", "--name", "a", "--report"], (), "ignore"),
        (["eval", "--list"], (), "ignore"),
        (["repair", "--name", "a", "--no-runs"], (), "ignore"),
        *(
            case
            for name in ("fork", "eval", "bisect", "repair", "exemplar")
            for case in (([name, "1"], (), "require"), ([name, "1", "--browser", "chromium"], (), "ignore"))
        ),
        (["--browser", "chromium"], (), "require"),
        (["attach", "--browser", "chromium"], (), "require"),
        (["run", "--help"], (), "ignore"),
        (["test", "--help"], (), "ignore"),
        (["test", "--quick", "--help"], (), "ignore"),
        (["attach", "--", "agent", "--help"], (), "require"),
    ],
)
def test_each_command_asks_for_what_it_uses(words, extras, libraries):
    assert needs(["main.py", *words]) == (extras, libraries)


def test_without_a_display_one_line_names_the_command_that_works(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    problem = display_problem()
    assert problem is not None
    assert "python3 main.py run --task miniwob/click-test-2" in problem
    assert "\n" not in problem


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"])
def test_any_display_will_do(monkeypatch, name):
    for other in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "something")
    assert display_problem() is None
