"""Maps, calendars, tables, lists that are sorted, drop zones and the pages that are made of an API."""

from tests.sites.checking import Check, Site

_HANDLE = "//*[contains(concat(@class,' '),'tabulator-row-handle ')]"
_EDGE = "//*[contains(@class,'tabulator-header')]//*[contains(@class,'tabulator-col-resize-handle')]"

LEAFLET = Site(
    "Leaflet",
    page="leaflet.html",
    checks=(
        Check("zoom button", do=('click [button "Zoom in"]',), page=("map.getZoom()", 9)),
        Check("wheel", do=("scroll [down] [xpath=//*[@id='map']]",), page=("map.getZoom() < 8", True)),
        Check("marker", do=('click [button "Oslo"]',), lines=('text "The capital"', 'button "Close popup"')),
        Check(
            "map dragged",
            do=("drag [xpath=//*[@id='map']] [xpath=//*[@id='map']] [from_at=0.7,0.7] [to_at=0.4,0.5]",),
            page=("map.getCenter().lng > 11", True),
        ),
        Check(
            "marker dragged",
            do=("drag [button \"Cargo\"] [xpath=//*[@id='map']] [to_at=0.8,0.3]",),
            page=("cargo.getLatLng().lng > 11.5", True),
        ),
        Check("layers", do=('check [radio "Relief"]',), lines=('radio "Plain"', 'radio "Relief" checked')),
    ),
)
FULLCALENDAR = Site(
    "FullCalendar",
    page="fullcalendar.html",
    checks=(
        Check("event", do=('click [generic "Dentist"]',), page=("document.title", "Dentist")),
        Check(
            "event dragged",
            do=('drag [generic "Dentist"] [gridcell "May 23, 2024"]',),
            page=("calendar.getEventById('1').startStr", "2024-05-23"),
        ),
        Check(
            "days selected",
            do=('drag [gridcell "May 14, 2024"] [gridcell "May 16, 2024"]',),
            page=("document.title", "2024-05-14"),
        ),
        Check(
            "next month",
            do=('click [button "Next month"]',),
            lines=('heading "June 2024" level 2', 'button "today"'),
        ),
        Check(
            "view",
            first=('button "month" pressed', 'button "today" disabled'),
            do=('click [button "list"]',),
            lines=('button "list" pressed', 'button "month"'),
        ),
    ),
)
TABULATOR = Site(
    "Tabulator",
    page="tabulator.html",
    ready=("window.ready", True),
    checks=(
        Check(
            "sorted",
            do=('click [columnheader "Price"]',),
            page=("table.getData('active').map(one => one.price).join()", "4,12,30"),
            lines=('columnheader "Price" sorted ascending',),
        ),
        Check(
            "cell edited",
            do=('click [gridcell "Fig"]', "press [Control+a]", "type [focus] [Date] [enter=1]"),
            page=("table.getData()[1].name", "Date"),
            lines=('gridcell "Date"',),
        ),
        Check(
            "row dragged",
            do=(f"drag [xpath=({_HANDLE})[3]] [xpath=({_HANDLE})[1]] [to_at=0.5,0.1]",),
            page=("table.getRows().map(one => one.getData().name).join()", "Plum,Quince,Fig"),
        ),
        Check(
            "column resized",
            do=(f'drag [xpath=({_EDGE})[2]] [columnheader "Price"]',),
            page=("table.getColumn('name').getWidth() > 230", True),
        ),
    ),
)
DROPZONE = Site(
    "Dropzone",
    page="dropzone.html",
    checks=(
        Check(
            "file",
            do=('upload [button "Drop files here to upload"] [{file}]',),
            page=("zone.files[0].name", "note.txt"),
            lines=('link "Remove file"',),
        ),
        Check(
            "file removed",
            do=('upload [button "Drop files here to upload"] [{file}]', 'click [link "Remove file"]'),
            page=("zone.files.length", 0),
        ),
    ),
)
SWAGGER_UI = Site(
    "Swagger UI",
    page="swagger.html",
    ready=("document.querySelector('.opblock-summary-control') !== null", True),
    allowed={'button "GET /pages /{name} A page"': "a place where a line may be broken is no space"},
    checks=(
        Check(
            "operation",
            first=('button "GET /pages/{name} A page" collapsed',),
            do=('click [button "GET /pages/{name} A page"]',),
            lines=('button "GET /pages/{name} A page" expanded', 'button "Try it out"'),
        ),
        Check(
            "tried out",
            do=(
                'click [button "GET /pages/{name} A page"]',
                'click [button "Try it out"]',
                'type [textbox "name"] [swagger.html]',
                'select [combobox ""] [dog]',
                'click [button "Execute"]',
            ),
            page=(
                "document.querySelector('.request-url')?.textContent.includes('/pages/swagger.html?kind=dog')",
                True,
            ),
        ),
    ),
)

_NAMES = "words('list')"
_GRIP = "//*[@id='held']/li[{}]/i"

SORTABLE = Site(
    "SortableJS",
    page="sortable.html",
    checks=(
        Check(
            "to the top",
            do=('drag [listitem "Gamma"] [listitem "Alpha"]',),
            page=(_NAMES, "Gamma,Alpha,Beta,Delta"),
        ),
        Check(
            "to the end",
            do=('drag [listitem "Alpha"] [listitem "Delta"]',),
            page=(_NAMES, "Beta,Gamma,Delta,Alpha"),
        ),
        Check(
            "to its neighbour",
            do=('drag [listitem "Alpha"] [listitem "Beta"]',),
            page=(_NAMES, "Beta,Alpha,Gamma,Delta"),
        ),
        Check(
            "to another list",
            do=('drag [listitem "Beta"] [listitem "Omega"]',),
            page=("words('far').split(',').sort().join()", "Beta,Omega"),
        ),
        Check(
            "by its handle",
            do=(f"drag [xpath={_GRIP.format(3)}] [xpath={_GRIP.format(1)}]",),
            page=("words('held')", "Three,One,Two"),
        ),
        Check(
            "without the browser's dragging",
            do=('drag [listitem "Blue"] [listitem "Red"]',),
            page=("words('forced')", "Blue,Red,Green"),
        ),
    ),
)
AG_GRID = Site(
    "AG Grid",
    page="aggrid.html",
    ready=("document.querySelectorAll('.ag-row').length", 3),
    checks=(
        Check(
            "sorted",
            do=("click [xpath=//*[@col-id='age']//*[contains(@class,'ag-header-cell-text')]]",),
            page=("names()", "Ada,Kari,Ola"),
            lines=('columnheader "Age" sorted ascending column 5',),
        ),
        Check(
            "cell edited",
            do=('dblclick [gridcell "Kari"]', "type [focus] [Eva] [enter=1]"),
            page=("names()", "Eva,Ada,Ola"),
            lines=('gridcell "Eva" column 2',),
        ),
        Check(
            "row chosen",
            do=("check [xpath=(//*[contains(@class,'ag-row')]//input)[2]]",),
            page=("grid.getSelectedRows().map(one => one.name).join()", "Ada"),
        ),
        Check(
            "all rows",
            do=('check [checkbox "Column with Header Selection"]',),
            page=("grid.getSelectedRows().length", 3),
        ),
        Check(
            "filtered",
            do=(
                "click [xpath=//*[contains(@class,'ag-header-cell-filter-button')]]",
                'type [textbox "Filter Value"] [ber] [enter=1]',
            ),
            page=("names()", "Ada"),
        ),
        Check(
            "row dragged",
            do=('drag [xpath=(//*[contains(@class,"ag-row-drag")])[3]] [gridcell "Kari"]',),
            page=("names().startsWith('Ola')", True),
        ),
        Check("empty cell", first=('gridcell "Kari" column 2', 'gridcell "Oslo" column 4')),
    ),
)
