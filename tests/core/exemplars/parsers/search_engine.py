from bs4 import BeautifulSoup


def parse(html):
    page = BeautifulSoup(html, "lxml")
    lines = []
    for field in page.select("input[data-ref]"):
        lines.append(f"[{field['data-ref']}] textbox")
    for button in page.select("button[data-ref]"):
        lines.append(f'[{button["data-ref"]}] button "{button.get_text(strip=True)}"')
    for title in page.select("a.search-title[data-ref]"):
        # Results are counted from 0 over all pages.
        number = int(title["data-result"]) + 1
        lines.append(f'[{title["data-ref"]}] result {number} "{title.get_text(strip=True)}"')
    for link in page.select("#pagination a[data-ref]"):
        lines.append(f'[{link["data-ref"]}] page "{link.get_text(strip=True)}"')
    return "\n".join(lines)
