"""Fields from which is chosen: react-select, Select2, Tom Select, flatpickr."""

from tests.sites.checking import Check, Site

REACT_SELECT = Site(
    "react-select",
    page="reactselect.html",
    ready=("document.querySelectorAll('input[role=combobox]').length", 3),
    checks=(
        Check(
            "one",
            first=('combobox "Animal" value="Ant" collapsed',),
            do=('click [combobox "Animal"]', 'click [option "Camel"]'),
            page=("state.one", "camel"),
            lines=('combobox "Animal" value="Camel" collapsed',),
        ),
        Check(
            "one by its first letters",
            do=('type [combobox "Animal"] [ca] [enter=1]',),
            page=("state.one", "cat"),
        ),
        Check(
            "several",
            do=('click [combobox "Animals"]', 'click [option "Cat"]'),
            page=("state.many", "dog,cat"),
            lines=('button "Remove Dog"', 'button "Remove Cat"'),
        ),
        Check("one taken out", do=('click [button "Remove Dog"]',), page=("state.many", "")),
        Check(
            "not searchable",
            do=('click [combobox "Fixed"]', 'click [option "Dog"]'),
            page=("state.plain", "dog"),
        ),
    ),
)

SELECT2 = Site(
    "Select2",
    page="select2.html",
    ready=("document.querySelectorAll('.select2-container').length", 3),
    allowed={
        'textbox "': "it only shows what was chosen, which is the value of the list",
        "combobox ": "Chromium calls the list by what was chosen",
    },
    checks=(
        Check(
            "one",
            first=('combobox "Animal" value="Ant" collapsed',),
            do=('click [combobox "Animal"]', 'click [option "Camel"]'),
            page=("document.getElementById('one').value", "c"),
            lines=('combobox "Animal" value="Camel" collapsed',),
        ),
        Check(
            "one by its first letters",
            do=('click [combobox "Animal"]', "type [focus] [ca] [enter=1]"),
            page=("document.getElementById('one').value", "b"),
        ),
        Check(
            "several",
            do=('click [combobox "Animals"]', 'click [option "Cat"]'),
            page=("$('#many').val().join()", "a,b"),
        ),
        Check("one taken out", do=('click [generic "×"]',), page=("$('#many').val().length", 0)),
        Check(
            "without search",
            do=('click [combobox "Few"]', 'click [option "Owl"]'),
            page=("$('#few').val()", "y"),
        ),
        Check(
            "hidden lists",
            first=('combobox "Few" value="Ox" collapsed',),
            absent=('combobox "Few" value="Ox" options: *Ox* | Owl',),
        ),
    ),
)

TOM_SELECT = Site(
    "Tom Select",
    page="tomselect.html",
    ready=("document.querySelectorAll('.ts-control').length", 3),
    checks=(
        Check(
            "one",
            do=('click [combobox "Animal"]', 'click [option "Camel"]'),
            page=("document.getElementById('one').value", "c"),
            lines=('combobox "Animal" value="Camel" collapsed',),
        ),
        Check(
            "one by its first letters",
            do=('type [combobox "Animal"] [ca] [enter=1]',),
            page=("document.getElementById('one').value", "b"),
        ),
        Check(
            "several",
            do=('click [combobox "Animals"]', 'click [option "Cat"]'),
            page=("[...document.getElementById('many').selectedOptions].map(one => one.value).join()", "a,b"),
        ),
        Check(
            "one taken out",
            do=('click [button "×"]',),
            page=("document.getElementById('many').selectedOptions.length", 0),
        ),
        Check(
            "new tag",
            do=('type [combobox "Tags"] [green] [enter=1]',),
            page=("document.getElementById('tags').value", "red,blue,green"),
        ),
        Check("hidden lists", first=('combobox "Animals" collapsed',), absent=('textbox value="red,blue"',)),
    ),
)

FLATPICKR = Site(
    "flatpickr",
    page="flatpickr.html",
    ready=("document.querySelector('.flatpickr-calendar.inline') !== null", True),
    checks=(
        Check(
            "day",
            first=('textbox "Day" value="2024-05-17" readonly',),
            do=('click [textbox "Day"]', 'click [generic "May 20, 2024"]'),
            page=("document.getElementById('day').value", "2024-05-20"),
        ),
        Check(
            "next month",
            do=(
                'click [textbox "Day"]',
                "click [xpath=//*[contains(@class,'open')]//*[contains(@class,'flatpickr-next-month')]]",
                'click [generic "June 3, 2024"]',
            ),
            page=("document.getElementById('day').value", "2024-06-03"),
        ),
        Check(
            "typed",
            do=('type [textbox "Typed"] [2024-05-17] [enter=1]',),
            page=("typed.input.value", "2024-05-17"),
        ),
        Check(
            "time",
            do=('click [textbox "Time"]', 'type [spinbutton "Hour"] [14] [enter=1]'),
            page=("time.input.value", "14:00"),
        ),
        Check(
            "range",
            do=('click [textbox "Days"]', 'click [generic "May 9, 2024"]'),
            page=("days.input.value", "2024-05-01 to 2024-05-09"),
        ),
        Check(
            "always open",
            first=('generic "February 10, 2024" selected',),
            do=('select [combobox "Month"] [March]', 'click [generic "March 3, 2024"]'),
            page=("inline.input.value", "2024-03-03"),
            lines=('generic "March 3, 2024" selected',),
        ),
    ),
)
