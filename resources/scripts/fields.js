// What is put into fields: text, values, choices, files.
const fields = (() => {
  const { squash, cut, refOf, byRef, isSecret } = elements;
  const { role } = names;
  const { CHECKABLE, VALUE_INPUT, value } = traits;

  // Readies a field for typing: focus it, and choose what the keys will replace.
  function ready(ref, append) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    if (el.readOnly || el.getAttribute("aria-readonly") === "true") return { problem: "is read-only" };
    el.focus();
    if (el.tagName === "SELECT") return { list: true };
    const editor = editors.editorOf(el);
    if (editor) return { editor: editors.read(editor) };
    if (el.tagName !== "INPUT" && role(el) === "slider") {
      if (!el.matches(":focus-within")) el.querySelector("[tabindex],input,button")?.focus();
      return { slider: true };
    }
    if (el.tagName === "INPUT" && VALUE_INPUT.has(el.type)) return { assign: true };
    if (el.tagName === "INPUT" || el.tagName === "TEXTAREA") {
      if (append) { try { el.setSelectionRange(el.value.length, el.value.length); } catch { /* types without a caret */ } }
      else el.select();
      return { empty: el.value === "", value: el.value };
    }
    if (el.isContentEditable) {
      const range = document.createRange();
      range.selectNodeContents(el);
      if (append) range.collapse(false);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      return { empty: el.textContent === "" };
    }
    return { problem: "is not a field that takes text" };
  }

  // Fields without a caret (date, range, colour) take their value whole, as a picker would set it.
  // A range is left one step short, unless it is to be `exact`: pages that wait for the end of a movement hear of it by
  // the key that then takes it there.
  function assign(ref, text, exact) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    const before = el.value;
    let key = "";
    setter.call(el, text);
    if (el.type === "range") {
      if (text.trim() === "" || Number(el.value) !== Number(text)) {
        setter.call(el, before);
        const step = el.step === "any" ? "" : ` in steps of ${el.step || 1}`;
        return { problem: `does not accept "${text}": its values are from ${el.min || 0} to ${el.max || 100}${step}. It is still at ${before}` };
      }
      if (Number(before) === Number(text)) return {};
      const step = Number(el.step) || (el.step ? 0 : 1);
      if (step && !exact) {
        setter.call(el, Number(text) - step);
        if (Number(el.value) === Number(text)) setter.call(el, Number(text) + step);
        key = Number(el.value) < Number(text) ? "ArrowUp" : "ArrowDown";
      }
    } else if (el.value !== text) return { problem: `does not accept "${text}"; use a value such as ${JSON.stringify(sample(el.type))}` };
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return { key };
  }
  const sample = type => ({ date: "2024-05-31", time: "13:45", month: "2024-05", week: "2024-W22", color: "#ff8800", range: "50",
    "datetime-local": "2024-05-31T13:45" })[type] || "";

  const written = ref => { const editor = byRef(ref) && editors.editorOf(byRef(ref)); return editor ? editors.read(editor) : null; };
  const paste = (ref, text) => { const editor = editors.editorOf(byRef(ref)); return !!editor && editors.paste(editor, text); };

  // Where a slider stands and between what, as far as it tells.
  function slid(ref) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const number = word => { const given = el.getAttribute("aria-value" + word); return given === null || given === "" ? null : Number(given); };
    if (el.tagName === "INPUT") return { now: Number(el.value), least: Number(el.min || 0), most: Number(el.max || 100), text: el.value };
    return { now: number("now"), least: number("min"), most: number("max"), text: el.getAttribute("aria-valuetext") || "" };
  }

  function optionOf(el, text) {
    const options = Array.from(el.options), wanted = squash(text);
    return options.find(o => squash(o.label || o.text) === wanted) || options.find(o => o.value === text)
      || options.find(o => squash(o.label || o.text).toLowerCase() === wanted.toLowerCase());
  }

  function choose(ref, text, selected) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    if (el.tagName !== "SELECT") return { problem: "is not a select" };
    if (el.disabled) return { problem: "is disabled" };
    const options = Array.from(el.options);
    const found = optionOf(el, text);
    if (!found) return { problem: `has no option "${cut(text, 60)}"; there are: ${options.slice(0, 20).map(o => squash(o.label || o.text)).join(" | ")}` };
    if (found.disabled) return { problem: `has the option "${cut(text, 60)}", but it is disabled` };
    if (!selected && !found.selected) return {};
    if (!selected && !el.multiple) return { problem: "allows only one option: choose another one instead of clearing it" };
    el.focus();
    if (!el.multiple) for (const option of options) option.selected = option === found;
    else found.selected = selected;
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return {};
  }

  // Whether a list is filtered by what is typed into a field, and the options of it that are seen.
  const filters = el => !el.list && (role(el) === "combobox" || /^(list|both)$/.test(el.getAttribute("aria-autocomplete") || "") || !!el.closest("[role=combobox]"));
  const offered = () => Array.from(document.querySelectorAll("[role=option]")).filter(one => one.checkVisibility());

  // Waits until the list that a field filters shows only what has the text of the field in it: lists often come some time
  // after the last key. "late" where it does not by then, "" where there is nothing to wait for.
  function filtered(ref, most) {
    const el = byRef(ref), text = squash(el?.value ?? el?.textContent ?? "").toLowerCase();
    if (!text || !filters(el)) return "";
    const fits = () => { const seen = offered(); return seen.length > 0 && seen.every(one => squash(one.textContent).toLowerCase().includes(text)); };
    return new Promise(done => {
      const end = said => { observer.disconnect(); clearTimeout(bound); done(said); };
      const look = () => { if (fits()) end(""); };
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      const bound = setTimeout(() => end("late"), most);
      look();
    });
  }

  // The field that takes the file: the element itself, the field it labels, or the only one inside.
  function fileField(ref) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const inside = el.querySelectorAll("input[type=file]");
    const field = el.tagName === "LABEL" && el.control ? el.control : inside.length === 1 ? inside[0] : el;
    if (field.type !== "file") return { problem: "is not a file field" };
    if (field.disabled) return { problem: "is disabled" };
    return { ref: refOf(field) };
  }

  function isChecked(ref) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const kind = role(el), own = CHECKABLE.has(kind);
    if (own && el.getAttribute("aria-disabled") === "true") return { problem: "is disabled" };
    const native = el.tagName === "INPUT" ? el : el.tagName === "LABEL" ? el.control
      : own && !el.hasAttribute("aria-checked") ? el.querySelector("input[type=checkbox],input[type=radio]") : null;
    if (native && (native.type === "checkbox" || native.type === "radio")) {
      return { checked: native.checked, mixed: native.indeterminate, radio: native.type === "radio" };
    }
    const aria = el.getAttribute("aria-checked");
    if (own || aria !== null) return { checked: aria === "true", mixed: aria === "mixed", radio: kind.endsWith("radio") };
    return { problem: "is not a box that can be checked" };
  }

  // What a field holds, as text, where it is not what was put into it; null where it is, or nothing can be told.
  function differs(ref, kind, wanted) {
    const el = byRef(ref);
    if (!el?.isConnected) return null;
    const told = text => cut(text, 200);
    if (kind === "box") {
      const { checked, mixed } = isChecked(ref);
      return checked === undefined || checked === wanted && !mixed ? null : mixed ? "mixed" : checked ? "checked" : "not checked";
    }
    if (kind === "files") {
      const names = Array.from(el.files || [], file => file.name);
      return names.join("\n") === wanted.join("\n") ? null : told(names.join(", "));
    }
    if (kind.endsWith("option")) {
      const chosen = Array.from(el.selectedOptions || []), option = el.options && optionOf(el, wanted);
      if (!option || option.selected === (kind === "option")) return null;
      return told(chosen.map(one => squash(one.label || one.text)).join(", "));
    }
    const editor = editors.editorOf(el);
    if (editor && editors.part(editor)) return null;
    const now = value(el, role(el), editor);
    if (el.type === "range" || !editor && !("value" in el) && role(el) === "slider") return el.type === "range" && Number(now) !== Number(wanted) ? told(now) : null;
    if (kind === "part") return squash(now).includes(squash(wanted)) ? null : told(now);
    const plain = text => "value" in el ? text.replace(/\r\n?/g, "\n") : squash(text);
    const same = isSecret(el) ? el.value === wanted : plain(now) === plain(wanted);
    return same ? null : told(now);
  }

  return Object.freeze({ ready, assign, written, paste, slid, choose, filtered, fileField, isChecked, differs });
})();
