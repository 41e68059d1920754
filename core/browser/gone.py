"""The one thing that ends every question to a page: nobody is left to answer."""


class PageGone(Exception):
    """The document went away while it was being asked: it navigates, was closed, or crashed."""
