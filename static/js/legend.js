// @ts-check
/**
 * The legend: what each mark means in one line, how many are in view, and a switch to hide them. Of
 * several nodes on one clock it counts and hides the marks of all.
 *
 * @typedef {import("./store.js").Store} Store
 */
import { lowerBound } from "./lane.js";
import { counted, KINDS, kindOf } from "./marks.js";
import { glyph, h, setText } from "./dom.js";
import { lookOf } from "./stretch.js";
import { duration } from "./words.js";

/** So many records in a row are counted once, not five times a second. */
const BLOCK = 512;

/** By the first record of each. @type {WeakMap<import("./types.js").Rec, Record<string, number>>} */
const blocks = new WeakMap();

/** @param {import("./types.js").Rec[]} records @param {number} at */
function block(records, at) {
  let known = blocks.get(records[at]);
  if (!known) {
    known = {};
    for (let i = at; i < at + BLOCK; i += 1) count(records[i], known);
    blocks.set(records[at], known);
  }
  return known;
}

/** @param {import("./types.js").Rec} rec @param {Record<string, number>} n */
function count(rec, n) {
  if (rec.kind === "relist_started" || rec.kind === "sync_started") return;
  if (rec.kind === "lifecycle" && (rec.delivery === "filtered" || rec.baseline)) return;
  // One request, one count: its making, and each thing that became of it.
  const kind = rec.kind === "request" ? "wait" : kindOf(rec);
  if (rec.kind === "request" && rec.outcome && rec.outcome !== "queued") n[rec.outcome] = (n[rec.outcome] ?? 0) + 1;
  if (rec.kind === "request_moved" && kind === "wait") return;
  if (kind) n[kind] = (n[kind] ?? 0) + 1;
  if (rec.kind === "lifecycle" && rec.type === "ContainerDied" && rec.old_state === "running") n.tail = (n.tail ?? 0) + 1;
}

/**
 * How many of each kind fall into the window; unknown time and down time are lengths (ns).
 * @param {Store} store @param {number} from @param {number} to @param {Record<string, number>} [older] what bins tell of the time before the oldest record
 */
export function tally(store, from, to, older = {}) {
  /** @type {Record<string, number>} */
  const n = {};
  const { records } = store;
  for (let i = lowerBound(records, from); i < records.length && records[i].t <= to;) {
    const end = records[i + BLOCK - 1];
    if (records[i].seq % BLOCK === 0 && end && end.seq === records[i].seq + BLOCK - 1 && end.t <= to) {
      const known = block(records, i);
      for (const id in known) n[id] = (n[id] ?? 0) + known[id];
      i += BLOCK;
    } else {
      count(records[i], n);
      i += 1;
    }
  }
  const within = (/** @type {number} */ a, /** @type {number} */ b) => Math.max(0, Math.min(b, to) - Math.max(a, from));
  for (const [id, count] of Object.entries(older)) n[id] = (n[id] ?? 0) + count;
  n.gap = store.gaps.reduce((sum, gap) => sum + within(gap.from, gap.to), 0);
  n.down = store.stretches.reduce((sum, each) => sum + (lookOf(each, to) === "down" ? within(each.from, each.to ?? to) : 0), 0);
  return n;
}

/** Of several nodes together. @param {Record<string, number>[]} each @returns {Record<string, number>} */
export function total(each) {
  /** @type {Record<string, number>} */
  const n = {};
  for (const one of each) for (const id in one) n[id] = (n[id] ?? 0) + one[id];
  return n;
}

const LENGTHS = new Set(["gap", "down"]);
const IN_VIEW = "The marks that are in view are counted; of a chain each mark.";
/** In the row; the list of all marks has the rest too. */
const SHORT = new Set(["stop", "ignored", "relist", "own", "held", "coalesced", "dropped", "skipped", "req", "poll", "event", "gap"]);
/** Where not all names fit, these keep theirs first. */
const IMPORTANT = ["stop", "poll", "req", "event", "dropped", "gap", "held", "relist", "own", "ignored"];
/** Shown only when there is something to count. */
const RARE = new Set(["ignored", "coalesced", "dropped", "skipped", "held", "down", "event", "gap"]);

export class Legend {
  /** @param {HTMLElement} row @param {HTMLElement} all @param {Set<string>} off @param {() => void} changed */
  constructor(row, all, off, changed) {
    this.row = row;
    this.off = off;
    this.key = "";
    /** @type {{id: string, rare: boolean, button: HTMLElement, count: HTMLElement, named: [HTMLElement, string][]}[]} `named`: what stands beside the number */
    this.items = [];
    const add = (/** @type {import("./marks.js").Kind} */ kind, /** @type {boolean} */ short) => {
      const count = h("b", {});
      /** @type {[HTMLElement, string][]} */
      const named = short ? [[h("span", { class: "legend-name" }), kind.name], [h("span", { class: "legend-short" }), kind.short ?? kind.name]] : [];
      for (const [place, name] of named) setText(place, name);
      const words = short ? [count, ...named.map(([place]) => place)]
        : [count, h("span", {}, h("span", { class: "legend-kind" }, kind.name[0].toUpperCase() + kind.name.slice(1)), h("span", { class: "sub" }, kind.line))];
      const button = h("button", { type: "button", class: short ? "legend-item" : "legend-line", title: short ? `${kind.line} Those in view are counted. Press to hide or show.` : null, "data-kind": kind.id }, glyph(kind.glyph), ...words);
      button.addEventListener("click", () => {
        if (off.has(kind.id)) off.delete(kind.id);
        else off.add(kind.id);
        this.sync();
        changed();
      });
      this.items.push({ id: kind.id, rare: short && RARE.has(kind.id), button, count, named });
      return button;
    };
    this.view = h("span", { class: "legend-view", title: IN_VIEW }, "in view");
    this.counted = h("span", {}, "Counted in the time in view.");
    row.append(this.view, ...KINDS.filter((kind) => SHORT.has(kind.id)).map((kind) => add(kind, true)));
    // A page that stands alone has no help to lead to.
    const alone = document.getElementById("main")?.dataset.alone !== undefined;
    all.append(h("p", { class: "quiet" }, this.counted, " Press a mark to hide or show it.", ...(alone ? [] : [" ", h("a", { href: "/help#marks" }, "What each means"), "."])), ...KINDS.map((kind) => add(kind, false)));
    all.addEventListener("toggle", () => {
      const from = document.getElementById("legend-open")?.getBoundingClientRect();
      if (!from) return;
      all.style.top = `${from.bottom + 6}px`;
      all.style.left = `${Math.max(8, Math.min(from.left - 200, innerWidth - all.offsetWidth - 8))}px`;
    });
    this.sync();
  }

  /** Show which kinds are hidden. */
  sync() {
    for (const { id, button } of this.items) button.setAttribute("aria-pressed", String(!this.off.has(id)));
  }

  /**
   * @param {Store[]} stores of each node whose marks are counted @param {number} from @param {number} to
   * @param {Record<string, number>} [older] what bins tell of the first one @param {string} [of] whose marks they are, where there are several nodes
   */
  update(stores, from, to, older, of = "") {
    setText(this.view, of ? `in view, ${of}` : "in view");
    this.view.title = of ? `${IN_VIEW} These are of ${of}.` : IN_VIEW;
    setText(this.counted, of ? `Counted in the time in view, of ${of}.` : "Counted in the time in view.");
    const n = total(stores.map((store, i) => tally(store, from, to, i ? {} : older)));
    // Nothing moves away from under the pointer or the focus.
    const still = this.row.matches(":hover, :focus-within");
    for (const { id, rare, button, count, named } of this.items) {
      const value = n[id] ?? 0;
      const text = id === "running" ? "" : LENGTHS.has(id) ? (value ? duration(value) : "0") : value.toLocaleString("en-US");
      setText(count, text);
      for (const [place, name] of named) setText(place, counted(name, value));
      if (!still) button.classList.toggle("none", rare && value === 0 && !this.off.has(id));
    }
    if (!still) this.#fit();
  }

  /** Glyph and count always; the names too when they fit, or short ones, or as many as fit. */
  #fit() {
    const shown = this.items.filter(({ button }) => button.parentElement === this.row && !button.classList.contains("none"));
    const key = `${this.row.parentElement?.clientWidth}|${this.row.clientWidth}|${this.view.textContent}|${shown.map(({ id, button }) => id + button.textContent?.length).join()}`;
    if (key === this.key) return;
    this.key = key;
    const fits = () => this.row.scrollWidth <= this.row.clientWidth;
    for (const { button } of shown) button.classList.remove("worded");
    for (const much of ["names", "shorts", "bare"]) {
      this.row.className = `legend ${much}`;
      if (fits()) break;
    }
    if (!this.row.classList.contains("bare")) return;
    const rank = (/** @type {string} */ id) => (IMPORTANT.includes(id) ? IMPORTANT.indexOf(id) : IMPORTANT.length);
    for (const { button } of [...shown].sort((a, b) => rank(a.id) - rank(b.id))) {
      button.classList.add("worded");
      if (!fits()) button.classList.remove("worded");
    }
  }
}
