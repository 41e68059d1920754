"""Libraries of controls: Shoelace, MUI, Ant Design."""

from tests.sites.checking import Check, Site

SHOELACE = Site(
    "Shoelace",
    page="shoelace.html",
    ready=(
        "customElements.get('sl-tree') !== undefined && document.querySelector('sl-tab-panel[active]') !== null",
        True,
    ),
    allowed={'textbox "E-mail *"': "the star comes from a style, and the state `required` says the same"},
    checks=(
        Check(
            "switch",
            first=('switch "Wifi"',),
            do=('check [switch "Wifi"]',),
            page=("wifi.checked", True),
            lines=('switch "Wifi" checked',),
        ),
        Check(
            "switch cleared",
            do=('check [switch "Wifi"]', 'check [switch "Wifi"] [checked=0]'),
            page=("wifi.checked", False),
        ),
        Check(
            "checkbox",
            do=('check [checkbox "I agree"]',),
            page=("agree.checked", True),
            lines=('checkbox "I agree" checked',),
        ),
        Check(
            "radio",
            do=('check [radio "Medium"]',),
            page=("size.value", "m"),
            lines=('radio "Small"', 'radio "Medium" checked'),
            absent=('generic "Medium"',),
        ),
        Check(
            "radio button",
            do=('click [radio "Pro"]',),
            page=("plan.value", "b"),
            lines=('radio "Basic"', 'radio "Pro" checked'),
            absent=('generic "Pro"',),
        ),
        Check(
            "slider",
            do=('type [slider "Volume"] [70]',),
            page=("volume.value", 70),
            lines=('slider "Volume" value="70" (range 0 to 100)',),
        ),
        Check(
            "rating",
            do=('type [slider "Stars"] [4]',),
            page=("stars.value", 4),
            lines=('slider "Stars" value="4"',),
        ),
        Check(
            "select",
            first=('combobox "Fruit" value="Apple" collapsed readonly',),
            do=('click [combobox "Fruit"]', 'click [option "Pear"]'),
            page=("fruit.value", "pear"),
            lines=('combobox "Fruit" value="Pear" collapsed readonly',),
        ),
        Check(
            "text field",
            first=('textbox "E-mail" required',),
            do=('type [textbox "E-mail"] [a@b.no]',),
            page=("email.value", "a@b.no"),
            lines=('textbox "E-mail" value="a@b.no" required',),
        ),
        Check("text area", do=('type [textbox "Note"] [one\ntwo]',), page=("note.value", "one\ntwo")),
        Check(
            "details",
            first=('button "More" collapsed',),
            do=('click [button "More"]',),
            page=("more.open", True),
            lines=('button "More" expanded', 'text "The rest of it"'),
        ),
        Check(
            "tabs",
            first=('tab "One" selected', 'tab "Three" disabled', 'text "First panel"'),
            do=('click [tab "Two"]',),
            lines=('tab "Two" selected', 'text "Second panel"'),
            absent=('text "First panel"',),
        ),
        Check(
            "menu",
            do=('click [button "Edit"]', 'click [menuitem "Cut"]'),
            page=("document.title", "cut"),
            lines=('button "Edit" collapsed',),
        ),
        Check(
            "menu item checkbox",
            do=('click [button "Edit"]', 'click [menuitemcheckbox "Wrap"]'),
            page=("document.querySelector('sl-menu-item[type=checkbox]').checked", True),
        ),
        Check("tree", first=('treeitem "Fruits" collapsed',), do=('click [treeitem "Fruits"]',)),
        Check(
            "dialog",
            do=('click [button "Open"]', 'click [button "Yes"]'),
            page=("document.title", "yes"),
            absent=('button "Yes"',),
        ),
        Check("icon button", first=('button "Settings"',)),
    ),
)

MUI = Site(
    "MUI",
    page="mui.html",
    ready=("document.querySelector('table') !== null", True),
    checks=(
        Check(
            "rating",
            first=('radio "Empty" checked',),
            do=('click [radio "4 Stars"]',),
            page=("state.rating", 4),
            lines=('radio "4 Stars" checked',),
        ),
        Check(
            "slider",
            do=('type [slider "Volume"] [75]',),
            page=("state.volume", 75),
            lines=('slider "Volume" value="75" (range 0 to 100)',),
        ),
        Check(
            "checkbox",
            do=('check [checkbox "I agree"]',),
            page=("state.agree", True),
            lines=('checkbox "I agree" checked',),
        ),
        Check(
            "switch",
            do=('check [checkbox "Wifi"]',),
            page=("state.wifi", True),
            lines=('checkbox "Wifi" checked',),
        ),
        Check(
            "radio",
            do=('check [radio "Medium"]',),
            page=("state.size", "m"),
            lines=('radio "Small"', 'radio "Medium" checked'),
        ),
        Check(
            "select",
            first=('combobox "Age" value="Twenty" collapsed',),
            do=('click [combobox "Age"]', 'click [option "Ten"]'),
            page=("state.age", 10),
            lines=('combobox "Age" value="Ten" collapsed',),
        ),
        Check(
            "options of a select",
            do=('click [combobox "Age"]',),
            lines=('option "Ten"', 'option "Twenty" selected', 'option "Thirty" disabled'),
        ),
        Check(
            "autocomplete",
            do=('type [combobox "Film"] [bra]', 'click [option "Brazil"]'),
            page=("state.film", "Brazil"),
            lines=('combobox "Film" value="Brazil" collapsed',),
        ),
        Check(
            "text field",
            first=('textbox "Name" required invalid', 'paragraph "Too short"'),
            do=('type [textbox "Name"] [Kari]',),
            page=("state.name", "Kari"),
            lines=('textbox "Name" value="Kari" required invalid',),
        ),
        Check(
            "toggle buttons",
            first=('button "Red" pressed',),
            do=('click [button "Blue"]',),
            page=("state.colour", "blue"),
            lines=('button "Red"', 'button "Blue" pressed'),
        ),
        Check(
            "tabs",
            first=('tab "First" selected', 'tab "Third" disabled'),
            do=('click [tab "Second"]',),
            lines=('tab "Second" selected', 'paragraph "The second part"'),
        ),
        Check(
            "accordion",
            first=('button "More" collapsed',),
            do=('click [button "More"]',),
            lines=('button "More" expanded', 'text "The rest of it"'),
        ),
        Check("menu", do=('click [button "Actions"]', 'click [menuitem "Cut"]'), page=("state.menu", "cut")),
        Check("disabled menu item", do=('click [button "Actions"]',), lines=('menuitem "Paste" disabled',)),
        Check(
            "dialog",
            do=('click [button "Ask"]', 'click [button "Yes"]'),
            page=("state.said", "yes"),
            absent=('dialog "Really?"',),
        ),
        Check(
            "text of a dialog",
            do=('click [button "Ask"]',),
            lines=('dialog "Really?"', 'text "It cannot be undone."'),
        ),
        Check(
            "pagination",
            first=('button "page 1" current', 'button "Go to previous page" disabled'),
            do=('click [button "Go to page 2"]',),
            page=("state.page", 2),
            lines=('button "page 2" current',),
        ),
        Check("sorted table", first=('columnheader "Price" sorted ascending', 'cell "12 €"')),
    ),
)

ANT_DESIGN = Site(
    "Ant Design",
    page="antd.html",
    ready=("document.querySelector('.ant-table-row') !== null", True),
    allowed={
        'textbox "* City :"': "the star and the colon come from a style, and the state `required` says the same"
    },
    checks=(
        Check(
            "radio",
            do=('check [radio "Medium"]',),
            page=("state.size", "m"),
            lines=('radio "Small"', 'radio "Medium" checked'),
        ),
        Check(
            "radio button",
            do=('check [radio "Pro"]',),
            page=("state.plan", "b"),
            lines=('radio "Basic"', 'radio "Pro" checked'),
        ),
        Check(
            "checkbox",
            do=('check [checkbox "I agree"]',),
            page=("state.agree", True),
            lines=('checkbox "I agree" checked',),
        ),
        Check(
            "switch",
            do=('check [switch "Wifi"]',),
            page=("state.wifi", True),
            lines=('switch "Wifi" checked',),
        ),
        Check(
            "slider",
            do=('type [slider "Volume"] [64]',),
            page=("state.volume", 64),
            lines=('slider "Volume" value="64"',),
        ),
        Check(
            "number field",
            do=('type [spinbutton "Count"] [12]',),
            page=("state.count", 12),
            lines=('spinbutton "Count" value="12"',),
        ),
        Check("rate", do=("click [xpath=(//div[@role='radio'])[4]]",), page=("state.rate", 4)),
        Check(
            "select",
            first=('combobox "Fruit" value="Apple" collapsed readonly',),
            do=('click [combobox "Fruit"]', 'click [generic "Pear"]'),
            page=("state.fruit", "pear"),
            lines=('combobox "Fruit" value="Pear" collapsed readonly',),
        ),
        Check(
            "options of a select",
            do=('click [combobox "Fruit"]',),
            lines=('generic "Apple" selected', 'generic "Pear"', 'generic "Plum"'),
            absent=('option "Apple" selected', 'option "Pear"'),
        ),
        Check(
            "text field",
            do=('type [textbox "City"] [Bergen]',),
            page=("state.city", "Bergen"),
            lines=('textbox "City" value="Bergen" required',),
        ),
        Check("date", do=('type [textbox "Day"] [2024-05-17] [enter=1]',), page=("state.day", "2024-05-17")),
        Check(
            "tabs",
            first=('tab "First" selected', 'tab "Third" disabled', 'text "The first part"'),
            do=('click [tab "Second"]',),
            lines=('tab "Second" selected', 'text "The second part"'),
        ),
        Check(
            "collapse",
            first=('button "collapsed More" collapsed',),
            do=('click [button "collapsed More"]',),
            lines=('text "The rest of it"',),
        ),
        Check("menu", do=('click [button "Actions"]', 'click [menuitem "Cut"]'), page=("state.menu", "cut")),
        Check("disabled menu item", do=('click [button "Actions"]',), lines=('menuitem "Paste" disabled',)),
        Check("dialog", do=('click [button "Ask"]', 'click [button "OK"]'), page=("state.said", "yes")),
        Check(
            "text of a dialog",
            do=('click [button "Ask"]',),
            lines=('dialog "Really?"', 'text "It cannot be undone."'),
        ),
        Check(
            "upload by a button", do=('upload [button "Attach"] [{file}]',), page=("state.file", "note.txt")
        ),
        Check(
            "upload by a drop zone",
            do=('upload [button "Drop a picture here"] [{file}]',),
            page=("state.file", "note.txt"),
        ),
        Check(
            "tree with boxes",
            do=('check [checkbox "Select Cherry"]',),
            page=("state.tree.join()", "c,f"),
            lines=('checkbox "Select Cherry" checked', 'checkbox "Select Fruits" checked'),
        ),
        Check(
            "sorted table",
            do=('click [columnheader "Name"]',),
            page=("document.querySelector('.ant-table-row').dataset.rowKey", "Fig"),
            lines=('columnheader "Name" sorted ascending',),
        ),
        Check(
            "rows of a table",
            do=('check [checkbox "Select all"]',),
            page=("state.rows.length", 2),
            lines=('checkbox "Select all" checked',),
        ),
    ),
)
