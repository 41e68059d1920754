"""All sites, the light ones first."""

from tests.sites.applications import DATASETTE, DJANGO_ADMIN, GRADIO, JUPYTERLAB, STREAMLIT, WEBSHOP
from tests.sites.checking import Site
from tests.sites.controls import ANT_DESIGN, MUI, SHOELACE
from tests.sites.editing import CODEMIRROR_5, CODEMIRROR_6, MONACO, PROSEMIRROR
from tests.sites.widgets import DROPZONE, FULLCALENDAR, LEAFLET, SWAGGER_UI, TABULATOR

SITES: tuple[Site, ...] = (
    SHOELACE,
    MUI,
    ANT_DESIGN,
    MONACO,
    CODEMIRROR_5,
    CODEMIRROR_6,
    PROSEMIRROR,
    LEAFLET,
    FULLCALENDAR,
    TABULATOR,
    DROPZONE,
    SWAGGER_UI,
    DATASETTE,
    DJANGO_ADMIN,
    STREAMLIT,
    GRADIO,
    JUPYTERLAB,
    WEBSHOP,
)
