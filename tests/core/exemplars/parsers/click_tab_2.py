from bs4 import BeautifulSoup


def parse(html):
    page = BeautifulSoup(html, "lxml")
    lines = []
    for tab in page.select("[role=tab][data-ref]"):
        is_open = " selected" if tab.get("aria-selected") == "true" else ""
        lines.append(f'[{tab["data-ref"]}] tab "{tab.get_text(" ", strip=True)}"{is_open}')
    # Panels that were open before keep their numbers, but only the open one can be clicked.
    for panel in page.select("[role=tabpanel]"):
        if panel.get("aria-hidden") != "true":
            for link in panel.select(".alink[data-ref]"):
                lines.append(f'[{link["data-ref"]}] link "{link.get_text(strip=True)}"')
    return "\n".join(lines)
