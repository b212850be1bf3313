// @ts-check
/**
 * The names beside the lanes: real links in the document, so that they can be read aloud, found and
 * opened; only those in sight exist.
 *
 * @typedef {import("./lineup.js").Row} Row
 */
import { lateness } from "./stats.js";
import { findGlyph } from "./story.js";
import { count, lateBy, splitName } from "./words.js";
import { glyph, h, podPath } from "./dom.js";

const SPARE = 200;

export class Labels {
  /** @param {HTMLElement} list @param {HTMLElement} scroller */
  constructor(list, scroller) {
    this.list = list;
    this.scroller = scroller;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, {element: HTMLElement, key: string}>} */
    this.shown = new Map();
    scroller.addEventListener("scroll", () => this.update(), { passive: true });
    // What is in sight changes with the room for it, too: a drawer opens, a bar takes a second line.
    new ResizeObserver(() => this.update()).observe(scroller);
  }

  /** @param {Row[]} rows @param {number} height */
  setRows(rows, height) {
    this.rows = rows;
    this.list.style.height = `${height}px`;
    this.update();
  }

  /** Bring the document in line with what is in sight. */
  update() {
    const top = this.scroller.scrollTop - SPARE;
    const bottom = this.scroller.scrollTop + this.scroller.clientHeight + SPARE;
    const wanted = new Set();
    let before = null;
    for (const row of this.rows) {
      if (row.y > bottom || row.y + row.h < top) continue;
      const id = row.lane ? `p${row.lane.uid}` : `g${row.group}`;
      wanted.add(id);
      const text = row.lane ? this.#laneKey(row) : `${row.pods}`;
      const key = `${row.y}|${row.h}|${row.tall}|${text}`;
      let entry = this.shown.get(id);
      if (!entry) {
        entry = { element: h("li", {}), key: "" };
        this.shown.set(id, entry);
        this.list.append(entry.element);
      }
      if (entry.key !== key) {
        this.#fill(entry.element, row);
        entry.key = key;
      }
      // Document order follows the picture, for the Tab key and for reading aloud.
      if (before && before.nextSibling !== entry.element && !entry.element.contains(document.activeElement)) before.after(entry.element);
      before = entry.element;
    }
    for (const [id, entry] of this.shown) {
      if (wanted.has(id) || entry.element.contains(document.activeElement)) continue;
      entry.element.remove();
      this.shown.delete(id);
    }
  }

  /** @param {Row} row */
  #laneKey(row) {
    const lane = /** @type {import("./lane.js").Lane} */ (row.lane);
    return `${lane.label}|${lane.lastDeath?.seq ?? ""}|${lane.goneT !== null}|${lane.error}`;
  }

  /** @param {HTMLElement} element @param {Row} row */
  #fill(element, row) {
    element.style.transform = `translateY(${row.y}px)`;
    element.style.height = `${row.h}px`;
    const { lane } = row;
    if (!lane) {
      element.className = "group";
      element.replaceChildren(h("b", {}, row.group || "no namespace"), h("span", { class: "quiet" }, count(row.pods, "pod")));
      return;
    }
    element.className = `lane${row.tall ? " tall" : ""}${lane.goneT === null ? "" : " gone"}`;
    const [name, hash] = splitName(lane.label);
    const link = h("a", { href: podPath(lane.uid), "data-uid": lane.uid, title: `${lane.namespace}/${lane.name}${lane.goneT === null ? "" : ", gone"}` }, name, hash ? h("span", { class: "hash" }, hash) : null);
    element.replaceChildren(link);
    const death = lane.lastDeath;
    const late = death ? lateness(death.rec) : null;
    if (death && late !== null) {
      element.append(h("span", { class: "last", title: `Last stop: noticed ${late < 1e3 ? "" : "after "}${lateBy(late)}` }, glyph(findGlyph(death.rec)), lateBy(late)));
    }
  }
}
