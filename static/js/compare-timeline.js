// @ts-check
/**
 * The canvas of a comparison: its own lanes, with the live timeline's painter, window and gestures.
 *
 * @typedef {import("./compare-model.js").Model} Model
 * @typedef {import("./compare-layout.js").Line} Line
 * @typedef {import("./layout.js").Item} Item
 * @typedef {{
 *   model: Model, view: import("./view.js").View, clock: {now: () => number}, off: Set<string>,
 *   lines: () => import("./compare-model.js").Pod[], select: (seq: number|null) => void,
 *   moved: () => void, hover: (item: Item|null, x: number, y: number) => void
 * }} Host `select` takes a row's number plus one, as gestures do
 */
import "./compare-shapes.js";
import { clockOf } from "./compare-model.js";
import { layoutCompare, placeLines } from "./compare-layout.js";
import { rulerMarks } from "./layout-heads.js";
import { hit } from "./layout.js";
import { Painter } from "./painter.js";
import { isNarrow, onPaletteChange, readPalette, textScale } from "./palette.js";

/** Share of the window that a draw list covers beyond each edge. */
const MARGIN = 0.35;

export class CompareTimeline {
  /** @param {HTMLCanvasElement} canvas @param {HTMLElement} scroller @param {Host} host */
  constructor(canvas, scroller, host) {
    this.canvas = canvas;
    this.scroller = scroller;
    this.host = host;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.painter = new Painter(this.context, readPalette());
    this.width = 1;
    this.height = 1;
    this.ratio = 1;
    this.em = 1;
    this.narrow = false;
    /** Number of the selected row. @type {number|null} */
    this.selected = null;
    /** @type {Line[]} */
    this.lines = [];
    this.lanesHeight = 0;
    /** @type {import("./layout.js").DrawList|null} */
    this.list = null;
    this.key = "";
    this.dirty = true;
    /** @type {{from: number, scale: number, shift: number, nowX: number}|null} */
    this.last = null;
    /** Called after each change of the lanes. @type {() => void} */
    this.onLines = () => {};
    new ResizeObserver(() => this.resize()).observe(canvas);
    onPaletteChange(() => {
      this.painter.setPalette(readPalette());
      this.dirty = true;
    });
    scroller.addEventListener("scroll", () => { this.dirty = true; }, { passive: true });
    this.resize();
  }

  get heads() {
    const { em } = this;
    const runs = this.host.model.runs.length;
    return { ruler: 26 * em, global: (8 * runs + 8) * em, stream: (7 * runs + 6) * em, queue: 0 };
  }

  get top() {
    const { ruler, global, stream } = this.heads;
    return ruler + global + stream;
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = Math.min(3, devicePixelRatio || 1);
    this.width = Math.max(1, box.width);
    this.height = Math.max(1, box.height);
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.painter.setPalette(this.painter.palette);
    this.em = textScale();
    this.narrow = isNarrow();
    this.arrange();
  }

  /** The filter or the selection changed: other lanes, or others marked. */
  arrange() {
    const uid = this.selected === null ? null : this.host.model.rows[this.selected].who.uid;
    const placed = placeLines(this.host.lines(), this.host.model.runs.length, { heading: 22 * this.em, lane: 26 * this.em, selected: uid });
    this.lines = placed.lines;
    this.lanesHeight = placed.height;
    this.scroller.style.top = `${this.top / 16 / this.em}rem`;
    this.list = null;
    this.dirty = true;
    this.onLines();
  }

  /** @param {number|null} id */
  setSelected(id) {
    this.selected = id;
    this.arrange();
    if (id !== null) this.#intoSight(this.host.model.rows[id].who.uid);
  }

  /** @param {number} top @param {number} bottom */
  within(top, bottom) {
    return this.lines.filter((line) => line.y < bottom && line.y + line.h > top);
  }

  /** @param {string} uid */
  #intoSight(uid) {
    const own = this.lines.filter((line) => line.pod.uid === uid);
    if (!own.length) return;
    const [first] = own;
    const last = own[own.length - 1];
    const room = this.height - this.top;
    if (first.y < this.scroller.scrollTop) this.scroller.scrollTop = first.y;
    else if (last.y + last.h > this.scroller.scrollTop + room) this.scroller.scrollTop = last.y + last.h - room;
  }

  /** Draw if anything changed. */
  frame() {
    if (!this.dirty || this.canvas.offsetParent === null) return;
    this.dirty = false;
    const { model, view, clock, off } = this.host;
    const [begin, to] = view.window(clock.now());
    const scale = this.width / (to - begin);
    // On whole device pixels all marks move together.
    const pixel = 1 / (scale * this.ratio);
    const from = Math.floor(begin / pixel) * pixel;
    const scroll = this.scroller.scrollTop;
    const room = this.height - this.top;
    const key = `${scale}|${Math.round(scroll / 200)}|${[...off].join()}|${this.selected}`;
    if (!this.list || key !== this.key || this.list.from > from || this.list.to < to) {
      const margin = (to - from) * MARGIN;
      this.list = layoutCompare({
        model, lines: this.within(scroll - 300, scroll + room + 300), from: from - margin, to: to + margin,
        scale, off, selected: this.selected, heads: this.heads, em: this.em,
      });
      this.key = key;
    }
    const shift = (this.list.origin - from) * scale;
    const nowX = (model.end - from) * scale;
    this.last = { from, scale, shift, nowX };
    this.painter.paint(this.list, /** @type {any} */ ({
      width: this.width, height: this.height, top: this.top, scroll, shift, nowX, now: model.end, em: this.em,
      lanes: this.within(scroll, scroll + room), heads: this.heads, focus: null,
      ruler: rulerMarks(from, to, this.width, this.em, clockOf).map(({ at, text }) => ({ x: (at - from) * scale, text })).filter(({ x }) => x >= -from * scale - 1),
      narrow: this.narrow, frozen: "", cursorX: null, endX: null,
    }));
  }

  /** What is at a point of the canvas, CSS px. @param {number} x @param {number} y */
  at(x, y) {
    if (!this.list || !this.last || y < this.top) return null;
    const { shift, nowX } = this.last;
    const at = /** @type {const} */ ([x - shift, y - this.top + this.scroller.scrollTop, nowX - shift]);
    // Where marks are near each other, the one that differs is meant.
    const { rows } = this.host.model;
    const differing = this.list.lanes.map((layer) => layer.filter(({ seq }) => seq && rows[seq - 1].marks.length));
    return hit(differing, ...at) ?? hit(this.list.lanes, ...at);
  }

  /** @param {number} x CSS px @returns {number} time */
  timeAt(x) {
    return this.last ? this.last.from + x / this.last.scale : 0;
  }

  /** Zoom so that the selected difference fills a third of the window. */
  zoomToChain() {
    if (this.selected === null) return;
    const row = this.host.model.rows[this.selected];
    const times = [...row.seen, ...row.stretches].flatMap((each) => (each ? [each.t, "found_t" in each && typeof each.found_t === "number" ? each.found_t : each.t] : []));
    this.host.view.show(Math.min(...times), Math.max(...times), this.host.clock.now());
    this.host.moved();
    this.dirty = true;
  }
}
