// @ts-check
/**
 * A field above a list of buttons: what is typed leaves those that it names. It never presses one:
 * Enter goes to the first that is left, and only there presses. A page without scripts has no field.
 */
import { h, plain, setText } from "./dom.js";
import { count } from "./words.js";

/** @typedef {{name: string, about: string}} Named what stands on a button, and beside it */

/**
 * Which are left: those that have all words in their name, or if there is none, in what is said about them.
 * @param {Named[]} items @param {string} text @returns {boolean[]}
 */
export function left(items, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (/** @type {string} */ where) => words.every((word) => where.toLowerCase().includes(word));
  const named = items.map(({ name }) => has(name));
  return named.some(Boolean) ? named : items.map(({ name, about }) => has(`${name} ${about}`));
}

/** What is said of them. @param {number} found @param {string} text @param {string} first name of the first one */
export function leftWords(found, text, first) {
  if (!text.trim()) return "";
  return found ? `${count(found, "fault")}: Enter goes to “${plain(first)}”.` : `No fault is called “${plain(text.trim())}”.`;
}

export class Finder {
  /** @param {HTMLElement} palette @param {HTMLElement} before what the field is put before @param {string} buttons selector of the buttons; each is in an item of a list */
  constructor(palette, before, buttons) {
    this.buttons = /** @type {HTMLElement[]} */ ([...palette.querySelectorAll(buttons)]);
    this.items = this.buttons.map((button) => /** @type {HTMLElement} */ (button.closest("li")));
    this.named = this.items.map((item, i) => ({ name: this.buttons[i].textContent ?? "", about: item.textContent ?? "" }));
    this.says = h("span", { class: "sub", role: "status" });
    /** @type {HTMLInputElement} */
    this.field = h("input", { type: "search", "aria-label": "Find a fault", placeholder: "Find a fault", autocomplete: "off", spellcheck: "false" });
    before.before(h("p", { class: "finder" }, this.field, this.says));
    this.field.addEventListener("input", () => this.#find());
    this.field.addEventListener("keydown", (event) => this.#key(event));
    // Enter that went from the field to a button, held down, is not that button's.
    palette.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.repeat) event.preventDefault(); });
  }

  /** Those that are left. */
  get left() {
    return this.buttons.filter((_, i) => !this.items[i].hidden);
  }

  /** All of them again. */
  clear() {
    this.field.value = "";
    this.#find();
  }

  #find() {
    const text = this.field.value;
    const shown = left(this.named, text);
    this.items.forEach((item, i) => { item.hidden = !shown[i]; });
    for (const list of new Set(this.items.map((item) => item.parentElement))) {
      const none = [...list?.children ?? []].every((item) => /** @type {HTMLElement} */ (item).hidden);
      if (list) list.hidden = none;
      const title = list?.previousElementSibling;
      if (title instanceof HTMLElement && /^H\d$/.test(title.tagName)) title.hidden = none;
    }
    setText(this.says, leftWords(shown.filter(Boolean).length, text, this.named[shown.indexOf(true)]?.name.trim() ?? ""));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      // A form would press its first button.
      event.preventDefault();
      if (this.field.value.trim()) this.left[0]?.focus();
      else setText(this.says, "Type to find a fault, or go through them with ↓.");
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.left[0]?.focus();
    } else if (event.key === "Escape" && this.field.value) {
      event.preventDefault();
      this.clear();
    } else return;
    event.stopPropagation();
  }
}
