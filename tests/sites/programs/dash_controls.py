"""Controls of Dash, each with what it has come to beside it."""

import sys
from typing import Any

from dash import Dash, Input, Output, callback, dash_table, dcc, html

CONTROLS = {
    "name": ("value", "Name", dcc.Input(id="name", value="", debounce=False)),
    "note": ("value", "Note", dcc.Textarea(id="note", value="")),
    "fruit": ("value", "Fruit", dcc.Dropdown(["Apple", "Pear", "Plum"], id="fruit")),
    "films": ("value", "Films", dcc.Dropdown(["Alien", "Brazil"], id="films", multi=True)),
    "size": ("value", "Size", dcc.RadioItems(["Small", "Medium"], id="size")),
    "extras": ("value", "Extras", dcc.Checklist(["Gift", "Card"], [], id="extras")),
    "volume": ("value", "Volume", dcc.Slider(0, 100, 10, value=30, id="volume")),
    "day": ("date", "Day", dcc.DatePickerSingle(id="day", initial_visible_month="2024-05-01")),
    "press": ("n_clicks", "Press", html.Button("Press me", id="press", n_clicks=0)),
}
ROWS = [{"city": "Oslo", "sea": "", "people": 709}, {"city": "Bern", "sea": "", "people": 134}]

app = Dash("controls")
app.layout = html.Div(
    [
        *(html.Div([html.Label(label, htmlFor=id), control]) for id, (_, label, control) in CONTROLS.items()),
        dcc.Tabs(
            [
                dcc.Tab(html.P("The first part"), label="First"),
                dcc.Tab(html.P("The second part"), label="Second"),
            ]
        ),
        dash_table.DataTable(
            ROWS, [{"name": name, "id": name} for name in ("city", "sea", "people")], sort_action="native"
        ),
        html.Pre(id="told"),
    ]
)


@callback(Output("told", "children"), [Input(id, control[0]) for id, control in CONTROLS.items()])
def tell(*values: Any) -> str:
    return "\n".join(f"{id}={value}" for id, value in zip(CONTROLS, values, strict=True))


app.run(host="127.0.0.1", port=int(sys.argv[1]))
