"""Frameworks of controls for Vue and React: Quasar, Vuetify, PrimeReact."""

from tests.sites.checking import Check, Site

_ROWS = ('cell "Kari"', "cell", 'cell "Oslo"')
"""Cells of a row without a phone number."""

QUASAR = Site(
    "Quasar",
    page="quasar.html",
    ready=("document.querySelector('.q-table td') !== null", True),
    checks=(
        Check(
            "text field",
            do=('type [textbox "City"] [Bergen]',),
            page=("state.city", "Bergen"),
            lines=('textbox "City" value="Bergen"',),
        ),
        Check(
            "select",
            first=('combobox "Fruit" value="Apple" collapsed readonly',),
            do=('click [combobox "Fruit"]', 'click [option "Pear"]'),
            page=("state.fruit", "Pear"),
            lines=('combobox "Fruit" value="Pear" collapsed readonly',),
        ),
        Check(
            "select of several",
            do=('click [combobox "Fruits"]', 'click [option "Apple"]'),
            page=("state.many.join()", "Plum,Apple"),
            lines=('option "Apple" selected',),
        ),
        Check("chip removed", do=('click [button "Remove"]',), page=("state.many.length", 0)),
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
            "radio",
            do=('check [radio "Medium"]',),
            page=("state.size", "m"),
            lines=('radio "Small"', 'radio "Medium" checked'),
        ),
        Check(
            "slider",
            do=('type [slider "Volume"] [75]',),
            page=("state.volume", 75),
            lines=('slider "Volume" value="75"',),
        ),
        Check("rating", do=('click [radio "grade 4"]',), page=("state.stars", 4)),
        Check(
            "chips",
            first=('button "Red" pressed', 'button "Blue"'),
            do=('click [button "Blue"]',),
            page=("state.blue", True),
            lines=('button "Blue" pressed',),
        ),
        Check(
            "tabs",
            first=('tab "One" selected', 'text "First panel"'),
            do=('click [tab "Two"]',),
            lines=('tab "Two" selected', 'text "Second panel"'),
        ),
        Check(
            "expansion",
            do=('click [button "Expand \\"More\\""]',),
            lines=('text "The rest of it"',),
        ),
        Check("dialog", do=('click [button "Ask"]', 'click [button "Yes"]'), page=("state.said", "yes")),
        Check(
            "menu",
            do=('click [button "Expand \\"Actions\\""]', 'click [button "Cut"]'),
            page=("state.menu", "cut"),
        ),
        Check("toggle buttons", do=('click [button "Pro"]',), page=("state.plan", "b")),
        Check(
            "row of a table",
            do=("check [xpath=(//td//*[@role='checkbox'])[2]]",),
            page=("state.rows[0].name", "Ada"),
        ),
        Check(
            "sorted table",
            do=('click [columnheader "Name"]',),
            lines=('columnheader "Name" sorted ascending', *_ROWS),
        ),
        Check("list", do=('click [button "Pear in stock"]',), page=("state.item", "Pear")),
    ),
)

VUETIFY = Site(
    "Vuetify",
    page="vuetify.html",
    allowed={'radio "Star 0 of 5" is not read': "nobody sees it, for it has no width"},
    ready=("document.querySelector('.v-data-table td') !== null", True),
    checks=(
        Check(
            "text field",
            do=('type [textbox "City"] [Bergen]',),
            page=("state.city", "Bergen"),
            lines=('textbox "City" value="Bergen"',),
        ),
        Check(
            "select",
            do=('click [combobox "Fruit"]', 'click [option "Pear"]'),
            page=("state.fruit", "Pear"),
            lines=('combobox "Fruit" value="Pear" collapsed',),
        ),
        Check(
            "autocomplete",
            do=('type [combobox "Film"] [bra]', 'click [option "Brazil"]'),
            page=("state.film", "Brazil"),
            lines=('combobox "Film" value="Brazil" collapsed',),
        ),
        Check("text area", do=('type [textbox "Note"] [one\ntwo]',), page=("state.note", "one\ntwo")),
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
        Check("slider", do=('type [slider ""] [75]',), page=("state.volume", 75), lines=('text "Volume"',)),
        Check("rating", do=('click [button "Star 4 of 5"]',), page=("state.stars", 4)),
        Check(
            "chips",
            first=('generic "Red" selected', 'generic "Blue"'),
            do=('click [generic "Blue"]',),
            page=("state.colours.join()", "red,blue"),
            lines=('generic "Red" selected', 'generic "Blue" selected'),
        ),
        Check(
            "tabs",
            first=('tab "One" selected', 'generic "First panel"'),
            do=('click [tab "Two"]',),
            lines=('tab "Two" selected', 'generic "Second panel"'),
        ),
        Check(
            "expansion",
            first=('button "More" collapsed',),
            do=('click [button "More"]',),
            lines=('button "More" expanded', 'text "The rest of it"'),
        ),
        Check("dialog", do=('click [button "Ask"]', 'click [button "Yes"]'), page=("state.said", "yes")),
        Check("menu", do=('click [button "Actions"]', 'click [listitem "Cut"]'), page=("state.menu", "cut")),
        Check("toggle buttons", do=('click [button "Pro"]',), page=("state.plan", "b")),
        Check("file field", do=('upload [button "Attach"] [{file}]',), page=("state.file", "note.txt")),
        Check(
            "button of a file field",
            do=('upload [button "Attach prepended action"] [{file}]',),
            page=("state.file", "note.txt"),
        ),
        Check("pagination", do=('click [button "Go to page 2"]',), page=("state.page", 2)),
        Check("table with an empty cell", first=('columnheader "Phone"', *_ROWS)),
    ),
)

PRIMEREACT = Site(
    "PrimeReact",
    page="primereact.html",
    allowed={'checkbox "Wifi": name': "it is the box round the switch of that name"},
    ready=("document.querySelector('.p-datatable td') !== null", True),
    checks=(
        Check("text field", do=('type [textbox "City"] [Bergen]',), page=("state.city", "Bergen")),
        Check(
            "dropdown",
            first=('textbox "Fruit" value="Apple" readonly',),
            do=('click [textbox "Fruit"]', 'click [option "Pear"]'),
            page=("state.fruit", "Pear"),
            lines=('textbox "Fruit" value="Pear" readonly',),
        ),
        Check(
            "select of several",
            do=('click [combobox "Fruits"]', 'click [option "Apple"]'),
            page=("state.many.join()", "Plum,Apple"),
        ),
        Check(
            "autocomplete",
            do=('type [combobox "Film"] [bra]', 'click [option "Brazil"]'),
            page=("state.film", "Brazil"),
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
            "radio",
            do=('check [radio "Medium"]',),
            page=("state.size", "m"),
            lines=('radio "Medium" checked',),
        ),
        Check("slider", do=('type [slider "Volume"] [75]',), page=("state.volume", 75)),
        Check(
            "rating",
            do=("click [xpath=(//*[contains(@class,'p-rating-item ') or @class='p-rating-item'])[4]]",),
            page=("state.stars", 4),
        ),
        Check("number field", do=('type [spinbutton "Count"] [12]', "press [Tab]"), page=("state.count", 12)),
        Check(
            "toggle buttons",
            do=('click [button "Pro"]',),
            page=("state.plan", "Pro"),
            lines=('button "Pro" pressed',),
        ),
        Check(
            "date",
            do=('click [combobox "Day"]', "click [xpath=//td[not(contains(@class,'other'))]/span[.='17']]"),
            page=("state.day?.getDate()", 17),
        ),
        Check("tabs", do=('click [tab "Two"]',), lines=('tab "Two" selected', 'text "Second panel"')),
        Check(
            "accordion",
            do=('click [button "More"]',),
            lines=('button "More" expanded', 'text "The rest of it"'),
        ),
        Check("dialog", do=('click [button "Ask"]', 'click [button "Yes"]'), page=("state.said", "yes")),
        Check("menu", do=('click [button "Actions"]', 'click [link "Cut"]'), page=("state.menu", "cut")),
        Check("upload", do=('upload [generic "Attach"] [{file}]',), page=("state.file", "note.txt")),
        Check(
            "sorted table",
            do=('click [columnheader "Name"]',),
            lines=('columnheader "Name" sorted ascending', *_ROWS),
        ),
    ),
)
