"""Whole applications: Datasette, the admins of Django and Flask, Dash, Streamlit, Gradio, JupyterLab, WebShop."""

from tests.sites.checking import Check, Site
from tests.sites.serving import Program

_SAID = "document.body.innerText.includes({!r})"


def _said(words: str) -> tuple[str, bool]:
    return _SAID.format(words), True


DATASETTE = Site(
    "Datasette",
    program=Program(("datasette==0.65.5",), ("{here}/datasette_tables.py", "{port}"), "/pets/pets"),
    checks=(
        Check(
            "filter",
            do=(
                "select [xpath=//select[@name='_filter_column']] [kind]",
                "type [xpath=//input[@name='_filter_value']] [cat]",
                'click [button "Apply"]',
            ),
            page=(
                "new URL(location).searchParams.get('kind__exact') || new URL(location).searchParams.get('kind')",
                "cat",
            ),
            lines=('cell "Mia"', 'cell "Ada"'),
            absent=('cell "Rex"',),
        ),
        Check(
            "sorted",
            do=('click [link "age"]',),
            page=("document.querySelector('td.col-name').textContent", "Mia"),
        ),
        Check(
            "facet",
            do=("click [xpath=//p[@class='suggested-facets']//a]",),
            lines=('link "cat"', 'link "dog"'),
        ),
        Check(
            "download box",
            do=('check [checkbox "download file"]',),
            page=("document.querySelector('input[name=_dl]').checked", True),
        ),
        Check(
            "SQL editor",
            do=(
                'click [link "✎ View and edit SQL"]',
                'type [textbox ""] [select 6 * 7 as answer]',
                'click [button "Run SQL"]',
            ),
            lines=('cell "42"',),
        ),
    ),
)

DJANGO_ADMIN = Site(
    "Django admin",
    program=Program(("django==5.2.19",), ("{here}/django_admin.py", "{port}"), "/admin/auth/user/"),
    allowed={
        'combobox "Action:"': "it is required, and not wrong before anything was sent",
    },
    checks=(
        Check(
            "rows chosen for an action",
            do=(
                'check [checkbox "Select this object for an action - Ola"]',
                'select [combobox "Action:"] [Delete selected users]',
                'click [button "Go"]',
            ),
            lines=('heading "Delete multiple objects" level 1', 'link "Ola"'),
        ),
        Check("row header", lines=('rowheader "Kari"', 'link "Kari"')),
        Check(
            "all rows",
            do=('check [checkbox "Select all objects on this page for an action"]',),
            lines=('checkbox "Select this object for an action - Kari" checked',),
        ),
        Check(
            "search",
            do=('type [textbox "Search"] [kar] [enter=1]',),
            lines=('link "Kari"',),
            absent=('link "Ola"',),
        ),
        Check(
            "filter of the sidebar",
            do=('type [searchbox "Filter navigation items"] [gro]',),
            lines=('link "Groups"',),
            absent=('link "Users" current',),
        ),
        Check("sorted", do=('click [link "Username"]',), page=("location.search", "?o=-1")),
        Check(
            "theme",
            do=('click [button "Toggle theme (current theme: auto)"]',),
            page=("document.documentElement.dataset.theme !== 'auto'", True),
        ),
        Check(
            "boxes and fields of a form",
            do=(
                'click [link "Kari"]',
                'check [checkbox "Staff status"]',
                'type [textbox "First name:"] [Kari Anne]',
                'click [button "Save and continue editing"]',
            ),
            lines=('checkbox "Staff status" checked', 'textbox "First name:" value="Kari Anne"'),
        ),
        Check(
            "list from which is chosen",
            do=(
                'click [link "Kari"]',
                "select [xpath=//select[@id='id_groups_from']] [Editors]",
                'click [button "Choose selected groups"]',
            ),
            page=(
                "[...document.querySelector('#id_groups_to').options].map(one => one.text).join()",
                "Editors",
            ),
        ),
        Check(
            "wrong field",
            do=(
                'click [link "Kari"]',
                'type [textbox "Username:"] [a b]',
                'click [button "Save and continue editing"]',
            ),
            lines=('textbox "Username:" value="a b" required invalid',),
        ),
    ),
)

FLASK_ADMIN = Site(
    "Flask-Admin",
    program=Program(
        ("flask-admin[sqlalchemy]==2.2.1", "flask-sqlalchemy==3.1.1"),
        ("{here}/flask_admin_people.py", "{port}"),
        "/admin/person/",
    ),
    allowed={
        'link "\uf040"': "a letter of a font that draws an icon is no name, the title is",
        'button "\uf1f8"': "a letter of a font that draws an icon is no name, the title is",
    },
    checks=(
        Check("cells under their heads", first=('cell "Kari"', 'cell "Empty"', 'cell "Oslo"')),
        Check(
            "search",
            do=('type [textbox "name"] [kar] [enter=1]',),
            lines=('cell "Kari"',),
            absent=('cell "Ada"', 'cell "Ada Anne"'),
        ),
        Check("sorted", do=('click [link "Name"]',), page=("location.search.startsWith('?sort=0')", True)),
        Check(
            "filters offered",
            do=('click [link "Add Filter"]',),
            lines=('link "Add Filter" expanded', 'link "Active"'),
        ),
        Check(
            "all rows",
            do=('check [checkbox "Select all records"]', 'click [button "With selected"]'),
            lines=('checkbox "Select record" checked', 'link "Delete"'),
        ),
        Check(
            "cell edited",
            do=(
                'click [link "123"]',
                "type [xpath=//div[contains(@class,'editable-input')]/input] [456] [enter=1]",
            ),
            lines=('link "456"',),
        ),
        Check(
            "form",
            do=(
                "click [xpath=(//a[@title='Edit Record'])[2]]",
                'type [textbox "Name *"] [Ada Anne]',
                'check [checkbox "Active"]',
                'click [button "Save and Continue Editing"]',
            ),
            lines=('textbox "Name *" value="Ada Anne" required', 'checkbox "Active" checked'),
        ),
        Check(
            "list of a form",
            do=(
                "click [xpath=(//a[@title='Edit Record'])[2]]",
                'click [link "Bergen"]',
                'click [option "Oslo"]',
                'click [button "Save and Continue Editing"]',
            ),
            lines=('link "Oslo"',),
        ),
    ),
)

DASH = Site(
    "Dash",
    heavy=True,
    program=Program(("dash==4.4.1",), ("{here}/dash_controls.py", "{port}")),
    ready=_said("press=0"),
    checks=(
        Check("field", do=('type [textbox "Name"] [Ann]',), page=_said("name=Ann")),
        Check("area", do=('type [textbox "Note"] [Hello]',), page=_said("note=Hello")),
        Check(
            "select",
            first=('button "Fruit" collapsed',),
            do=('click [button "Fruit"]', 'click [option "Pear"]'),
            page=_said("fruit=Pear"),
            lines=('text "Fruit"', 'button "Pear" collapsed'),
        ),
        Check(
            "several of a list",
            do=('click [button "Films"]', 'click [option "Brazil"]'),
            page=_said("films=['Brazil']"),
        ),
        Check("radio", do=('check [radio "Medium"]',), page=_said("size=Medium")),
        Check("checkbox", do=('check [checkbox "Gift"]',), page=_said("extras=['Gift']")),
        Check("slider", do=('type [slider ""] [60]',), page=_said("volume=60")),
        Check("button", do=('click [button "Press"]',), page=_said("press=1")),
        Check("tab", do=("click [xpath=//*[text()='Second']]",), lines=('paragraph "The second part"',)),
        Check("table", lines=('cell "Oslo"', 'cell "709"')),
    ),
)

STREAMLIT = Site(
    "Streamlit",
    heavy=True,
    program=Program(
        ("streamlit==1.67.0",),
        (
            *("-m", "streamlit", "run", "{here}/streamlit_controls.py", "--server.port", "{port}"),
            *(
                "--server.address",
                "127.0.0.1",
                "--server.headless",
                "true",
                "--browser.gatherUsageStats",
                "false",
            ),
        ),
    ),
    ready=(
        "document.querySelector('[data-test-script-state=notRunning]') && document.body.innerText.includes('file=')",
        True,
    ),
    allowed={
        f'spinbutton "{part}, Day": value': "the page tells that nothing is chosen in words, Chromium as 0"
        for part in ("year", "month", "day")
    },
    checks=(
        Check(
            "checkbox",
            do=('check [checkbox "I agree"]',),
            page=_said("agree=True"),
            lines=('checkbox "I agree" checked',),
            absent=('paragraph "I agree"',),
        ),
        Check(
            "switch",
            do=('check [switch "Wifi"]',),
            page=_said("wifi=True"),
            lines=('switch "Wifi" checked',),
            absent=('paragraph "Wifi"',),
        ),
        Check(
            "radio",
            do=('check [radio "Medium"]',),
            page=_said("size=Medium"),
            lines=('radio "Small"', 'radio "Medium" checked'),
            absent=('paragraph "Medium"',),
        ),
        Check(
            "slider",
            do=('type [slider "Volume Volume"] [64]',),
            page=_said("volume=64"),
            lines=('slider "Volume Volume" value="64" (range 0 to 100)',),
        ),
        Check(
            "select",
            do=('click [combobox "Fruit"]', 'click [option "Pear"]'),
            page=_said("fruit=Pear"),
            lines=('combobox "Fruit" value="Pear" collapsed (placeholder "Choose an option")',),
        ),
        Check(
            "several of a list",
            do=('click [combobox "Films"]', 'click [option "Brazil"]'),
            page=_said("films=['Brazil']"),
        ),
        Check("text field", do=('type [textbox "Name"] [Kari] [enter=1]',), page=_said("name=Kari")),
        Check(
            "text area",
            do=('type [textbox "Note"] [one two]', "press [Control+Enter]"),
            page=_said("note=one two"),
        ),
        Check("number field", do=('type [spinbutton "Count"] [12] [enter=1]',), page=_said("count=12")),
        Check("button", do=('click [button "Press me"]',), page=_said("pressed=True")),
        Check("file", do=('upload [button "Upload"] [{file}]',), page=_said("file=note.txt")),
        Check(
            "expander",
            first=('button "More" collapsed',),
            do=('click [button "More"]',),
            lines=('button "More" expanded', 'paragraph "The rest of it"'),
        ),
        Check(
            "tabs",
            first=('paragraph "The first part"',),
            do=('click [tab "Second"]',),
            lines=('tab "Second" selected', 'paragraph "The second part"'),
        ),
    ),
)

GRADIO = Site(
    "Gradio",
    heavy=True,
    program=Program(("gradio==6.31.0",), ("{here}/gradio_controls.py", "{port}")),
    ready=("document.body.innerText.includes('Press me')", True),
    checks=(
        Check(
            "checkbox",
            do=('check [checkbox "I agree"]',),
            lines=('checkbox "I agree" checked', 'textbox "Said" value="I agree: True" disabled'),
        ),
        Check(
            "radio",
            do=('check [radio "Medium"]',),
            lines=('radio "Medium" checked', 'textbox "Said" value="Size: Medium" disabled'),
        ),
        Check(
            "boxes",
            do=('check [checkbox "Sugar"]',),
            lines=('checkbox "Sugar" checked', 'textbox "Said" value="With: [\'Sugar\']" disabled'),
        ),
        Check(
            "slider",
            do=('type [slider "range slider for Volume"] [64]',),
            lines=('textbox "Said" value="Volume: 64" disabled',),
        ),
        Check(
            "select",
            do=('click [combobox "Fruit"]', 'click [option "Pear"]'),
            lines=('combobox "Fruit" value="Pear" collapsed', 'textbox "Said" value="Fruit: Pear" disabled'),
        ),
        Check(
            "text field",
            do=('type [textbox "Name"] [Kari]',),
            lines=('textbox "Said" value="Name: Kari" disabled',),
        ),
        Check(
            "number field",
            do=('type [spinbutton "Count"] [12]',),
            lines=('textbox "Said" value="Count: 12" disabled',),
        ),
        Check(
            "button", do=('click [button "Press me"]',), lines=('textbox "Said" value="pressed" disabled',)
        ),
        Check(
            "file by a drop zone",
            do=('upload [button "Click to upload or drop files"] [{file}]',),
            lines=('textbox "Said" value="Picture: note.txt" disabled',),
        ),
        Check(
            "file by a button",
            do=('upload [button "Attach"] [{file}]',),
            lines=('textbox "Said" value="Attach: note.txt" disabled',),
        ),
        Check("accordion", do=('click [button "More ▼"]',), page=_said("The rest of it")),
        Check(
            "tabs",
            do=('click [tab "Second"]',),
            lines=('tab "Second" selected',),
            page=_said("The second part"),
            absent=('button "Second"',),
        ),
    ),
)

JUPYTERLAB = Site(
    "JupyterLab",
    heavy=True,
    program=Program(
        ("jupyterlab==4.6.6",),
        (
            *("-m", "jupyterlab", "--no-browser", "--allow-root", "--port={port}", "--ServerApp.token="),
            *("--ServerApp.password=", "--ServerApp.root_dir={folder}", "--LabApp.news_url=None"),
        ),
        "/lab?reset",
    ),
    ready=("document.querySelectorAll('.jp-LauncherCard').length > 3", True),
    checks=(
        Check(
            "menu",
            do=('click [menuitem "File"]',),
            lines=('menuitem "Log Out"', 'menuitem "Save All" disabled'),
        ),
        Check(
            "notebook",
            do=(
                "click [xpath=(//*[contains(@class,'jp-LauncherCard')])[1]]",
                'type [textbox ""] [6 * 7]',
                "press [Shift+Enter]",
            ),
            page=("document.querySelector('.jp-OutputArea-output')?.innerText.trim()", "42"),
            lines=('text "42"',),
        ),
        Check(
            "text file",
            do=('click [button "Text File"]', 'type [textbox ""] [one\ntwo]'),
            page=(
                "[...document.querySelectorAll('.cm-line')].map(one => one.textContent).join('|')",
                "one|two",
            ),
            lines=('textbox value="one\\ntwo" (.cm-content.cm-lineWrapping)',),
        ),
        Check(
            "sidebar", do=('click [tab "Table of Contents"]',), lines=('tab "Table of Contents" selected',)
        ),
        Check(
            "new folder",
            do=('click [button "New Folder"]', "press [Enter]"),
            page=(
                "document.querySelector('.jp-DirListing-content').textContent.includes('Untitled Folder')",
                True,
            ),
        ),
        Check("button", first=('button "New Folder"',), absent=('generic "New Folder"',)),
    ),
)

_SEARCH = ('type [textbox "Search..."] [blue]', 'click [button "Search"]')
_OPENED = (*_SEARCH, "click [xpath=(//a[@class='product-link'])[1]]")
_OPTIONS = "document.querySelectorAll('input[type=radio]')"

WEBSHOP = Site(
    "WebShop",
    heavy=True,
    variable="BACKSTEP_WEBSHOP",
    checks=(
        Check("search", do=_SEARCH, lines=('button "Back to Search"', 'button "Next >"')),
        Check("result", do=_OPENED, lines=('button "Description"', 'button "Buy Now"')),
        Check(
            "option",
            do=(*_OPENED, "check [xpath=(//input[@type='radio'])[2]]"),
            page=(f"{_OPTIONS}.length === 0 || {_OPTIONS}[1].checked", True),
        ),
        Check("description", do=(*_OPENED, 'click [button "Description"]'), lines=('button "< Prev"',)),
        Check("purchase", do=(*_OPENED, 'click [button "Buy Now"]'), page=_said("Thank you")),
    ),
)
