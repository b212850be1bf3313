// @ts-check
/** The page of what-ifs: says when its answer has come, and leads the focus there if it was lost. */
import { setText } from "./dom.js";

const STEPS = ["told", "problem"];

/** What is to be said of an answer that has just come in, or nothing. @param {string} before @param {string} after @param {string} text */
export function says(before, after, text) {
  return before !== after && STEPS.includes(after) ? text.replace(/\s+/g, " ").trim() : "";
}

function wire() {
  let state = document.getElementById("answer")?.dataset.state ?? "";
  document.body.addEventListener("htmx:after:swap", () => {
    const answer = document.getElementById("answer");
    const place = document.getElementById("whatif-says");
    if (!answer || !place) return;
    const now = answer.dataset.state ?? "";
    const told = /** @type {HTMLElement|null} */ (answer.querySelector("[data-says]"));
    const text = says(state, now, told?.textContent ?? "");
    state = now;
    if (text) {
      setText(place, text);
      if (document.activeElement === document.body) told?.focus({ preventScroll: true });
    }
  });
}

if (typeof document !== "undefined") wire();
