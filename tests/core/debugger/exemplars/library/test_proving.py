"""Proofs at the window: exemplars are replayed by a process and compared, and the list shows what was found."""

import pytest

import core.debugger.job_process
from core.debugger.evaluations.records import Subject, WorthResult
from core.debugger.evaluations.worth import keep_worth
from core.debugger.exemplars.changes import ExemplarChanges
from core.debugger.exemplars.library.service import LibraryService
from core.debugger.exemplars.library.views import Chosen, Notice, Query
from core.debugger.exemplars.trying.views import ReplayResult
from core.exemplars.library.records import Filter, about_family
from core.exemplars.library.store import Library
from tests.core.debugger.live import live_session, settings_in
from tests.core.exemplars.making import ALL
from tests.core.stage import config_folder_in, need_chromium

ONE = "miniwob/click-link/0"
PROVEN = Query(filter=Filter(found=("plays",)))


def test_all_are_compared_and_the_list_tells_when_that_was_and_whether_it_is_old(library):
    for one in ALL:
        library.put(one)
    library.put(ALL[0].replace(id="moved", family=ALL[-1].family))
    library.service.list_rows(Query(filter=Filter(found=("of another family",)), order="distance"))
    assert library.wait("listed").compared is None
    library.service.compare_all()
    view = library.wait("listed", lambda view: view.compared)
    assert [(row.id, row.nearest, row.taken_for) for row in view.rows] == [
        (ALL[0].id, "moved", ALL[-1].family),
        ("moved", ALL[0].id, ALL[0].family),
    ]
    assert not view.is_compared_old
    assert "would be taken for another family" in library.wait("noticed").text
    library.put(ALL[0].replace(task="Another one."))
    library.wait("listed", lambda view: view.is_compared_old)


def test_a_list_follows_what_another_process_found_out(library):
    library.put(ALL[0])
    library.service.list_rows(PROVEN)
    library.wait("listed", lambda view: view.ready and not view.total)
    result = ReplayResult(id=ALL[0].id, task="miniwob/x", success=True, when=1.0)
    other = Library.open(library.folder / "exemplars.db")
    other.proofs.save("replay", ALL[0].id, 1.0, result.model_dump_json())
    other.close()
    library.wait("listed", lambda view: view.total == 1)


def test_one_exemplar_is_shown_with_all_that_was_found_out_about_it(library):
    library.put(ALL[0])
    memory, trace = library.resources.memory, str(library.store.path.absolute())
    worth = WorthResult(
        subject=Subject(name=ALL[0].id), trace=trace, evaluation=3, when=5.0, preset="synapse", llm="rules",
        judged=10, to_success=6, low=0.2, high=0.8,
    )  # fmt: skip
    keep_worth(memory, worth)
    keep_worth(
        memory, worth.replace(subject=Subject(kind="family", name=ALL[0].family), trace="other.db", when=6.0)
    )
    result = ReplayResult(id=ALL[0].id, version=2, task="miniwob/x", success=False, problem="Gone.", when=4.0)
    proofs = memory.library().proofs
    proofs.save("replay", ALL[0].id, 4.0, result.model_dump_json())
    proofs.save("replay", about_family("none"), 4.0, "{}")
    library.service.show_exemplar(ALL[0].id)
    family, own, replay = library.wait("detailed").proofs
    assert (family.what, family.evaluation) == ("Worth of its family", None)
    assert (own.result, own.good, own.evaluation) == ("+60 points (+20 to +80)", True, 3)
    assert (replay.result, replay.good) == ("no success", False)
    assert replay.why.endswith("Gone. Version 2 was replayed.")


@pytest.fixture
def live(tmp_path, llm_server):
    settings = settings_in(tmp_path, llm_server, browser=need_chromium())
    live = live_session(tmp_path, settings, config_folder_in(tmp_path / "config"))
    live.session.start()
    live.wait(lambda: live.view.message.startswith("Choose a task"))
    live.service = LibraryService(live.session, ExemplarChanges(live.session))
    live.notice = Notice(text="")
    live.service.changed.connect(lambda view: live._keep("job", view))
    live.service.noticed.connect(lambda notice: live._keep("notice", notice))
    yield live
    live.session.close().result(60)
    live.session.stop_worker()


@pytest.mark.browser
def test_exemplars_are_replayed_by_the_program_and_the_result_or_its_failure_is_told(
    live, tmp_path, monkeypatch
):
    live.service.replay(Chosen(ids=(ONE,)))
    live.wait(lambda: live.service.view.busy and live.service.view.of == 1)
    live.service.replay(Chosen(ids=(ONE,)))
    live.wait(lambda: "still running" in live.notice.text)
    live.wait(lambda: live.notice.text == "1 of 1 still succeed.")
    assert live.session.services().resources.memory.library().page(PROVEN.filter).rows[0].id == ONE
    live.wait(lambda: not live.service.view.busy)
    main = tmp_path / "main.py"
    main.write_text("import sys; print('The browser has ended.', file=sys.stderr); sys.exit(3)")
    monkeypatch.setattr(core.debugger.job_process, "_MAIN", main)
    live.service.replay(Chosen(ids=(ONE,)))
    live.wait(
        lambda: not live.service.view.busy and live.notice.text == "Replaying failed: The browser has ended."
    )
