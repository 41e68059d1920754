import sqlite3
from contextlib import closing

import pytest

from core.exemplars.library.store import Library
from core.schema.errors import NotInTraceError, UsageError
from core.trace.repro.importer import is_repro
from core.trace.run_files import export_run
from core.trace.store import TraceStore
from tests.core.trace.making import write_run


@pytest.fixture
def database(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    write_run(store)
    store.close()
    return tmp_path / "traces.db"


@pytest.mark.parametrize(("form", "begins"), [("json", "{"), ("html", "<!DOCTYPE html>")])
def test_a_run_takes_the_place_of_an_older_file_and_leaves_nothing_beside_it(
    database, tmp_path, form, begins
):
    path = tmp_path / "out" / f"run.{form}"
    path.parent.mkdir()
    path.write_text("older")
    export_run(database, 1, form, str(path))
    assert path.read_text().startswith(begins)
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_is_no_plain_file_is_written_to(database, capfd):
    export_run(database, 1, "json", "/dev/stdout")
    assert capfd.readouterr().out.startswith("{")


@pytest.mark.parametrize(
    ("form", "path", "said"), [("pdf", "x.pdf", "no export form"), ("json", "/nowhere/x.json", "/nowhere")]
)
def test_a_form_or_place_that_cannot_be_used_is_reported(database, form, path, said):
    with pytest.raises(UsageError, match=said):
        export_run(database, 1, form, path)


def test_no_database_is_overwritten_but_an_older_repro_file(database, tmp_path):
    names = ("other.db", "exemplars.db", "older.db", "backup.db")
    other, library, older, backup = (tmp_path / name for name in names)
    other.write_bytes(database.read_bytes())
    Library.open(library).close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("VACUUM INTO ?", (str(backup),))
    before = {path: path.read_bytes() for path in (database, other, library, backup)}
    for form in ("html", "repro"):
        for path in before:
            with pytest.raises(UsageError, match="database"):
                export_run(database, 1, form, str(path))
    assert {path: path.read_bytes() for path in before} == before
    for _ in range(2):
        export_run(database, 1, "repro", str(older))
        assert is_repro(older)
    with pytest.raises(UsageError, match="database"):
        export_run(database, 1, "html", str(older))


def test_a_run_that_is_not_there_leaves_the_older_file_alone(database, tmp_path):
    path = tmp_path / "run.json"
    path.write_text("older")
    with pytest.raises(NotInTraceError, match="no run 9"):
        export_run(database, 9, "json", str(path))
    assert path.read_text() == "older"
