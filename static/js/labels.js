// @ts-check
/**
 * The names beside the lanes: real links in the document, so that they can be read aloud, found and
 * opened; only those in sight exist. Each pod's head folds its containers out and pins it; the arrow
 * keys go from head to head, and right and left fold out and in.
 *
 * @typedef {import("./lineup.js").Row} Row
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {{
 *   sort: () => import("./lane-order.js").Sort, fold: (lane: Lane) => void, pin: (lane: Lane) => void,
 *   unhide: (fold: import("./lineup.js").Fold) => void, filter: () => string
 * }} Host What the buttons in the heads do, and what the lanes are sorted by.
 */
import { lateness } from "./stats.js";
import { findGlyph } from "./story.js";
import { count, exitMeaning, lateBy } from "./words.js";
import { glyph, h, podName, podPath, s } from "./dom.js";

const SPARE = 200;

/** How a container is, in a word or two. @param {import("./lane.js").Part} part */
function partWords(part) {
  const how = part.state === "exited" && part.exit !== null ? `exit ${part.exit}` : part.state || "gone";
  return [how, part.restarts ? count(part.restarts, "restart") : ""].filter(Boolean).join(", ");
}

/** What a row that stands for pods not shown says, and what its button does. @param {Row} row @param {string} filter */
function foldWords(row, filter) {
  const pods = (/** @type {string} */ one, /** @type {string} */ more) => `${count(row.pods, "pod")} ${row.pods === 1 ? one : more}`;
  switch (row.fold) {
    case "quiet": return { text: pods("is quiet", "are quiet"), act: "Show", title: "Nothing happened in them in the time in view." };
    case "near": return { text: pods("did not change near the mark", "did not change near the mark"), act: "Show all", title: "Only pods that changed within 2 s of the selected mark are shown (n)." };
    default: return { text: pods("does not match", "do not match"), act: "Clear", title: `The filter is “${filter}”.` };
  }
}

/** A chevron: down when its containers are shown. */
const chevron = () => s("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, s("path", { d: "M3 1.5 6.5 5 3 8.5" }));
const needle = () => s("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, s("path", { d: "M3.5 1.5h5M4.5 1.5v4L3 7.500h6L7.500 5.500v-4M6 7.500v3.500" }));

export class Labels {
  /** @param {HTMLElement} list @param {HTMLElement} scroller @param {Host|null} [host] none: names only, with nothing to press */
  constructor(list, scroller, host = null) {
    this.list = list;
    this.scroller = scroller;
    this.host = host;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, {element: HTMLElement, key: string, row: Row}>} */
    this.shown = new Map();
    // What is in sight, kept: to ask for it would have the page laid out for each batch of records.
    this.top = scroller.scrollTop;
    this.room = scroller.clientHeight;
    this.height = "";
    scroller.addEventListener("scroll", () => this.#moved(), { passive: true });
    // It changes with the room for it, too: a drawer opens, a bar takes a second line.
    new ResizeObserver(() => this.#moved()).observe(scroller);
    list.addEventListener("click", (event) => this.#click(event));
    list.addEventListener("keydown", (event) => this.#key(event));
  }

  get #sort() {
    return this.host?.sort() ?? "activity";
  }

  /** @param {Row[]} rows @param {number} height */
  setRows(rows, height) {
    this.rows = rows;
    if (this.height !== `${height}px`) {
      this.height = `${height}px`;
      this.list.style.height = this.height;
    }
    this.update();
  }

  #moved() {
    this.top = this.scroller.scrollTop;
    this.room = this.scroller.clientHeight;
    this.update();
  }

  /** The pod whose head has the focus. @returns {Lane|null} */
  focused() {
    return this.#rowOf(document.activeElement)?.lane ?? null;
  }

  /** The pod whose head is under the pointer. @returns {Lane|null} */
  hovered() {
    return this.#rowOf(this.list.querySelector("li:hover"))?.lane ?? null;
  }

  /** @param {unknown} target */
  #rowOf(target) {
    const element = target instanceof Element && this.list.contains(target) ? target.closest("li") : null;
    return [...this.shown.values()].find((each) => each.element === element)?.row ?? null;
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    const row = button ? this.#rowOf(button) : null;
    if (!row) return;
    if (row.fold) this.host?.unhide(row.fold);
    else if (row.lane && button?.dataset.act === "fold") this.host?.fold(row.lane);
    else if (row.lane) this.host?.pin(row.lane);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const row = this.#rowOf(event.target);
    if (!row || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      if (row.lane?.parts.size && row.open !== (event.key === "ArrowRight")) this.host?.fold(row.lane);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const at = this.rows.findIndex((each) => each.id === row.id);
      const rest = event.key === "ArrowDown" ? this.rows.slice(at + 1) : this.rows.slice(0, at).reverse();
      const next = rest.find((each) => (each.lane ? !each.part : each.fold));
      if (next) this.#focus(next);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {Row} row */
  #focus(row) {
    const { scroller } = this;
    if (row.y < scroller.scrollTop) scroller.scrollTop = row.y;
    else if (row.y + row.h > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = row.y + row.h - scroller.clientHeight;
    this.#moved();
    const element = this.shown.get(row.id ?? "")?.element;
    /** @type {HTMLElement|null|undefined} */ (element?.querySelector("a, button[data-act='show']"))?.focus({ preventScroll: true });
  }

  /** Bring the document in line with what is in sight. */
  update() {
    const top = this.top - SPARE;
    const bottom = this.top + this.room + SPARE;
    const wanted = new Set();
    let before = null;
    for (const row of this.rows) {
      if (row.y > bottom || row.y + row.h < top) continue;
      const id = row.id ?? "";
      wanted.add(id);
      const key = `${row.y}|${row.h}|${row.tall}|${row.lane ? this.#laneKey(row, row.lane) : `${row.pods}|${this.host?.filter()}`}`;
      let entry = this.shown.get(id);
      if (!entry) {
        entry = { element: h("li", {}), key: "", row };
        this.shown.set(id, entry);
        this.list.append(entry.element);
      }
      entry.row = row;
      if (entry.key !== key) {
        this.#fill(entry.element, row);
        entry.key = key;
      }
      // Document order follows the picture, for the Tab key and for reading aloud.
      if (before && before.nextSibling !== entry.element && !entry.element.contains(document.activeElement)) before.after(entry.element);
      before = entry.element;
    }
    let lost = false;
    for (const [id, entry] of this.shown) {
      if (wanted.has(id)) continue;
      const focused = entry.element.contains(document.activeElement);
      // Out of sight it keeps the focus; if there is no such row any more, a neighbour gets it.
      if (focused && this.rows.some((row) => row.id === id)) continue;
      entry.element.remove();
      this.shown.delete(id);
      lost ||= focused;
    }
    if (lost) /** @type {HTMLElement|null} */ (this.list.querySelector("a"))?.focus({ preventScroll: true });
  }

  /** What a head is made of. @param {Row} row @param {Lane} lane */
  #laneKey(row, lane) {
    if (row.part) return `${partWords(row.part)}|${row.part.reason}`;
    const sort = this.#sort;
    const by = sort === "restarts" ? lane.restarts : sort === "slowest" ? lane.slowest?.seq : "";
    return `${lane.label}|${lane.lastDeath?.seq ?? ""}|${lane.goneT !== null}|${lane.error}|${lane.parts.size}|${row.open}|${row.pinned}|${sort}|${by}`;
  }

  /** @param {HTMLElement} element @param {Row} row */
  #fill(element, row) {
    // The focus stays where it is in the head.
    const focus = element.contains(document.activeElement) ? document.activeElement?.getAttribute("data-act") : null;
    element.style.transform = `translateY(${row.y}px)`;
    element.style.height = `${row.h}px`;
    if (row.fold) this.#fold(element, row);
    else if (!row.lane) {
      element.className = "group";
      element.replaceChildren(h("b", {}, row.group || "no namespace"), h("span", { class: "quiet" }, count(row.pods, "pod")));
    } else if (row.part) this.#part(element, row.part);
    else this.#pod(element, row, row.lane);
    if (focus) /** @type {HTMLElement|null} */ (element.querySelector(`[data-act="${focus}"]`))?.focus({ preventScroll: true });
  }

  /** @param {HTMLElement} element @param {Row} row */
  #fold(element, row) {
    const { text, act, title } = foldWords(row, this.host?.filter() ?? "");
    element.className = "group fold-row";
    element.replaceChildren(h("span", { title }, text));
    if (this.host) element.append(h("button", { type: "button", "data-act": "show" }, act));
  }

  /** @param {HTMLElement} element @param {import("./lane.js").Part} part */
  #part(element, part) {
    const meaning = part.state === "exited" && part.exit !== null ? exitMeaning(part.exit, part.reason).short : "";
    element.className = `part${part.state === "running" ? "" : " gone"}`;
    element.replaceChildren(h("span", { class: "part-name", title: part.name }, h("span", { class: "sr" }, "container "), part.name), h("span", { class: "last", title: meaning || null }, partWords(part)));
  }

  /** @param {HTMLElement} element @param {Row} row @param {Lane} lane */
  #pod(element, row, lane) {
    element.className = `lane${row.tall ? " tall" : ""}${lane.goneT === null ? "" : " gone"}${row.pinned ? " pinned" : ""}`;
    const link = h("a", { href: podPath(lane.uid), "data-uid": lane.uid, "data-act": "pod", title: `${lane.namespace}/${lane.name}${lane.ahead ? ", comes later" : lane.goneT === null ? "" : ", gone"}` }, ...podName(lane.label));
    const fold = this.host && lane.parts.size
      ? h("button", { type: "button", class: "fold", "data-act": "fold", "aria-expanded": String(row.open === true), "aria-label": `${count(lane.parts.size, "container")} of ${lane.label}`, title: `${count(lane.parts.size, "container")} (c)` }, chevron())
      : null;
    const pin = this.host && h("button", { type: "button", class: "pin-lane", "data-act": "pin", "aria-pressed": String(row.pinned === true), "aria-label": `Keep ${lane.label} on top`, title: row.pinned ? "No longer on top (u)" : "Keep on top (u)" }, needle());
    element.replaceChildren(...[fold, link, this.#last(lane), pin].flatMap((each) => each ?? []));
  }

  /** What the head says at its end: what the lanes are sorted by, else how late the last stop was noticed. @param {Lane} lane */
  #last(lane) {
    const sort = this.#sort;
    if (sort === "restarts") {
      return lane.restarts ? h("span", { class: "last" }, count(lane.restarts, "restart")) : null;
    }
    const death = sort === "slowest" ? lane.slowest : lane.lastDeath;
    const late = death ? (sort === "slowest" ? lane.slowness : lateness(death.rec)) : null;
    if (!death || late === null) return null;
    const which = sort === "slowest" ? "Slowest stop" : "Last stop";
    return h("span", { class: "last", title: `${which}: noticed ${late < 1e3 ? "" : "after "}${lateBy(late)}` }, glyph(findGlyph(death.rec)), lateBy(late));
  }
}
