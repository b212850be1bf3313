// @ts-check
/** The page of the faults, by itself: the time that is left of those at work runs down. */
import { byId, h, setText } from "./dom.js";
import { left } from "./faults.js";

const EVERY = 250;

/** How long one goes on, in words; "": it is over. @param {number} ns that were left @param {number} passed ns of the node's since then */
export function leftOf(ns, passed) {
  return passed >= ns ? "" : left({ until_t: ns }, passed);
}

/** @param {HTMLElement} list @param {number} began ms */
function tick(list, began) {
  const passed = (performance.now() - began) * 1e6 * Number(list.dataset.speed);
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll("[data-left]"))) {
    const text = leftOf(Number(place.dataset.left), passed);
    if (text) {
      setText(place, text);
      continue;
    }
    const item = place.closest("li");
    const held = item?.contains(document.activeElement);
    item?.remove();
    if (list.childElementCount) continue;
    list.append(h("li", { class: "none-working sub" }, "Nothing."));
    const heal = /** @type {HTMLElement} */ (document.querySelector(".heal"));
    heal.setAttribute("aria-disabled", "true");
    if (held) heal.focus();
  }
}

if (typeof document !== "undefined") {
  const list = byId("palette-working");
  const began = performance.now();
  setInterval(() => tick(list, began), EVERY);
}
