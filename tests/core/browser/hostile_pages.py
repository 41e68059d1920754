"""Pages that try to end whoever opens them, as one table: name to page."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.core.browser.site import Site


@dataclass(frozen=True)
class HostilePage:
    """What stands in the body, or a function of the size that makes it."""

    body: Callable[[int], str]
    size: int
    """How much of it there is at full strength; in a unit of the page's own."""
    sample: int
    """As much of it as shows the same in a test that runs each time; 0 for none, where that takes long."""

    def serve(self, site: Site, size: int | None = None) -> str:
        """Serve the page at this size, at full strength unless told, and return its URL."""
        return site.page(self.body(self.size if size is None else size))


def _script(text: str) -> Callable[[int], str]:
    return lambda size: f"<p>hostile</p><script>const N = {size}; {text}</script>"


HOSTILE: dict[str, HostilePage] = {
    "a loop at load": HostilePage(_script("while (true) {}"), 1, 1),
    "a loop after load": HostilePage(_script("onload = () => setTimeout(() => { while (true) {} })"), 1, 1),
    "timers that spin": HostilePage(
        _script(
            "const spin = () => { const end = performance.now() + 400;"
            " while (performance.now() < end); setTimeout(spin) };"
            " for (let i = 0; i < N; i++) setTimeout(spin)"
        ),
        100,
        4,
    ),
    "microtasks without end": HostilePage(
        _script("const again = () => Promise.resolve().then(again); setTimeout(again)"), 1, 1
    ),
    "console errors": HostilePage(
        _script("for (let i = 0; i < N; i++) console.error('error ' + i + ' ' + 'x'.repeat(200))"),
        100_000,
        3_000,
    ),
    "console errors without end": HostilePage(
        _script(
            "const flood = () => { for (let i = 0; i < N; i++) console.error('error ' + i); setTimeout(flood) };"
            " flood()"
        ),
        1000,
        5,
    ),
    "console errors in a loop": HostilePage(
        _script("setTimeout(() => { while (true) console.error('error ' + 'x'.repeat(N)) })"), 200, 0
    ),
    "exceptions": HostilePage(
        _script("for (let i = 0; i < N; i++) setTimeout(() => { throw new Error('thrown ' + i) })"),
        20_000,
        1_000,
    ),
    "many elements": HostilePage(
        _script(
            "const all = document.createDocumentFragment();"
            " for (let i = 0; i < N; i++) {"
            " const one = document.createElement('button'); one.textContent = 'b' + i; all.append(one) }"
            " document.body.append(all)"
        ),
        200_000,
        3_000,
    ),
    "many levels": HostilePage(
        _script(
            "let at = document.createElement('div'); const top = at;"
            " for (let i = 0; i < N; i++) { const one = document.createElement('div'); at.append(one); at = one }"
            " at.textContent = 'deep'; document.body.append(top)"
        ),
        50_000,
        5_000,
    ),
    "much text": HostilePage(
        lambda size: f"<p>hostile</p><pre>{'word ' * (size // 5)}</pre>", 50_000_000, 1_000_000
    ),
    "one long word": HostilePage(lambda size: f"<p>hostile</p><p>{'w' * size}</p>", 5_000_000, 200_000),
    "a protocol of its own": HostilePage(_script("location.href = 'foo://bar'"), 1, 1),
    "protocols of its own": HostilePage(
        _script(
            "for (let i = 0; i < N; i++) { setTimeout(() => { location.href = 'foo' + i + '://bar' }, i * 10);"
            " setTimeout(() => open('foo' + i + '://bar'), i * 10) }"
        ),
        100,
        2,
    ),
    "frames of its own protocol": HostilePage(
        lambda size: "<p>hostile</p>" + "".join(f'<iframe src="foo{i}://bar"></iframe>' for i in range(size)),
        100,
        10,
    ),
    "mail": HostilePage(_script("location.href = 'mailto:a@b.example'"), 1, 1),
    "a colour picker": HostilePage(
        lambda _: (
            '<p>hostile</p><input type="color" id="c">'
            "<script>onclick = () => document.getElementById('c').showPicker();"
            " try { document.getElementById('c').click() } catch (e) {}</script>"
        ),
        1,
        1,
    ),
    "questions without end": HostilePage(_script("setInterval(() => alert('again'), 0)"), 1, 1),
    "windows": HostilePage(_script("for (let i = 0; i < N; i++) open('about:blank')"), 50, 5),
    "navigation without end": HostilePage(_script("setTimeout(() => location.reload(), 1)"), 1, 0),
    "history without end": HostilePage(
        _script("setInterval(() => { for (let i = 0; i < N; i++) history.pushState(i, '', '?' + i) }, 0)"),
        500,
        20,
    ),
    "requests": HostilePage(_script("for (let i = 0; i < N; i++) fetch('/said?' + i)"), 5000, 200),
    "requests that stay here": HostilePage(
        _script("for (let i = 0; i < N; i++) fetch('data:,' + i)"), 100_000, 3_000
    ),
    "requests that fail": HostilePage(
        _script("for (let i = 0; i < N; i++) fetch('http://127.0.0.1:1/' + i).catch(() => 0)"), 20_000, 500
    ),
    "posts": HostilePage(
        _script("for (let i = 0; i < N; i++) fetch('/said?' + i, {method: 'POST', body: 'x'})"), 5000, 300
    ),
    "messages": HostilePage(
        _script(
            "const s = new WebSocket(location.origin.replace('http', 'ws') + '/socket?messages=' + N);"
            " s.onopen = () => { for (let i = 0; i < N; i++) s.send('message ' + i) }"
        ),
        100_000,
        1_000,
    ),
    "titles": HostilePage(
        _script(
            "let t = 0; setInterval(() => { for (let i = 0; i < N; i++) document.title = 'title ' + t++ }, 0)"
        ),
        1000,
        50,
    ),
    "anchors": HostilePage(
        _script("let a = 0; setInterval(() => { for (let i = 0; i < N; i++) location.hash = a++ }, 0)"),
        500,
        20,
    ),
    "icons": HostilePage(
        _script(
            "const icon = document.createElement('link'); icon.rel = 'icon'; document.head.append(icon); let n = 0;"
            " setInterval(() => { for (let i = 0; i < N; i++) icon.href = '/icon' + n++ + '.png' }, 0)"
        ),
        100,
        10,
    ),
    "questions": HostilePage(
        _script("for (let i = 0; i < N; i++) alert('question ' + i + ' ' + 'x'.repeat(200))"), 10_000, 300
    ),
    "requests for permission": HostilePage(
        _script(
            "for (let i = 0; i < N; i++) { navigator.geolocation.getCurrentPosition(() => 0);"
            " Notification.requestPermission(); navigator.mediaDevices?.getUserMedia({audio: true}).catch(() => 0) }"
        ),
        3_000,
        100,
    ),
    "downloads": HostilePage(
        _script(
            "const a = document.createElement('a'); let d = 0;"
            " setInterval(() => { for (let i = 0; i < N; i++) {"
            " a.href = 'data:application/octet-stream,' + d; a.download = 'file' + d++; a.click() } }, 0)"
        ),
        100,
        10,
    ),
    "windows without end": HostilePage(_script("setInterval(() => open('about:blank'), 0)"), 1, 0),
    "windows that close": HostilePage(
        _script(
            "setInterval(() => { const one = open('about:blank'); setTimeout(() => one?.close(), 20) }, 0)"
        ),
        1,
        0,
    ),
    "frames": HostilePage(
        _script(
            "setInterval(() => { for (let i = 0; i < N; i++) {"
            " const one = document.createElement('iframe'); document.body.append(one); one.remove() } }, 0)"
        ),
        100,
        10,
    ),
    "a long title": HostilePage(_script("document.title = 'T'.repeat(N)"), 50_000_000, 1_000_000),
    "a long address": HostilePage(
        _script("history.replaceState(0, '', '?' + 'u'.repeat(N)); console.error('here')"),
        2_000_000,
        1_000_000,
    ),
    "a long console line": HostilePage(_script("console.error('c'.repeat(N))"), 50_000_000, 3_000_000),
    "a long question": HostilePage(_script("alert('q'.repeat(N))"), 50_000_000, 3_000_000),
    "a long message": HostilePage(
        _script(
            "const s = new WebSocket(location.origin.replace('http', 'ws') + '/socket?messages=0');"
            " s.onopen = () => s.send('m'.repeat(N))"
        ),
        50_000_000,
        3_000_000,
    ),
    "a long tool tip": HostilePage(
        lambda size: (
            "<p>hostile</p><div id=d style='height:600px;background:#eee'></div>"
            f"<script>document.getElementById('d').title = 'w'.repeat({size})</script>"
        ),
        5_000_000,
        1_000_000,
    ),
    "memory": HostilePage(
        _script("const kept = []; setInterval(() => { kept.push(new Array(1e6).fill(kept.length)) }, 0)"),
        1,
        1,
    ),
    "changes without end": HostilePage(
        _script(
            "setInterval(() => { for (let i = 0; i < N; i++) {"
            " const one = document.createElement('p'); one.textContent = i; document.body.append(one) }"
            " while (document.body.children.length > 3000) document.body.lastChild.remove() }, 0)"
        ),
        1000,
        50,
    ),
    "workers": HostilePage(
        _script("for (let i = 0; i < N; i++) new Worker(URL.createObjectURL(new Blob(['while (true) {}'])))"),
        8,
        4,
    ),
    "printing": HostilePage(_script("print()"), 1, 1),
    "full screen and pointer lock": HostilePage(
        _script("onclick = () => { document.body.requestFullscreen(); document.body.requestPointerLock() }"),
        1,
        1,
    ),
}
