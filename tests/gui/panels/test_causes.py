"""The cards of causes: where evidence is, and what a change does."""

from core.debugger.causes.records import Evidence
from core.debugger.evaluations.proof_records import Candidate
from core.debugger.fix.views import Clue
from gui.panels.causes import _details


def texts(clue: Clue) -> list[str]:
    return [row.text for row in _details(clue, leads_to_fix=False)]


def test_evidence_of_a_whole_run_names_no_step() -> None:
    evidence = Evidence(step=0, part="success", run=7, text="took 9 steps")
    assert texts(Clue(step=1, what="x", evidence=(evidence,))) == ["Run 7, success"]


def test_changed_lines_that_look_like_a_heading_are_shown() -> None:
    files = {"a.md": "- one\n++ plus\n", "b.md": "new\n"}
    candidate = Candidate(what="x", files=files, base={"a.md": "- one\n-- old\n", "b.md": ""})
    assert texts(Clue(step=1, what="x", candidate=candidate)) == ["-- old", "++ plus", "new"]
