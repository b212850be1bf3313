// @ts-check
/**
 * The table view. Rows move only while neither pointer nor focus is in them; else new records wait
 * behind a button.
 *
 * @typedef {import("./store.js").Store} Store
 */
import { byId, glyph, h, setText } from "./dom.js";
import { SORTS } from "./lane-order.js";
import { cells, isNews, LIMIT, pick } from "./rows.js";
import { count, splitName, timeOfDay } from "./words.js";

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
    const next = event.key === "ArrowDown" ? row.nextElementSibling : event.key === "ArrowUp" ? row.previousElementSibling
      : event.key === "Home" ? this.body.firstElementChild : event.key === "End" ? this.body.lastElementChild : null;
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    event.stopPropagation();
    row.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  /** @param {number|null} seq */
  setSelected(seq) {
    this.selected = seq;
    for (const row of this.body.querySelectorAll("tr")) row.setAttribute("aria-selected", String(Number(row.dataset.seq) === seq));
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
    const rows = pick(store, { filter, off, all: this.all, until: this.until, near, order: byPod ? (lanes) => lineup.inOrder(lanes) : null });
    this.#head(byPod ? SORTS.find(({ id }) => id === lineup.sort)?.name ?? "" : "");
    const key = `${rows[0]?.rec.seq}|${rows.length}|${rows[rows.length - 1]?.rec.seq}|${filter}|${[...off]}|${this.all}|${this.host.utc()}|${lineup?.sort}|${byPod ? lineup?.pins : ""}|${near}`;
    if (key === this.key) return;
    const sameLook = key.split("|").slice(3).join() === this.key.split("|").slice(3).join();
    this.key = key;
    const known = new Map(sameLook ? [...this.body.children].map((row) => [/** @type {HTMLElement} */ (row).dataset.seq, row]) : []);
    const focused = this.body.contains(document.activeElement) ? /** @type {HTMLElement|null|undefined} */ (document.activeElement?.closest("tr"))?.dataset.seq : undefined;
    this.body.replaceChildren(...rows.map(({ rec, lane }) => known.get(String(rec.seq)) ?? this.#row(rec, lane)));
    if (focused && !this.body.contains(document.activeElement)) {
      // All rows are new, as times are counted from another mark: the reader stays where he was.
      const row = /** @type {HTMLElement|null} */ (this.body.querySelector(`tr[data-seq="${focused}"]`));
      row?.setAttribute("tabindex", "0");
      row?.focus();
    } else if (!focused) [...this.body.children].forEach((row, i) => { /** @type {HTMLElement} */ (row).tabIndex = i === 0 ? 0 : -1; });
    const older = rows.length === LIMIT ? `The newest ${LIMIT}; narrow the filter to see older ones.` : rows.length ? "" : filter ? "No record matches." : "Nothing has changed yet.";
    setText(byId("table-end"), older);
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
    const [name, hash] = splitName(lane?.label ?? "");
    return h("tr", { "data-seq": rec.seq, tabindex: -1, "aria-selected": String(rec.seq === this.selected) },
      h("td", { class: "mono" }, timeOfDay(rec.wall, this.host.utc(), 3)),
      h("td", { class: "pod" }, lane ? h("b", {}, name) : "", hash ? h("span", { class: "hash" }, ` ${hash}`) : ""),
      h("td", { class: "dim" }, lane?.namespace ?? ""),
      h("td", { class: "what" }, h("span", {}, glyph(icon), h("span", {}, what))),
      h("td", { class: "dim" }, by),
      h("td", { class: "num after" }, after),
      h("td", { class: "dim detail" }, detail));
  }
}
