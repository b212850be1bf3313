// @ts-check
/**
 * How long stops and starts went unnoticed in the last minute: a row per relist source, a dot per
 * finding on a logarithmic scale from 1 ms to 10 s, a line at the median.
 */
import { noticed } from "./stats.js";
import { glyph, h, s, setText } from "./dom.js";
import { place } from "./gauge.js";
import { textScale } from "./palette.js";
import { lateBy, median } from "./words.js";

const LOW = 1e6;
const HIGH = 10e9;
const ROWS = /** @type {const} */ ([["hint", "died-req", "hint, held"], ["sync", "own", "after sync"], ["poll", "died-poll", "global poll"]]);
const TICKS = /** @type {[number, string][]} */ ([[1e6, "1 ms"], [10e6, "10 ms"], [100e6, "100 ms"], [1e9, "1 s"], [10e9, "10 s"]]);
const ROW_HEIGHT = 20;

/** @param {{value: number|null}[]} row */
function known(row) {
  return row.flatMap(({ value }) => (value === null ? [] : [value]));
}

export class Distribution {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.svg = s("svg", { class: "spread", height: ROW_HEIGHT * 3, "aria-hidden": "true" });
    /** @type {Record<string, {count: HTMLElement, median: HTMLElement}>} */
    this.cells = {};
    // Where events are believed there are no hints.
    const believes = document.getElementById("main")?.dataset.hints === "write";
    const rows = ROWS.map(([id, icon, name], i) => {
      this.cells[id] = { count: h("td", { class: "num quiet" }), median: h("td", { class: "num median" }) };
      const plot = i ? null : h("td", { rowspan: 3, class: "plot" }, this.svg);
      return h("tr", {}, h("th", { scope: "row" }, ...(believes && id === "hint" ? [glyph("died-event"), "event believed"] : [glyph(icon), name])), plot, this.cells[id].count, this.cells[id].median);
    });
    const head = h("thead", { class: "sr" }, h("tr", {}, ...["Found by", "Spread", "Stops + starts in the last 60 s", "Median of both"].map((name) => h("th", { scope: "col" }, name))));
    box.append(h("table", {}, head, h("tbody", {}, ...rows)));
    this.key = "";
    new ResizeObserver(() => { this.key = ""; }).observe(box);
  }

  /** @param {import("./store.js").Store} store @param {number} now */
  update(store, now) {
    const rows = noticed(store, now);
    for (const [id] of ROWS) {
      const starts = rows[id].filter((each) => each.open).length;
      const mid = median(known(rows[id]));
      setText(this.cells[id].count, rows[id].length ? `${rows[id].length - starts}\u00a0+\u00a0${starts}` : "–");
      setText(this.cells[id].median, mid === null ? "" : lateBy(mid));
    }
    const scale = textScale();
    const w = this.svg.clientWidth / scale;
    const key = `${w}|${ROWS.map(([id]) => rows[id].map((each) => (each.value ?? -1) | 0).join()).join("|")}`;
    if (!w || key === this.key) return;
    this.key = key;
    const inner = w - 16;
    const x = (/** @type {number} */ ns) => 8 + place(ns, LOW, HIGH) * inner;
    /** @type {Element[]} */
    const marks = TICKS.map(([ns]) => s("path", { class: "grid", d: `M${x(ns)} 0V${ROW_HEIGHT * 3}` }));
    ROWS.forEach(([id], row) => {
      const middle = row * ROW_HEIGHT + ROW_HEIGHT / 2;
      marks.push(s("path", { class: "grid", d: `M0 ${middle}H${w}` }), ...this.#dots(rows[id], id === "poll", x, middle));
      const mid = median(known(rows[id]));
      if (mid !== null) marks.push(s("path", { class: "median", d: `M${x(mid)} ${middle - 8}v16` }));
    });
    TICKS.forEach(([ns, text], i) => {
      if (inner < 250 && i % 2) return;
      marks.push(s("text", { class: "scale-text", x: x(ns), y: ROW_HEIGHT * 3 + 14, "text-anchor": i === 0 ? "start" : i === TICKS.length - 1 ? "end" : "middle" }, text.replace(" ", "\u00a0")));
    });
    // The scale's words hang below the rows.
    this.svg.setAttribute("viewBox", `0 0 ${w} ${ROW_HEIGHT * 3}`);
    this.svg.setAttribute("height", String(ROW_HEIGHT * 3 * scale));
    this.svg.replaceChildren(...marks);
  }

  /** Dots that would cover each other stand one above the other. @param {{value: number|null, open: boolean}[]} found @param {boolean} square @param {(ns: number) => number} x @param {number} middle */
  #dots(found, square, x, middle) {
    /** @type {Map<number, number>} */
    const piles = new Map();
    const values = found.flatMap(({ value, open }) => (value === null ? [] : [{ value, open }]));
    return values.slice(-160).map(({ value, open }) => {
      const column = Math.round(x(value) / 4);
      const n = piles.get(column) ?? 0;
      piles.set(column, n + 1);
      const step = Math.min(2, Math.ceil(n / 2)) * (n % 2 ? -3.6 : 3.6);
      const className = `${square ? "poll" : "req"}${open ? " open" : ""}`;
      return square
        ? s("rect", { class: className, x: x(value) - 2.3, y: middle + step - 2.3, width: 4.6, height: 4.6 })
        : s("circle", { class: className, cx: x(value), cy: middle + step, r: 2.4 });
    });
  }
}
