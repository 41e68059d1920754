from bs4 import BeautifulSoup


def parse(html):
    page = BeautifulSoup(html, "lxml")
    # A view that is left keeps its numbers, but it is hidden.
    for hidden in page.select(".hide"):
        hidden.decompose()
    lines = []
    for row in page.select(".email-thread[data-ref]"):
        sender = row.select_one(".email-sender").get_text(strip=True)
        lines.append(f'[{row["data-ref"]}] email by "{sender}"')
        for icon in row.select("span[data-ref]"):
            lines.append(f'[{icon["data-ref"]}] {icon["class"][0]} of the email by "{sender}"')
    for button in page.select(".email-send span[data-ref]"):
        lines.append(f'[{button["data-ref"]}] button "{button.get_text(" ", strip=True)}"')
    for field in page.select("textarea[data-ref], input[data-ref]"):
        name = field.get("id") or " ".join(field.get("class", []))
        lines.append(f'[{field["data-ref"]}] textbox "{name}"')
    for icon in page.select("[id^=send-][data-ref]"):
        lines.append(f'[{icon["data-ref"]}] icon "{icon["id"]}"')
    return "\n".join(lines)
