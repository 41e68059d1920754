// Runs in the page's own world, before its scripts, while the browser is sealed: ways to a server that no
// interception sees do not open. Calling globalThis[Symbol.for(key)] gives the document back what it had.
(key) => {
  if (globalThis[Symbol.for(key)]) return;
  const restore = [];

  const replace = (owner, name, value) => {
    const had = Object.getOwnPropertyDescriptor(owner, name);
    if (!had || !had.configurable) return;
    Object.defineProperty(owner, name, { ...had, value });
    restore.push(() => Object.defineProperty(owner, name, had));
  };

  class NoSocket extends EventTarget {
    static CONNECTING = 0;
    static OPEN = 1;
    static CLOSING = 2;
    static CLOSED = 3;
    constructor(url, protocols = []) {
      super();
      this.url = new URL(url, location.href).href.replace(/^http/, "ws");
      this.protocol = "";
      this.extensions = "";
      this.binaryType = "blob";
      this.bufferedAmount = 0;
      this.readyState = NoSocket.CONNECTING;
      this.onopen = this.onmessage = this.onerror = this.onclose = null;
      setTimeout(() => {
        this.readyState = NoSocket.CLOSED;
        this.tell(new Event("error"));
        this.tell(new CloseEvent("close", { code: 1006, reason: "", wasClean: false }));
      });
    }
    get CONNECTING() { return 0; }
    get OPEN() { return 1; }
    get CLOSING() { return 2; }
    get CLOSED() { return 3; }
    tell(event) {
      this["on" + event.type]?.call(this, event);
      this.dispatchEvent(event);
    }
    send() {
      if (this.readyState === NoSocket.CONNECTING) {
        throw new DOMException("Still in CONNECTING state.", "InvalidStateError");
      }
    }
    close() {}
  }

  const refusing = (name) =>
    class {
      constructor() {
        throw new DOMException(`${name} is not available.`, "SecurityError");
      }
    };

  replace(globalThis, "WebSocket", NoSocket);
  for (const name of ["SharedWorker", "WebTransport", "RTCPeerConnection"]) {
    if (name in globalThis) replace(globalThis, name, refusing(name));
  }
  if ("ServiceWorkerContainer" in globalThis) {
    replace(ServiceWorkerContainer.prototype, "register", () =>
      Promise.reject(new DOMException("Service workers are not available.", "SecurityError")),
    );
  }
  Object.defineProperty(globalThis, Symbol.for(key), {
    configurable: true,
    value: () => {
      restore.forEach((undo) => undo());
      delete globalThis[Symbol.for(key)];
    },
  });
}
