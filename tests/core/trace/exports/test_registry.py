import pytest

from core.schema.errors import UsageError
from core.schema.task import Verdict
from core.trace.exports.html_page import export_html
from core.trace.exports.json_export import export_json
from core.trace.exports.registry import FORMATS, chosen_format, format_named
from tests.core.trace.making import start, write_run


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_format_writes_a_run_as_bytes(store, form):
    assert format_named(form.name).write(store, write_run(store))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_format_writes_a_run_without_steps(store, form):
    run = store.begin_run(start())
    store.end_run(run, outcome="error", verdict=Verdict(), seconds=1, seconds_in_llm=0, error="No page.")
    assert format_named(form.name).write(store, run)


def test_names_titles_and_suffixes_tell_the_formats_apart(store):
    for field in ("name", "title", "suffix"):
        assert len({getattr(form, field) for form in FORMATS}) == len(FORMATS)


def test_html_and_json_are_as_their_functions_make_them(store):
    run = write_run(store)
    assert format_named("html").write(store, run) == export_html(store, run).encode()
    assert format_named("json").write(store, run) == export_json(store, run).encode()


def test_an_unknown_name_is_reported_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean playwright"):
        format_named("playwrite")


@pytest.mark.parametrize(
    ("path", "title", "name", "written"),
    [
        ("run.html", "One HTML file", "html", "run.html"),
        ("run", "One HTML file", "html", "run.html"),
        ("run.json", "One HTML file", "json", "run.json"),
        ("run.html", "JSON", "html", "run.html"),
        ("run", "ATIF trajectory", "atif", "run.atif.json"),
        ("run.json", "ATIF trajectory", "atif", "run.json"),
        ("run.atif.json", "One HTML file", "atif", "run.atif.json"),
        ("run.v2", "Playwright script", "playwright", "run.v2.py"),
    ],
)
def test_the_suffix_goes_before_the_choice_where_it_is_another_format_s(path, title, name, written):
    form, named = chosen_format(path, title)
    assert (form.name, named) == (name, written)
