// @ts-check
/** The differences as rows: the canvas's equal, in words. A row can be reached and chosen by key. */
import { clockOf } from "./compare-model.js";
import { differs, happened, noticed } from "./compare-words.js";
import { byId, glyph, h, podName, setText } from "./dom.js";
import { count } from "./words.js";

/** @typedef {import("./compare-model.js").Model} Model @typedef {import("./compare-model.js").Difference} Difference */

/** Rows shown at first, and more each time that is wished. */
export const LIMIT = 200;

export class CompareTable {
  /** @param {{model: Model, off: Set<string>, shown: () => Difference[], select: (id: number|null) => void}} host */
  constructor(host) {
    this.host = host;
    this.section = byId("differences");
    this.body = /** @type {HTMLElement} */ (byId("differences-body"));
    this.more = byId("differences-more");
    this.limit = LIMIT;
    /** @type {number|null} */
    this.selected = null;
    byId("differences-head").append(...host.model.runs.map((run) => h("th", { scope: "col" }, run.name)), h("th", { scope: "col" }, "Difference"));
    this.body.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest("tr") : null;
      if (row) host.select(Number(row.dataset.id));
    });
    this.body.addEventListener("keydown", (event) => this.#key(event));
    this.more.addEventListener("click", () => {
      const focus = this.limit;
      this.limit += LIMIT;
      this.update();
      this.#focus(/** @type {HTMLElement|undefined} */ (this.body.children[focus]));
    });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const row = event.target instanceof HTMLElement ? event.target.closest("tr") : null;
    if (!row) return;
    const next = event.key === "ArrowDown" ? row.nextElementSibling : event.key === "ArrowUp" ? row.previousElementSibling
      : event.key === "Home" ? this.body.firstElementChild : event.key === "End" ? this.body.lastElementChild : null;
    const chosen = event.key === "Enter" || event.key === " ";
    if (!chosen && !(next instanceof HTMLElement)) return;
    event.preventDefault();
    event.stopPropagation();
    if (chosen) this.host.select(Number(row.dataset.id));
    else this.#focus(/** @type {HTMLElement} */ (next));
  }

  /** One row at a time can be reached with Tab. @param {HTMLElement|undefined} row */
  #focus(row) {
    if (!row) return;
    for (const each of this.body.querySelectorAll("tr[tabindex='0']")) /** @type {HTMLElement} */ (each).tabIndex = -1;
    row.tabIndex = 0;
    row.focus();
  }

  /** @param {number|null} id */
  setSelected(id) {
    this.selected = id;
    const shown = this.host.shown();
    const at = shown.findIndex((each) => each.id === id);
    if (at >= this.limit) {
      this.limit = Math.ceil((at + 1) / LIMIT) * LIMIT;
      this.update();
    }
    for (const row of this.body.querySelectorAll("tr")) {
      const is = Number(row.dataset.id) === id;
      row.setAttribute("aria-selected", String(is));
      if (is && !this.section.hidden) row.scrollIntoView({ block: "nearest" });
    }
  }

  update() {
    if (this.section.hidden) return;
    const shown = this.host.shown();
    this.body.replaceChildren(...shown.slice(0, this.limit).map((each, i) => this.#row(each, i === 0)));
    const left = shown.length - this.limit;
    this.more.hidden = left <= 0;
    setText(this.more, `Show ${Math.min(left, LIMIT)} more of ${count(Math.max(0, left), "difference")}`);
    setText(byId("differences-end"), shown.length ? "" : "No difference of these kinds.");
  }

  /** @param {Difference} difference @param {boolean} first */
  #row({ id, row, t, kinds }, first) {
    const { model, off } = this.host;
    const seen = kinds.filter((kind) => !off.has(kind));
    return h("tr", { "data-id": id, tabindex: first ? 0 : -1, "aria-selected": String(id === this.selected) },
      h("td", { class: "mono" }, clockOf(t, 3)),
      h("td", { class: "pod" }, ...podName(row.who.pod, (name) => h("b", {}, name))),
      h("td", {}, happened(row)),
      ...model.runs.map((_, run) => h("td", { class: "dim", "data-run": model.runs[run].name }, noticed(row, run))),
      h("td", { class: "what" }, h("span", {}, ...seen.map((kind) => glyph(kind)), h("span", {}, differs(model, row, off)))));
  }
}
