// @ts-check
/**
 * The table view. Of all rows that match only those around what is in sight are in the document;
 * spacers stand for the others. Rows move only while neither pointer nor focus is in them; else new records wait
 * behind a button.
 *
 * @typedef {import("./store.js").Store} Store
 */
import { byId, glyph, h, podName, setText } from "./dom.js";
import { SORTS } from "./lane-order.js";
import { cells, isNews, pick } from "./rows.js";
import { count, timeOfDay } from "./words.js";

/** Rows in the document at most, and how many of them above the first in sight. */
const ROWS = 250;
const ABOVE = 80;
/** Rows that the keyboard goes at once. */
const LEAP = 20;

export class Table {
  /** @param {{store: Store, off: Set<string>, select: (seq: number|null) => void, utc: () => import("./words.js").Times, filter: () => string, lineup?: import("./lineup.js").Lineup}} host `lineup`: what the pods are sorted by, and narrowed to */
  constructor(host) {
    this.host = host;
    this.section = byId("table");
    this.body = /** @type {HTMLElement} */ (byId("rows-body"));
    this.scroller = /** @type {HTMLElement} */ (byId("table-scroll"));
    this.button = byId("table-new");
    this.all = false;
    /** Newest record that may be shown. */
    this.until = Infinity;
    /** @type {number|null} */
    this.selected = null;
    this.key = "";
    /** All rows that match. @type {ReturnType<typeof pick>} */
    this.list = [];
    /** The first of them that is in the document. */
    this.first = 0;
    this.before = h("div", { "aria-hidden": "true" });
    this.after = h("div", { "aria-hidden": "true" });
    this.element = /** @type {HTMLElement} */ (this.body.closest("table"));
    this.element.before(this.before);
    this.element.after(this.after);
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.hovered = false;
    this.body.addEventListener("pointerenter", () => { this.hovered = true; });
    this.body.addEventListener("pointerleave", () => { this.hovered = false; });
    this.body.addEventListener("click", (event) => {
      if (event.target instanceof Element && event.target.closest("a")) return;
      const row = event.target instanceof Element ? event.target.closest("tr") : null;
      if (row) host.select(Number(row.dataset.seq));
    });
    this.body.addEventListener("keydown", (event) => this.#key(event));
    this.button.addEventListener("click", () => {
      this.release();
      this.scroller.scrollTop = 0;
    });
  }

  /** Show the newest again. */
  release() {
    this.until = Infinity;
    this.key = "";
    this.hovered = false;
    if (this.body.contains(document.activeElement)) this.scroller.focus();
    this.update();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const row = event.target instanceof HTMLElement ? event.target.closest("tr") : null;
    if (!row) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      this.host.select(Number(row.dataset.seq));
      return;
    }
    const at = this.#at(Number(row.dataset.seq));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + LEAP, PageUp: at - LEAP, Home: 0, End: this.list.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.#element(Math.max(0, Math.min(this.list.length - 1, to)));
    if (!next) return;
    for (const each of this.body.querySelectorAll("tr[tabindex='0']")) each.setAttribute("tabindex", "-1");
    next.tabIndex = 0;
    next.focus();
  }

  /** Place of a record in the list; -1: it is not there. @param {number} seq */
  #at(seq) {
    return this.list.findIndex(({ rec }) => rec.seq === seq);
  }

  /** A row of the list, brought into the document if it is not there. @param {number} at @returns {HTMLElement|null} */
  #element(at) {
    if (at < this.first || at >= this.first + this.body.childElementCount) this.#fill(at - ABOVE);
    return /** @type {HTMLElement|null} */ (this.body.children[at - this.first] ?? null);
  }

  /** How tall a row is, px. */
  get #tall() {
    const n = this.body.childElementCount;
    return n ? this.body.offsetHeight / n : 0;
  }

  #scrolled() {
    const tall = this.#tall;
    if (!tall || this.list.length <= ROWS) return;
    const top = Math.floor(this.scroller.scrollTop / tall);
    const shown = Math.ceil(this.scroller.clientHeight / tall);
    const end = this.first + this.body.childElementCount;
    const near = ABOVE / 4;
    if ((top < this.first + near && this.first > 0) || (top + shown > end - near && end < this.list.length)) this.#fill(top - ABOVE);
  }

  /** Rows from a place on. @param {number} from @param {boolean} anew not one that is there can stay */
  #fill(from, anew = false) {
    const tall = this.#tall;
    this.first = Math.max(0, Math.min(from, this.list.length - ROWS));
    const rows = this.list.slice(this.first, this.first + ROWS);
    const known = new Map(anew ? [] : [...this.body.children].map((row) => [/** @type {HTMLElement} */ (row).dataset.seq, row]));
    const focused = this.body.contains(document.activeElement) ? /** @type {HTMLElement|null|undefined} */ (document.activeElement?.closest("tr"))?.dataset.seq : undefined;
    this.body.replaceChildren(...rows.map(({ rec, lane }) => known.get(String(rec.seq)) ?? this.#row(rec, lane)));
    [...this.body.children].forEach((row, i) => row.setAttribute("aria-rowindex", String(this.first + i + 2)));
    this.element.setAttribute("aria-rowcount", String(this.list.length + 1));
    const each = this.#tall || tall;
    this.before.style.height = `${this.first * each}px`;
    this.after.style.height = `${(this.list.length - this.first - rows.length) * each}px`;
    if (focused === undefined) {
      [...this.body.children].forEach((row, i) => { /** @type {HTMLElement} */ (row).tabIndex = i === 0 ? 0 : -1; });
    } else if (!this.body.contains(document.activeElement)) {
      // Where times are counted from another mark all rows are new: the reader stays where he was.
      const row = /** @type {HTMLElement|null} */ (this.body.querySelector(`tr[data-seq="${focused}"]`));
      row?.setAttribute("tabindex", "0");
      (row ?? this.scroller).focus({ preventScroll: true });
    }
  }

  /** @param {number|null} seq */
  setSelected(seq) {
    this.selected = seq;
    for (const row of this.body.querySelectorAll("tr")) row.setAttribute("aria-selected", String(Number(row.dataset.seq) === seq));
    if (seq === null || this.section.hidden || this.body.querySelector("tr[aria-selected=true]")) return;
    const at = this.#at(seq);
    if (at >= 0) this.#element(at)?.scrollIntoView({ block: "center" });
  }

  update() {
    if (this.section.hidden) return;
    const { store, off } = this.host;
    const busy = this.hovered || (this.body.contains(document.activeElement)) || this.scroller.scrollTop > 40;
    if (busy && this.until === Infinity) this.until = store.lastSeq;
    if (!busy) this.until = Infinity;
    const filter = this.host.filter();
    const waiting = this.until === Infinity ? 0 : this.#waiting();
    this.button.hidden = waiting === 0;
    setText(this.button, `${count(waiting, "new record")}, show`);
    const { lineup } = this.host;
    const byPod = lineup !== undefined && lineup.sort !== "activity";
    const near = lineup?.near ?? null;
    this.#head(byPod ? SORTS.find(({ id }) => id === lineup.sort)?.name ?? "" : "");
    const { records } = store;
    const key = `${records[0]?.seq}|${records.length}|${Math.min(this.until, store.lastSeq)}|${filter}|${[...off]}|${this.all}|${this.host.utc()}|${lineup?.sort}|${byPod ? lineup?.pins : ""}|${near}`;
    if (key === this.key) return;
    const sameLook = key.split("|").slice(3).join() === this.key.split("|").slice(3).join();
    this.key = key;
    this.list = pick(store, { filter, off, all: this.all, until: this.until, near, order: byPod ? (lanes) => lineup.inOrder(lanes, this.until !== Infinity) : null });
    this.#fill(this.scroller.scrollTop > 40 ? this.first : 0, !sameLook);
    const older = store.truncated ? " Older ones are no longer on this page." : "";
    setText(byId("table-end"), this.list.length ? `${count(this.list.length, "record")}.${older}` : filter ? "No record matches." : "Nothing has changed yet.");
  }

  /** What the rows are sorted by, in the head. @param {string} by of the pods; none: the newest first */
  #head(by) {
    const [time, pod] = this.section.querySelectorAll("th");
    time.setAttribute("aria-sort", by ? "none" : "descending");
    for (const arrow of time.querySelectorAll("[aria-hidden]")) /** @type {HTMLElement} */ (arrow).hidden = by !== "";
    if (by) pod.setAttribute("aria-sort", "other");
    else pod.removeAttribute("aria-sort");
    setText(pod, by ? `Pod, by ${by}` : "Pod");
  }

  #waiting() {
    let n = 0;
    const { records } = this.host.store;
    for (let i = records.length - 1; i >= 0 && records[i].seq > this.until; i -= 1) if (this.all || isNews(records[i])) n += 1;
    return n;
  }

  /** @param {import("./types.js").Rec} rec @param {import("./lane.js").Lane|null} lane */
  #row(rec, lane) {
    const { glyph: icon, what, by, after, detail } = cells(rec);
    return h("tr", { "data-seq": rec.seq, tabindex: -1, "aria-selected": String(rec.seq === this.selected) },
      h("td", { class: "mono" }, timeOfDay(rec.wall, this.host.utc(), 3)),
      h("td", { class: "pod" }, ...(lane ? podName(lane.label, (name) => h("b", {}, name)) : [])),
      h("td", { class: "dim" }, lane?.namespace ?? ""),
      h("td", { class: "what" }, h("span", {}, glyph(icon), h("span", {}, what))),
      h("td", { class: "dim" }, by),
      h("td", { class: "num after" }, after),
      h("td", { class: "dim detail" }, detail));
  }
}
