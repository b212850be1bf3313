// @ts-check
/**
 * What is at work on the simulated node, and the palette to press from.
 *
 * The forms are the page's own and htmx sends them; here is only what the server's state changes on
 * the page: which buttons are lit and for how long, the list of what is at work, and what a screen
 * reader says when something begins or ends. The palette comes and goes with its panel.
 */
import { byId, h, setChildren, setText } from "./dom.js";
import { Finder } from "./finder.js";
import { isNarrow } from "./palette.js";
import { duration } from "./words.js";

/** @typedef {import("./types.js").FaultAtWork} FaultAtWork */
/** @typedef {import("./nodepage.js").NodePage} NodePage */

/** How often the time that is left is written, ms. */
const EVERY = 250;
/** How long the row says what came of a press, ms. */
const SAID_FOR = 10_000;

/** What to say when what is at work changes. @param {Map<number, string>} before @param {FaultAtWork[]} after @param {Set<number>} said numbers that were told already */
export function news(before, after, said) {
  const now = new Set(after.map((one) => one.number));
  const began = after.filter((one) => !before.has(one.number) && !said.has(one.number)).map((one) => `Fault begins: ${called(one)}.`);
  const over = [...before].filter(([number]) => !now.has(number)).map(([, name]) => `Fault is over: ${name}.`);
  return [...began, ...over].join(" ");
}

/** Its name, and the pod it is about. @param {FaultAtWork} one */
export function called(one) {
  return one.target ? `${one.text} (${one.target})` : one.text;
}

/** How long it goes on, in whole seconds. @param {{until_t: number|null}} one @param {number} now ns */
export function left(one, now) {
  if (one.until_t === null) return "";
  const seconds = Math.ceil(Math.max(0, one.until_t - now) / 1e9);
  return seconds < 60 ? `${seconds}\u00a0s` : duration(seconds * 1e9);
}

export class Faults {
  /** @param {NodePage} page */
  constructor(page) {
    this.page = page;
    /** What was at work when it was last looked at. @type {Map<number, string>|null} */
    this.before = null;
    /** Pressed from here, and told by the answer. @type {Set<number>} */
    this.said = new Set();
    this.saidAt = 0;
    /** The palette that is open. @type {HTMLElement|null} */
    this.palette = null;
    /** Its field. @type {Finder|null} */
    this.finder = null;
    /** What was pressed last in it, until the answer is here. @type {HTMLElement|null} */
    this.pressed = null;
    /** What was not pressed, as it is about one pod and none was chosen. @type {HTMLElement|null} */
    this.refused = null;
    document.addEventListener("submit", (event) => {
      const { submitter } = /** @type {SubmitEvent} */ (event);
      if (submitter?.closest("#palette")) this.pressed = submitter;
    }, true);
    setInterval(() => this.update(), EVERY);
    document.body.addEventListener("htmx:after:swap", () => this.#swapped());
    byId("panel").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#move(event));
    byId("panel").addEventListener("focusin", (/** @type {FocusEvent} */ event) => this.#choose(event.target));
  }

  /** The palette, or back from it. */
  toggle() {
    const { page } = this;
    if (!byId("panel").hidden && document.getElementById("palette")) {
      page.closePanel();
      byId("faults-open").focus();
    } else {
      if (page.selected !== null) page.select(null);
      byId("faults-open").click();
    }
  }

  update() {
    const { state } = this.page.store;
    if (!state) return;
    if (performance.now() - this.saidAt > SAID_FOR) byId("faults-said").replaceChildren();
    const faults = state.faults ?? [];
    const now = this.page.clock.now();
    this.#speak(faults);
    byId("faults-working").hidden = faults.length === 0;
    for (const id of ["faults-list", "palette-working"]) showWorking(id, faults, now);
    light(faults, now);
  }

  /** @param {FaultAtWork[]} faults */
  #speak(faults) {
    if (this.before !== null) {
      const text = news(this.before, faults, this.said);
      if (text) setText(byId("faults-spoken"), text);
    }
    this.before = new Map(faults.map((one) => [one.number, called(one)]));
  }

  #swapped() {
    this.saidAt = performance.now();
    const told = document.querySelectorAll(".said [data-number]");
    for (const one of told) this.said.add(Number(/** @type {HTMLElement} */ (one).dataset.number));
    const palette = document.getElementById("palette");
    if (palette && palette !== this.palette) {
      this.update();
      this.finder = new Finder(palette, /** @type {HTMLElement} */ (palette.querySelector(".palette-pod")), ".fault-button");
      this.refused = null;
      // There a field would open the screen's own keys.
      (isNarrow() ? this.finder.left[0] : this.finder.field).focus({ preventScroll: true });
    }
    this.palette = palette;
    if (!document.querySelector("#palette-said .said-line")) return;
    const { pressed } = this;
    this.pressed = null;
    this.#ask(pressed);
  }

  /** What was pressed needs a pod: it is chosen next. @param {HTMLElement|null} pressed */
  #ask(pressed) {
    const pod = /** @type {HTMLSelectElement|null} */ (document.getElementById("palette-target"));
    if (!pressed || !pod || pod.value || pressed.closest("li")?.dataset.target !== "pod" || !document.querySelector("#palette-said .wrong")) return;
    this.refused = pressed;
    pod.focus();
    pod.scrollIntoView({ block: "nearest" });
  }

  /** Before a pod is chosen: those that are there now. @param {EventTarget|null} select */
  #choose(select) {
    if (!(select instanceof HTMLSelectElement) || select.id !== "palette-target") return;
    const lanes = [...this.page.store.lanes.values()].filter((lane) => lane.goneT === null && lane.name);
    const names = lanes.map((lane) => `${lane.namespace}/${lane.name}`).sort();
    const { value } = select;
    const [all] = select.options;
    select.replaceChildren(all, ...names.map((name) => h("option", { value: name }, name)));
    select.value = names.includes(value) ? value : "";
  }

  /** Arrows go from button to button of the palette. @param {KeyboardEvent} event */
  #move(event) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const target = event.target;
    if (!(target instanceof HTMLElement) || !target.closest("#palette")) return;
    if (event.key === "Escape") setTimeout(() => byId("faults-open").focus());
    if (target.matches("select")) {
      if (event.key !== "Enter") return;
      // A form would press its first button. What was to be pressed is next.
      event.preventDefault();
      (this.refused ?? this.finder?.field)?.focus();
      return;
    }
    if (target === this.finder?.field) return;
    const buttons = this.finder?.left ?? [];
    const at = buttons.indexOf(target);
    let next = null;
    if (step !== undefined) next = at < 0 ? buttons[0] : buttons[at + step] ?? (at + step < 0 ? this.finder?.field : null);
    else if (event.key === "Home") [next] = buttons;
    else if (event.key === "End") next = buttons.at(-1);
    else return;
    event.preventDefault();
    next?.focus();
  }
}

/** What is at work, in a list that may be there. @param {string} id @param {FaultAtWork[]} faults @param {number} now ns */
export function showWorking(id, faults, now) {
  const list = document.getElementById(id);
  if (!list) return;
  const held = list.contains(document.activeElement);
  setChildren(list, faults.map((one) => one.number).join(), () => (faults.length || id === "faults-list" ? faults.map(item) : [h("li", { class: "none-working sub" }, "Nothing.")]));
  if (held && !list.contains(document.activeElement)) keepFocus(list);
  for (const one of faults) {
    const text = list.querySelector(`[data-number="${one.number}"] .left`);
    if (text) setText(text, one.until_t === null ? "until lifted" : left(one, now));
  }
}

/** The focus was on a fault that is over: it stays close. @param {Element} list */
function keepFocus(list) {
  const next = list.querySelector("button") ?? document.querySelector("#palette .fault-button") ?? document.getElementById("faults-open");
  if (next instanceof HTMLElement) next.focus();
}

/** The buttons of what is at work, and the one that ends it all. @param {FaultAtWork[]} faults @param {number} now ns */
export function light(faults, now) {
  for (const heal of document.querySelectorAll(".heal")) heal.setAttribute("aria-disabled", String(faults.length === 0));
  /** @type {Map<string, FaultAtWork>} */
  const newest = new Map(faults.map((one) => [one.name, one]));
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll(".fault-button"))) {
    const one = newest.get(button.value);
    button.toggleAttribute("data-on", one !== undefined);
    const text = button.querySelector(".left");
    if (text) setText(text, one ? `at work, ${one.until_t === null ? "until lifted" : left(one, now)}` : "");
  }
}

/** One fault at work, with the button that lifts it. @param {FaultAtWork} one */
function item(one) {
  const sub = one.target ? h("span", { class: "sub" }, one.target) : null;
  const lift = h("button", { class: "button small", name: "lift", value: one.number, "aria-label": `Lift: ${called(one)}` }, "Lift");
  return h("li", { "data-number": one.number, title: `Imitates: ${one.imitates}` }, h("b", {}, one.text), sub, h("span", { class: "left" }), lift);
}

/** The key that opens the palette. @param {() => Faults|null} faults @returns {import("./keys.js").Key[]} */
export function faultKeys(faults) {
  return [{ keys: ["f"], show: "f", what: "press a fault; in the palette: type to find one, arrows move, Enter presses", run: () => faults()?.toggle() }];
}
