"""Editors that draw their text beside a field for the keys, and boxes of rich text: read by lines, and written."""

import pytest

from core.schema.errors import ActionError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

DRAWN = """
<style>body{margin:0} .box{position:relative;width:400px;height:100px;overflow:hidden;border:1px solid}
.row{position:absolute;left:40px;height:20px;white-space:pre} .no{position:absolute;left:0;height:20px}
textarea{position:absolute;width:1px;height:1px;padding:0;border:0;opacity:0;z-index:-1}</style>
<div id=ed class="monaco-editor box"><div class=margin></div><textarea class=inputarea aria-label=Code></textarea>
<div class=view-lines></div>
<div class="scrollbar vertical" style="position:absolute;right:0;top:0;width:9px;height:100px">
<div class=slider style="position:absolute;width:9px"></div></div></div>
<script>
let lines = Array.from({length: COUNT}, (_, at) => `line ${at + 1}`), top_ = 0, all = false;
const field = ed.querySelector('textarea'), view = ed.querySelector('.view-lines');
const margin = ed.querySelector('.margin');
const most = () => Math.max(0, lines.length * 20 - 100);
function draw() {
  const first = Math.floor(top_ / 20), shown = lines.slice(first, first + 6);
  // Drawn in no order, as lines are used again.
  view.innerHTML = shown.map((line, at) => [line, at]).reverse().map(([line, at]) =>
    `<div class="view-line row" style="top:${(first + at) * 20}px;transform:translateY(${-top_}px)">`
    + `${line.replace(/ /g, '\\u00a0').replace(/</g, '&lt;')}</div>`).join('');
  margin.innerHTML = shown.map((_, at) =>
    `<div class="line-numbers no" style="top:${at * 20}px">${first + at + 1}</div>`).join('');
  const slider = ed.querySelector('.slider'), size = Math.min(100, 10000 / Math.max(100, lines.length * 20));
  slider.style.height = size + 'px';
  slider.style.top = (most() ? top_ / most() * (100 - size) : 0) + 'px';
}
function put(text) {
  if (window.locked) return;
  lines = (all ? text : lines.join('\\n') + text).split('\\n');
  all = false;
  top_ = Math.min(top_, most());
  requestAnimationFrame(draw);
}
field.addEventListener('keydown', e => {
  if (e.ctrlKey && e.key === 'a') { all = true; e.preventDefault(); }
  else if (e.key === 'Delete' && all) { put(''); e.preventDefault(); }
  else if (e.key === 'End') all = false;
});
field.addEventListener('paste', e => { put(e.clipboardData.getData('text/plain')); e.preventDefault(); });
field.addEventListener('input', () => { put(field.value); field.value = ''; });
ed.addEventListener('wheel', e => {
  top_ = Math.max(0, Math.min(most(), top_ + Math.sign(e.deltaY) * 50));
  draw();
  e.preventDefault();
}, {passive: false});
ed.addEventListener('mousedown', e => { field.focus(); e.preventDefault(); });
draw();
</script>
"""


def drawn(lines: int) -> str:
    """Return a page with an editor of that many lines, of which it draws those in view."""
    return DRAWN.replace("COUNT", str(lines))


@in_browser
async def test_an_editor_is_one_line_with_its_text_in_order(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(drawn(3)))
    seen = await browser.see()
    assert [one.role for one in seen.elements] == ["textbox"]
    field = seen.elements[0]
    assert (field.name, field.value, field.detail) == ("Code", "line 1\nline 2\nline 3", "")
    assert field.uses == ("click", "type")
    assert (field.box.width, field.box.height) == (402, 102)
    assert field.line().endswith(r'textbox "Code" value="line 1\nline 2\nline 3"')


@in_browser
async def test_a_text_is_put_into_an_editor_as_it_is(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(drawn(3)))
    ref = (await browser.find("textbox", "Code")).ref
    await browser.do(f"click [{ref}]")
    assert "focused" in (await browser.find("textbox", "Code")).states
    await browser.do(f"type [{ref}] [if (a) {{\n  b(\n}}]")
    assert (await browser.find("textbox", "Code")).value == "if (a) {\n  b(\n}"
    await browser.do(f"type [{ref}] [\nend] [append=1]")
    assert (await browser.find("textbox", "Code")).value == "if (a) {\n  b(\n}\nend"
    await browser.do("press [x]")
    assert (await browser.find("textbox", "Code")).value.endswith("\nendx")
    await browser.do(f"type [{ref}] []")
    assert (await browser.find("textbox", "Code")).value == ""


@in_browser
async def test_an_editor_that_takes_no_text_is_a_failure(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(drawn(3)))
    await browser.js("window.locked = true")
    with pytest.raises(ActionError, match=r'textbox "Code" did not accept the text; it may be read-only'):
        await browser.do('type [textbox "Code"] [new]')


@in_browser
async def test_a_long_text_tells_which_lines_were_read_and_scrolls(browser: Browsing, site: Site) -> None:
    await browser.open(site.page(drawn(40)))
    field = await browser.find("textbox", "Code")
    assert field.value.splitlines()[0] == "line 1"
    assert field.detail == "only lines 1 to 6 are read; scroll it for others"
    await browser.do(f"scroll [down] [{field.ref}]")
    field = await browser.find("textbox", "Code")
    assert field.detail == "only lines 6 to 11 are read; scroll it for others"
    assert field.value.splitlines()[0] == "line 6"
    await browser.do(f"scroll [up] [{field.ref}]")
    with pytest.raises(ActionError, match="cannot scroll further up"):
        await browser.do(f"scroll [up] [{field.ref}]")


@in_browser
async def test_an_editor_with_a_scrolling_box_and_a_field_before_it_is_read_and_scrolled(
    browser: Browsing, site: Site
) -> None:
    rows = "".join(
        f"<div><div class=CodeMirror-linenumber>{at}</div><pre class=CodeMirror-line>row {at}</pre></div>"
        for at in range(1, 9)
    )
    await browser.open(
        site.page(
            "<label for=t>Source</label><textarea id=t style='display:none'></textarea>"
            "<div class=CodeMirror style='position:relative;width:300px;height:100px;overflow:hidden'>"
            "<div style='overflow:hidden;position:relative;width:3px;height:0'>"
            "<textarea style='position:absolute;bottom:-1em;width:1px;height:1em'></textarea></div>"
            "<div class=CodeMirror-scroll style='height:100px;overflow:scroll'><div class=CodeMirror-sizer"
            f" style='height:2000px'><div class=CodeMirror-code>{rows}</div></div></div></div>"
        )
    )
    assert [one.role for one in (await browser.see()).elements] == ["textbox"]
    field = await browser.find("textbox", "Source")
    assert field.value.splitlines() == [f"row {at}" for at in range(1, 9)]
    assert field.detail == "only lines 1 to 8 are read; scroll it for others"
    await browser.do(f"scroll [down] [{field.ref}]")
    assert await browser.js("document.querySelector('.CodeMirror-scroll').scrollTop") > 50


@in_browser
async def test_an_editor_whose_text_is_the_field_tells_of_gaps_and_leaves_numbers_out(
    browser: Browsing, site: Site
) -> None:
    await browser.open(
        site.page(
            "<div class=cm-editor><div class=cm-scroller style='display:flex;height:80px;overflow:auto'>"
            "<div class=cm-gutters aria-hidden=true><div class=cm-lineNumbers><div class=cm-gutterElement>1</div>"
            "<div class=cm-gutterElement>2</div></div></div>"
            "<div class=cm-content role=textbox aria-multiline=true contenteditable=true aria-label=Query>"
            "<div class=cm-line>select 1,</div><div class=cm-line>  2</div>"
            "<div class=cm-gap contenteditable=false style='height:900px'></div></div></div></div>"
        )
    )
    assert [one.line().split("] ")[1] for one in (await browser.see()).elements] == [
        r'textbox "Query" value="select 1,\n  2" (only lines 1 to 2 are read; scroll it for others)'
    ]
    await browser.do('scroll [down] [textbox "Query"]')
    assert await browser.js("document.querySelector('.cm-scroller').scrollTop") > 40


@in_browser
async def test_rich_text_is_read_once_and_by_lines(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<div contenteditable role=textbox aria-label=note><p>one</p><p><br></p><p>two <b>bold</b></p></div>"
            "<div contenteditable role=textbox aria-label=plain>one<div>two</div></div>"
        )
    )
    seen = await browser.see()
    assert [(one.name, one.value) for one in seen.elements] == [
        ("note", "one\n\ntwo bold"),
        ("plain", "one\ntwo"),
    ]
    await browser.do('type [textbox "note"] [first\nsecond]')
    assert (await browser.find("textbox", "note")).value == "first\nsecond"
    await browser.do('type [textbox "note"] [ and more] [append=1]')
    assert (await browser.find("textbox", "note")).value == "first\nsecond and more"
