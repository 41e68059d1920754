"""Editors of code and text: Monaco, CodeMirror 5 and 6, ProseMirror, Quill."""

from tests.sites.checking import Check, Site

_TWO_LINES = 'textbox "Code" value="let a = 1;\\nlet b = 2;"'
_TYPED = "if (a) {\n  go();\n}"
_TYPED_LINE = 'textbox "Code" value="if (a) {\\n  go();\\n}"'


def _checks(text: str, top: str) -> tuple[Check, ...]:
    """Return what is tried on each editor of code.

    In JavaScript, `text` is its whole text, and `top` whether the long one was scrolled.
    """
    return (
        Check("lines", first=(_TWO_LINES,)),
        Check(
            "replaced", do=(f'type [textbox "Code"] [{_TYPED}]',), page=(text, _TYPED), lines=(_TYPED_LINE,)
        ),
        Check(
            "appended",
            do=('type [textbox "Code"] [\nlet c = 3;] [append=1]',),
            page=(text, "let a = 1;\nlet b = 2;\nlet c = 3;"),
            lines=('textbox "Code" value="let a = 1;\\nlet b = 2;\\nlet c = 3;"',),
        ),
        Check("emptied", do=('type [textbox "Code"] []',), page=(text, ""), lines=('textbox "Code"',)),
        Check(
            "keys",
            do=(
                'click [textbox "Code"]',
                "press [Control+Home]",
                "press [x]",
                "press [Control+z]",
                "press [y]",
            ),
            page=(text, "ylet a = 1;\nlet b = 2;"),
        ),
        Check("scrolled", do=('scroll [down] [textbox "Long"]',), page=(top, True)),
    )


MONACO = Site(
    "Monaco",
    page="monaco.html",
    afresh=True,
    ready=("Boolean(window.editor) && document.querySelectorAll('.view-line').length > 5", True),
    checks=_checks("editor.getValue()", "long.getVisibleRanges()[0].startLineNumber > 5"),
)
CODEMIRROR_5 = Site(
    "CodeMirror 5",
    page="codemirror5.html",
    afresh=True,
    allowed={
        'textbox ""': "the label belongs to the field that the editor has replaced",
        'textbox "Long": value': "the field that takes the keys is empty; the text is drawn beside it",
    },
    checks=_checks("editor.getValue()", "long.getScrollInfo().top > 100"),
)
CODEMIRROR_6 = Site(
    "CodeMirror 6",
    page="codemirror6.html",
    afresh=True,
    ready=("Boolean(window.editor)", True),
    checks=_checks("editor.state.doc.toString()", "long.scrollDOM.scrollTop > 100"),
)
PROSEMIRROR = Site(
    "ProseMirror",
    page="prosemirror.html",
    afresh=True,
    ready=("Boolean(window.editor)", True),
    checks=(
        Check("lines", first=('textbox "Text" value="First paragraph\\nSecond paragraph"',)),
        Check(
            "replaced",
            do=('type [textbox "Text"] [One line]',),
            page=("editor.state.doc.textContent", "One line"),
            lines=('textbox "Text" value="One line"',),
        ),
        Check(
            "appended",
            do=('type [textbox "Text"] [ ends] [append=1]',),
            page=("editor.state.doc.textContent", "First paragraphSecond paragraph ends"),
        ),
        Check(
            "keys",
            do=('click [textbox "Text"]', "press [Control+End]", "press [Enter]", "press [x]"),
            page=("editor.state.doc.lastChild.textContent", "x"),
        ),
        Check(
            "bold words",
            do=('select_text [textbox "Text"] [Second]', 'click [button "Toggle strong style"]'),
            page=("document.querySelector('strong')?.textContent", "Second"),
        ),
        Check(
            "menu", do=('click [button "Type..."]',), lines=('button "Type..." expanded', 'menuitem "Plain"')
        ),
    ),
)

QUILL = Site(
    "Quill",
    page="quill.html",
    afresh=True,
    ready=("Boolean(window.editor ?? editor)", True),
    checks=(
        Check("lines", first=('textbox value="First paragraph\\nSecond paragraph" (.ql-editor)',)),
        Check("replaced", do=('type [textbox ""] [One line]',), page=("editor.getText()", "One line\n")),
        Check(
            "appended",
            do=('type [textbox ""] [ ends] [append=1]',),
            page=("editor.getText()", "First paragraph\nSecond paragraph ends\n"),
        ),
        Check(
            "bold",
            do=('select_text [textbox ""] [Second]', 'click [button "bold"]'),
            page=("editor.root.querySelector('strong')?.textContent", "Second"),
        ),
        Check(
            "heading",
            first=('button "Normal" collapsed',),
            do=(
                'click [textbox ""]',
                "press [Control+Home]",
                'click [button "Normal"]',
                'click [button "Heading 1"]',
            ),
            page=("editor.root.querySelector('h1')?.textContent", "First paragraph"),
        ),
        Check(
            "list",
            do=('click [textbox ""]', "press [Control+Home]", 'click [button "list: bullet"]'),
            page=("editor.root.querySelector('li')?.textContent", "First paragraph"),
        ),
    ),
)
