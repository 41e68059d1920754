"""Refs put back into recorded HTML by tag and words."""

from core.debugger.exemplars.editor.marked_page import marked
from core.schema.observation import Box, Element, Observation

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
