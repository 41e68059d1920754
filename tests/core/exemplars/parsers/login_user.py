from bs4 import BeautifulSoup


def parse(html):
    page = BeautifulSoup(html, "lxml")
    lines = []
    for control in page.select("input[data-ref], button[data-ref]"):
        ref = control["data-ref"]
        if control.name == "button":
            lines.append(f'[{ref}] button "{control.get_text(" ", strip=True)}"')
        else:
            label = control.find_previous("label").get_text(" ", strip=True)
            lines.append(f'[{ref}] textbox "{label}"')
    return "\n".join(lines)
