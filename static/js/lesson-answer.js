// @ts-check
/**
 * Committing to an answer: a choice in the form, a moment on its slider, or a click on the timeline,
 * which moves the slider. The form goes to the server; what is right is found out there.
 *
 * @typedef {import("./lesson-layer.js").Ask} Ask
 */
import { byId, setText } from "./dom.js";
import { choosable } from "./lesson-place.js";
import { duration } from "./words.js";

/** Movement that makes a press a drag, px. */
const SLACK = 4;

/** @returns {HTMLInputElement|null} */
function slider() {
  return /** @type {HTMLInputElement|null} */ (document.getElementById("lesson-at"));
}

export class Answers {
  /**
   * @param {import("./nodepage.js").NodePage} page
   * @param {import("./lesson-layer.js").LessonLayer} layer
   */
  constructor(page, layer) {
    this.page = page;
    this.layer = layer;
    /** @type {Ask|null} */
    this.ask = null;
    /** Whether a moment on the slider was chosen, and not only offered. */
    this.touched = false;
    this.#clicks(byId("timeline"));
  }

  /** Another step is shown. @param {Ask|null} ask */
  begin(ask) {
    this.ask = ask;
    this.touched = false;
    const range = slider();
    const form = range?.form;
    if (!range || !form || !ask) return;
    range.addEventListener("input", () => {
      // At its left end, before the earliest moment, it stands where no moment is given.
      if (Number(range.value) < ask.earliest) this.unset(range);
      else this.choose(Number(range.value));
    });
    form.addEventListener("submit", (event) => {
      if (this.touched || form.querySelector("input[name=choice]:checked")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      setText(byId("lesson-said"), "Choose an answer, or a moment, first.");
      (/** @type {HTMLElement|null} */ (form.querySelector("input[name=choice]")) ?? range).focus();
    }, { capture: true });
  }

  /** No moment is given. @param {HTMLInputElement} range */
  unset(range) {
    const says = "not set";
    range.setAttribute("aria-valuetext", says);
    setText(byId("lesson-at-says"), says);
    this.touched = false;
    this.layer.chosen = null;
    this.layer.touch();
  }

  /** @param {number} t ns */
  choose(t) {
    const range = slider();
    const { ask } = this;
    if (!range || !ask) return;
    const at = choosable(t, ask, Number(range.step));
    const says = `${duration(at - ask.since)} after: ${ask.call}`;
    range.value = String(at);
    range.setAttribute("aria-valuetext", says);
    setText(byId("lesson-at-says"), says);
    this.touched = true;
    this.layer.chosen = at;
    this.layer.chosenText = duration(at - ask.since);
    this.layer.touch();
  }

  /** A click on the timeline chooses a moment. @param {HTMLElement} section */
  #clicks(section) {
    /** @type {[number, number]|null} */
    let held = null;
    section.addEventListener("pointerdown", (event) => { held = event.button === 0 ? [event.clientX, event.clientY] : null; }, { capture: true });
    section.addEventListener("pointerup", (event) => {
      if (!held || !this.ask?.open || !(event.target instanceof Element) || event.target.closest("a, button")) return;
      if (Math.abs(event.clientX - held[0]) >= SLACK || Math.abs(event.clientY - held[1]) >= SLACK) return;
      const { timeline } = this.page;
      const x = event.clientX - timeline.canvas.getBoundingClientRect().left;
      if (x < 0) return;
      this.choose(timeline.timeAt(x));
      setText(byId("lesson-said"), byId("lesson-at-says").textContent ?? "");
    }, { capture: true });
  }
}

/** A question that was answered before can be shown with that answer. @param {string} answer its query */
export function offerAgain(answer) {
  const show = /** @type {HTMLAnchorElement|null} */ (document.getElementById("lesson-show"));
  if (!show || !answer) return;
  const address = new URL(show.href);
  // What a class is shown is the answer, and not what its teacher once thought.
  if (address.searchParams.has("class")) return;
  address.searchParams.delete("show");
  for (const [key, value] of new URLSearchParams(answer)) address.searchParams.set(key, value);
  show.setAttribute("hx-get", `${address.pathname}${address.search}`);
  show.setAttribute("href", `${address.pathname}${address.search}`);
  setText(show, "Show my answer of before");
  /** @type {any} */ (window).htmx?.process(show);
}
