from bs4 import BeautifulSoup


def parse(html):
    page = BeautifulSoup(html, "lxml")
    lines = []
    for box in page.select("input[type=checkbox][data-ref]"):
        words = box.find_parent("label").get_text(" ", strip=True)
        lines.append(f'[{box["data-ref"]}] checkbox "{words}"')
    for button in page.select("button[data-ref]"):
        lines.append(f'[{button["data-ref"]}] button "{button.get_text(" ", strip=True)}"')
    return "\n".join(lines)
