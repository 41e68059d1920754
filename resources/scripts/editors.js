// Editors that draw their text themselves: a field that takes the keys, and lines beside it, often only those in view.
const editors = (() => {
  // aside: what the field tells already, or what only decorates.
  const KINDS = [
    { editor: ".monaco-editor", field: "textarea.inputarea, .native-edit-context", text: ".view-lines", line: ".view-line",
      number: ".margin .line-numbers", aside: ".margin, .view-lines, .minimap, .decorationsOverviewRuler, .ime-text-area, .scrollbar",
      wheel: true },
    { editor: ".CodeMirror", field: "textarea", text: ".CodeMirror-code", line: ".CodeMirror-line",
      number: ".CodeMirror-linenumber", scrolls: ".CodeMirror-scroll", sizer: ".CodeMirror-sizer",
      aside: ".CodeMirror-scroll, .CodeMirror-gutters, .CodeMirror-vscrollbar, .CodeMirror-hscrollbar" },
    { editor: ".cm-editor", field: ".cm-content", text: ".cm-content", line: ".cm-line",
      number: ".cm-lineNumbers .cm-gutterElement", aside: ".cm-gutters, .cm-line", scrolls: ".cm-scroller" },
  ];
  const NOTCH = 100, MOVES = 50;  // what a notch of the wheel tells, and how far Monaco moves its lines for it, in pixels
  const ALL = KINDS.map(kind => kind.editor).join(",");

  function made(root) {
    for (const kind of KINDS) {
      if (!root.matches(kind.editor)) continue;
      const field = root.querySelector(kind.field), text = root.querySelector(kind.text);
      if (field && text) return { root, field, text, kind };
    }
    return null;
  }

  // The editor that a field belongs to, or null.
  function editorOf(el) {
    if (el.tagName !== "TEXTAREA" && !el.isContentEditable && !el.matches(".native-edit-context")) return null;
    const root = el.closest(ALL);
    const editor = root && made(root);
    return editor && editor.field === el ? editor : null;
  }

  function linesOf({ text, kind }) {
    const lines = Array.from(text.querySelectorAll(kind.line));
    // Drawn in any order, each at its place.
    if (kind.wheel) lines.sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top));
    return lines;
  }

  // The field that an editor was put in place of keeps the label.
  function replaced(editor) {
    const before = editor.root.previousElementSibling;
    return before?.tagName === "TEXTAREA" && getComputedStyle(before).display === "none" ? before : null;
  }

  const wordsOf = line => line.textContent.replace(/\u200b/g, "").replace(/\u00a0/g, " ");
  const read = editor => linesOf(editor).map(wordsOf).join("\n");

  // What is said of a text of which only some lines are drawn; nothing where all are.
  function part(editor) {
    const { root, text, kind } = editor;
    const shown = Array.from(root.querySelectorAll(kind.number)).filter(one => getComputedStyle(one).visibility === "visible");
    const numbers = shown.map(one => parseInt(one.textContent, 10)).filter(Number.isFinite);
    const lines = linesOf(editor), first = Math.min(...numbers);
    let whole;
    if (kind.wheel) {
      // Those in view are drawn: room under the last one tells that there are no more.
      const last = lines[lines.length - 1];
      whole = !last || parseFloat(lines[0].style.top) < 1 && last.getBoundingClientRect().bottom < root.getBoundingClientRect().bottom - 2;
    } else if (kind.field === kind.text) whole = !text.querySelector(".cm-gap");
    else whole = text.offsetHeight > (root.querySelector(kind.sizer)?.offsetHeight ?? 0) - 40;
    if (whole && !(first > 1)) return "";
    const which = numbers.length ? `lines ${first} to ${Math.max(...numbers)}` : "the lines in view";
    return `only ${which} are read; scroll it for others`;
  }

  // Gives an editor a text as the clipboard would: keys would set it anew by its rules for indenting and closing brackets.
  function paste(editor, text) {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true, composed: true });
    return !editor.field.dispatchEvent(event);
  }

  // How far to turn the wheel over an editor that moves its lines itself.
  function turn(editor, direction) {
    const across = direction === "left" || direction === "right", back = direction === "up" || direction === "left";
    const bar = editor.root.querySelector(`.scrollbar.${across ? "horizontal" : "vertical"}`), slider = bar?.querySelector(".slider");
    const room = bar?.getBoundingClientRect(), at = slider?.getBoundingClientRect();
    const left = !at ? 0 : across ? (back ? at.left - room.left : room.right - at.right) : back ? at.top - room.top : room.bottom - at.bottom;
    if (left < 1) return { problem: "cannot scroll further " + direction };
    const amount = 0.8 * (across ? editor.root.clientWidth : editor.root.clientHeight);
    const notch = back ? -NOTCH : NOTCH;
    return { wheel: across ? [notch, 0] : [0, notch], times: Math.max(1, Math.round(amount / MOVES)) };
  }

  return Object.freeze({ ALL, made, editorOf, replaced, read, part, paste, turn });
})();
