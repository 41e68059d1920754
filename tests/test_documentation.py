"""Every page of the documentation can be reached, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from core.schema.restore import GRADES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "resources" / "docs"
CONTENTS = DOCS / "README.md"
PAGES = (
    *sorted(DOCS.glob("*.md")),
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "core/README.md", "gui/README.md", "tests/README.md")
    ),
)


def links_of(page: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]


def anchors_of(page: Path) -> list[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file_and_its_heading(page: Path):
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


def test_the_contents_name_every_page():
    pages = {page.name for page in DOCS.glob("*.md")} - {CONTENTS.name}
    assert pages <= set(links_of(CONTENTS))


def test_the_grades_of_going_back_mean_what_the_page_says():
    page = (DOCS / "debugging.md").read_text("utf-8").lower()
    for grade, meaning in GRADES.items():
        assert f"| {grade} | {meaning} |" in page


def test_commands_of_developers_name_the_interpreter_of_the_checkout():
    pages = {*PAGES, *(ROOT / "resources").glob("*/README.md")}
    bare = re.compile(r"(?<!/)\bpython -m tests\b")
    assert [str(page) for page in pages if bare.search(page.read_text(encoding="utf-8"))] == []
