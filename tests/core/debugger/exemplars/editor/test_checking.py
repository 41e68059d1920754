"""The program of an exemplar tried on pages, and refs put back into recorded ones."""

import pytest

from core.debugger.exemplars.editor.checking import run_pages, try_parser
from core.debugger.exemplars.editor.marking import marked
from core.debugger.exemplars.editor.views import PageChoice
from core.schema.exemplar import Draft
from core.schema.observation import Box, Element, Observation
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser

PAGE = (
    '<p>Some words</p><label for="n">Name</label><input id="n"><button>Save</button><button>Delete</button>'
)
PARSER = """
from bs4 import BeautifulSoup

def parse(html):
    page = BeautifulSoup(html, "lxml")
    return "\\n".join(f"[{one['data-ref']}] {one.name} {one.get_text()}" for one in page.select("input, button"))
"""


def test_it_reads_the_refs_of_the_recorded_page(stage, llm_server, tmp_path):
    llm_server.script(on('button "Save"'), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), instruction="Keep it.")
    stage.to_the_end(run)
    store, number = stage.services.store, run.state.run
    pages, note = run_pages(store, number, "Keep it.")
    assert (pages[0].kind, pages[0].number, note) == ("step", 1, "")
    trial = stage.thread.run(try_parser(store, Draft(task="Keep it.", parser=PARSER), number, pages[0]))
    assert trial.error == ""
    seen = store.step(number, 1).records[0].observation
    wanted = [f"[{one.ref}] {one.tag} {one.name if one.tag == 'button' else ''}" for one in seen.elements]
    assert trial.text.split("\n") == [one for one in wanted if "button" in one or "input" in one]
    assert trial.page_tokens > trial.tokens
    missing = PageChoice(kind="step", number=99, title="x")
    with pytest.raises(Exception, match="99"):
        stage.thread.run(try_parser(store, Draft(parser=PARSER), number, missing))


BOX = Box(x=0, y=0, width=1, height=1)


def element(ref, tag, name="", **more):
    return Element(ref=ref, role="generic", tag=tag, name=name, box=BOX, **more)


def test_elements_are_found_again_in_document_order_by_their_words():
    html = '<p>x</p><a>Buy</a><a>Buy</a><label for="c">City</label><input id="c"><input aria-label="Name">'
    seen = Observation(
        url="u",
        elements=(
            element(3, "a", "Buy"),
            element(4, "a", "Buy"),
            element(5, "input", "City"),
            element(6, "input", "Name"),
            element(9, "a", "Sell"),
        ),
    )
    page = marked(html, seen)
    assert (page.found, page.total) == (4, 5)
    assert '<a data-ref="3">Buy</a><a data-ref="4">Buy</a>' in page.html
    assert '<input data-ref="5" id="c"/>' in page.html or '<input id="c" data-ref="5"/>' in page.html
    assert 'data-ref="9"' not in page.html
