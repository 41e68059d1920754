"""Generated pages of a given size, served from loopback, for the benchmarks."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse


def page_of(elements: int) -> str:
    """Return a page with about this many elements: rows of a link, a button, text and a field."""
    rows = []
    for number in range(elements // 5):
        rows.append(
            f'<div class="row"><a href="#r{number}">Row {number}</a><span>Some words about item {number}</span>'
            f'<button type="button">Choose {number}</button><input aria-label="Amount {number}" value="{number}"></div>'
        )
    return f"<!doctype html><title>{elements} elements</title><body>{''.join(rows)}</body>"


CHANGING = """<!doctype html><title>Round 0</title><body>
<button type="button" id="next">Next</button><p id="round">Round 0</p><ul id="rows"></ul>
<script>
const rows = document.getElementById("rows");
for (let at = 0; at < 40; at += 1) {
    rows.insertAdjacentHTML("beforeend", `<li><a href="#${at}">Item ${at}</a> <span>taken in round 000</span></li>`);
}
let round = 0;
document.getElementById("next").addEventListener("click", () => {
    round += 1;
    document.title = document.getElementById("round").textContent = `Round ${round}`;
    rows.children[round % 40].lastElementChild.textContent = `taken in round ${String(round).padStart(3, "0")}`;
});
</script>"""
"""A page that stays as large as it is, and of which each click on its first button changes a little."""


class PageServer:
    """Serves ``/?elements=N`` and ``/changing``; use as a context manager."""

    def __enter__(self) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = urlparse(self.path)
                count = int(parse_qs(asked.query).get("elements", ["100"])[0])
                body = (CHANGING if asked.path == "/changing" else page_of(count)).encode()
                self.send_response(200)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
