// @ts-check
/**
 * Single keys, their sheet, and the switch that turns them off. A field that is typed into has all
 * keys for itself until it is left: by Enter, which accepts, or Esc. Other controls have their own.
 */
import { byId, h, setting } from "./dom.js";

/** @typedef {{keys: string[], show: string, what: string, run: (event: KeyboardEvent) => void, plain?: boolean}} Key `plain`: works even when single keys are off */

/** What a slider moves by. */
const SLIDES = /^(Arrow|Home$|End$|Page)/;
const PRESSES = /^( |Enter)$/;
/** What each kind of `input` does with keys; all others are typed into. @type {Record<string, RegExp>} */
const OWN = { range: SLIDES, checkbox: PRESSES, radio: /^( |Enter|Arrow.*)$/, button: PRESSES, submit: PRESSES, reset: PRESSES, file: PRESSES };

/** How long a list waits for the next letter of what is searched for, ms. */
const SEARCH_FOR = 1000;
/** What was searched for in a list just now. @type {{list: any, text: string, at: number}} */
let search = { list: null, text: "", at: -Infinity };

/** Whether a key is a letter by which a list finds one of its choices: the first, or after those before. @param {any} list @param {string} key @param {number} time ms */
function finds(list, key, time) {
  const before = search.list === list && time - search.at < SEARCH_FOR ? search.text : "";
  const texts = [...list.options].map((one) => one.text.toLowerCase());
  const text = [before + key, key].map((each) => each.toLowerCase()).find((each) => texts.some((one) => one.startsWith(each)));
  if (text !== undefined) search = { list, text, at: time };
  return text !== undefined;
}

/**
 * Whether a control has this key for itself. A list has the letters by which its choices are found.
 * @param {any} target @param {string} key @param {number} [time] ms
 */
export function takes(target, key, time = performance.now()) {
  if (target?.isContentEditable) return true;
  switch (target?.tagName) {
    case "TEXTAREA": return true;
    case "INPUT": return OWN[target.type]?.test(key) ?? true;
    case "SELECT": return key.length > 1 || key === " " || finds(target, key, time);
    // Space and Enter on a button or a link are the button's.
    default: return PRESSES.test(key) && Boolean(target?.closest?.("button, a, summary, label"));
  }
}

/** Whether a control is typed into. @param {any} target */
export function typing(target) {
  return Boolean(target?.isContentEditable) || target?.tagName === "TEXTAREA" || (target?.tagName === "INPUT" && !OWN[target.type]);
}

/** Where the focus was when a key led to a field. @type {WeakMap<Element, Element>} */
const before = new WeakMap();

/** A key leads to a field: to write something else into it. @param {HTMLInputElement} field */
export function enter(field) {
  if (document.activeElement && document.activeElement !== field) before.set(field, document.activeElement);
  field.focus();
  field.select();
}

/** A field has what it was to have: the picture has the focus again, if it had it, and the keys are keys. @param {any} field */
export function leave(field) {
  if (document.activeElement !== field) return;
  const from = before.get(field);
  if (from instanceof HTMLCanvasElement && from.isConnected && from.offsetParent) from.focus({ preventScroll: true });
  else field.blur();
}

export class Keys {
  /** @param {Key[]} keys @param {{keys: string, what: string}[]} also keys that something else handles */
  constructor(keys, also) {
    this.dialog = /** @type {HTMLDialogElement} */ (byId("keys"));
    this.switch = /** @type {HTMLInputElement} */ (byId("keys-on"));
    this.switch.checked = setting("keys") !== "off";
    this.switch.addEventListener("change", () => setting("keys", this.switch.checked ? null : "off"));
    const sheet = byId("keys-list");
    for (const { show, what } of [...keys.map((key) => ({ show: key.show, what: key.what })), ...also.map((each) => ({ show: each.keys, what: each.what }))]) {
      sheet.append(h("div", {}, h("dt", {}, ...show.split(" ").map((name) => h("kbd", {}, name))), h("dd", {}, what)));
    }
    byId("keys-open").addEventListener("click", () => this.dialog.showModal());
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || this.dialog.open) return;
      const { target } = event;
      if (event.key !== "Escape" && takes(target, event.key)) {
        // What is searched for has been found while it was typed.
        if (event.key === "Enter" && !event.defaultPrevented && target instanceof HTMLInputElement && target.type === "search") leave(target);
        return;
      }
      const key = keys.find((each) => each.keys.includes(event.key) && (each.plain || this.switch.checked));
      key?.run(event);
    });
  }
}
