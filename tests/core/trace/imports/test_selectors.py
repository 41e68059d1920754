import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from core.trace.imports.chrome_recorder import css_xpath, text_xpath

PAGE = """<html><body>
<div id="a" class="card big" data-n="0"><ul class="md:flex" data-n="1">
<li data-n="2" title="x-1">one</li><li data-n="3" class="big">two</li><li data-n="4" lang="en-US">three</li></ul></div>
<div class="card" data-n="5"><p data-n="6">one <a href="/pay" data-n="7" id="1x">Pay now</a></p><p data-n="8"></p></div>
</body></html>"""


def by_css(css: str) -> list[str]:
    return [str(one["data-n"]) for one in BeautifulSoup(PAGE, "lxml").select(css) if one.has_attr("data-n")]


def by_xpath(xpath: str) -> list[str]:
    return [one.get("data-n") for one in html.fromstring(PAGE).xpath(xpath) if one.get("data-n")]


@pytest.mark.parametrize(
    "css",
    [
        "div",
        "#a",
        ".card",
        "div.card.big > ul li",
        "div > p:nth-of-type(2)",
        "li:nth-child(2)",
        "li:last-child",
        "li:first-of-type",
        "p:nth-last-child(2)",
        "a:only-child",
        "li.big + li",
        "li ~ li",
        "[title]",
        '[title="x-1"]',
        "[title^=x]",
        "li[title$='-1']",
        "[title*='-']",
        "[class~=big]",
        "[lang|=en]",
        r".md\\:flex",
        r"#\\31 x",
        "html > body > div:nth-of-type(2) > p > a",
        "*",
        "li:nth-child(2n)",
        "a,p",
        "li:not(.big)",
        "div:has(> p)",
    ],
)
def test_an_xpath_finds_what_the_css_does(css):
    css = css.replace("\\\\", "\\")
    xpath = css_xpath(css)
    assert by_xpath(xpath) == by_css(css) != []


@pytest.mark.parametrize(
    "css",
    [
        "",
        "a:hover",
        "a::before",
        "div >",
        "> a",
        "a[",
        ".",
        "#",
        "*:nth-of-type(2)",
        ".card:nth-of-type(2)",
    ],
)
def test_css_that_has_no_xpath_here_gives_nothing(css):
    assert css_xpath(css) == ""


PARTS = st.sampled_from(
    [
        "div",
        "p",
        "li",
        ".card",
        ".big",
        "#a",
        ":nth-child(2)",
        ":last-of-type",
        "[title]",
        " ",
        " > ",
        " + ",
        "~",
    ]
)


@given(parts=st.lists(PARTS, min_size=1, max_size=6))
def test_any_css_that_is_understood_finds_the_same(parts):
    css = "".join(parts).strip()
    xpath = css_xpath(css)
    if xpath and (css[0].isalpha() or "of-type" not in css):
        assert by_xpath(xpath) == by_css(css)


@given(st.text(max_size=40))
def test_whatever_is_given_as_css_is_read_without_an_error(text):
    css_xpath(text)


def test_a_text_names_the_innermost_element():
    page = html.fromstring("<body><div><a><b>Go  on</b></a></div><p>Go on now</p></body>")
    assert [one.tag for one in page.xpath(text_xpath("Go on"))] == ["b"]
    assert page.xpath(text_xpath('say "it\'s"')) == []
