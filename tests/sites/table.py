"""All sites, the light ones first."""

from tests.sites.applications import (
    DASH,
    DATASETTE,
    DJANGO_ADMIN,
    FLASK_ADMIN,
    GRADIO,
    JUPYTERLAB,
    STREAMLIT,
    WEBSHOP,
)
from tests.sites.checking import Site
from tests.sites.choosers import FLATPICKR, REACT_SELECT, SELECT2, TOM_SELECT
from tests.sites.controls import ANT_DESIGN, MUI, SHOELACE
from tests.sites.editing import CODEMIRROR_5, CODEMIRROR_6, MONACO, PROSEMIRROR, QUILL
from tests.sites.frameworks import PRIMEREACT, QUASAR, VUETIFY
from tests.sites.widgets import AG_GRID, DROPZONE, FULLCALENDAR, LEAFLET, SORTABLE, SWAGGER_UI, TABULATOR

SITES: tuple[Site, ...] = (
    SHOELACE,
    MUI,
    ANT_DESIGN,
    QUASAR,
    VUETIFY,
    PRIMEREACT,
    REACT_SELECT,
    SELECT2,
    TOM_SELECT,
    FLATPICKR,
    MONACO,
    CODEMIRROR_5,
    CODEMIRROR_6,
    PROSEMIRROR,
    QUILL,
    LEAFLET,
    FULLCALENDAR,
    TABULATOR,
    AG_GRID,
    SORTABLE,
    DROPZONE,
    SWAGGER_UI,
    DATASETTE,
    DJANGO_ADMIN,
    FLASK_ADMIN,
    DASH,
    STREAMLIT,
    GRADIO,
    JUPYTERLAB,
    WEBSHOP,
)
