// @ts-check
/**
 * The whole range this page knows, on one strip: stops per column (amber on top: found by the poll
 * only), the stream below, hatches where nothing is known, and the window. Drag it, or press where
 * to go.
 */
import { lowerBound } from "./lane.js";
import { isNewStop } from "./stats.js";
import { lookOf } from "./stretch.js";
import { onPaletteChange, readPalette } from "./palette.js";

const COLUMN = 4;
const STRIP = 8;

/** Stops per column of the strip. @param {import("./store.js").Store} store @param {number} from @param {number} to @param {number} columns */
export function histogram(store, from, to, columns) {
  const found = new Uint32Array(columns);
  const late = new Uint32Array(columns);
  for (let i = lowerBound(store.finds, from); i < store.finds.length; i += 1) {
    const { t, rec } = store.finds[i];
    if (t > to) break;
    if (!isNewStop(store.finds[i])) continue;
    const column = Math.min(columns - 1, Math.floor(((t - from) / (to - from)) * columns));
    if (rec.source === "global") late[column] += 1;
    else found[column] += 1;
  }
  return { found, late };
}

/**
 * The same of the time before the oldest record, from bins.
 * @param {import("./bins.js").Cut} cut @param {number} until @param {number} from @param {number} to @param {Uint32Array} found @param {Uint32Array} late
 */
export function addOlder(cut, until, from, to, found, late) {
  for (let i = 0; i < cut.all.length; i += 3) {
    const kind = cut.marks[cut.all[i + 1]];
    const into = kind === "poll_end" ? late : kind === "req_end" || kind === "event_end" ? found : null;
    const t = (cut.first + cut.all[i] + 0.5) * cut.width;
    if (!into || t > until || t < from) continue;
    into[Math.min(found.length - 1, Math.floor(((t - from) / (to - from)) * found.length))] += cut.all[i + 2];
  }
}

export class Minimap {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{store: import("./store.js").Store, bins?: import("./bins.js").Bins|null, view: import("./view.js").View, now: () => number, moved: () => void, range?: () => [number, number]}} host
   *   `range`: from when to when the strip goes; without it from the oldest time of which anything is known to the present
   */
  constructor(canvas, host) {
    this.canvas = canvas;
    this.host = host;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.palette = readPalette();
    this.from = 0;
    this.to = 1;
    this.key = "";
    /** What was before the oldest record here. @type {import("./bins.js").Cut|null} */
    this.older = null;
    onPaletteChange(() => {
      this.palette = readPalette();
      this.key = "";
    });
    new ResizeObserver(() => { this.key = ""; }).observe(canvas);
    /** Where in the window it was taken, ns from its middle; null: not dragging. @type {number|null} */
    let grip = null;
    canvas.addEventListener("pointerdown", (event) => {
      const t = this.#time(event);
      const [from, to] = host.view.window(host.now());
      grip = t >= from && t <= to ? t - (from + to) / 2 : 0;
      canvas.setPointerCapture(event.pointerId);
      this.#go(t - grip);
    });
    canvas.addEventListener("pointermove", (event) => { if (grip !== null) this.#go(this.#time(event) - grip); });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { grip = null; });
  }

  /** @param {PointerEvent} event */
  #time(event) {
    const box = this.canvas.getBoundingClientRect();
    return this.from + ((event.clientX - box.left) / box.width) * (this.to - this.from);
  }

  /** @param {number} middle ns */
  #go(middle) {
    const { view, now, moved } = this.host;
    view.end = middle + view.span / 2;
    if (view.end >= now()) view.follow();
    moved();
    this.key = "";
  }

  /** @param {boolean} [force] */
  update(force = false) {
    const { store, view, now } = this.host;
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (!width || !height || !store.state) return;
    const present = now();
    // At least two windows wide, so that the window can be told from the whole.
    const { bins } = this.host;
    bins?.meet(store.session);
    const older = bins && store.truncated ? bins.whole(present) : null;
    this.older = older && older.since < store.firstT ? older : null;
    const first = this.older ? Math.max(this.older.since, this.older.first * this.older.width) : store.firstT;
    const span = Math.max(present - first, view.span * 2, 120e9) * 1.01;
    const step = span / (width / COLUMN);
    this.to = Math.ceil(present / step) * step;
    this.from = this.to - span;
    if (this.host.range) [this.from, this.to] = this.host.range();
    const [left, right] = view.window(present);
    const column = (/** @type {number} */ t) => Math.round(((t - this.from) / (this.to - this.from)) * width);
    const key = `${store.revision}|${bins?.revision ?? 0}|${this.to}|${column(left)}|${column(right)}|${column(present)}`;
    if (!force && key === this.key) return;
    this.key = key;
    this.#draw(width, height, left, right);
  }

  /** @param {number} width @param {number} height @param {number} left @param {number} right */
  #draw(width, height, left, right) {
    const { context: c, palette: p, from, to } = this;
    const { store, now } = this.host;
    const present = Math.min(to, now());
    const ratio = Math.min(3, devicePixelRatio || 1);
    if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
    if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = p.page;
    c.fillRect(0, 0, width, height);
    const x = (/** @type {number} */ t) => ((t - from) / (to - from)) * width;
    const floor = height - STRIP;
    const { found, late } = histogram(store, from, to, Math.floor(width / COLUMN));
    if (this.older) addOlder(this.older, store.firstT, from, to, found, late);
    const most = Math.max(4, ...found.map((n, i) => n + late[i]));
    const room = floor - 8;
    for (let i = 0; i < found.length; i += 1) {
      const n = found[i] + late[i];
      if (!n) continue;
      const tall = Math.max(3, Math.sqrt(n / most) * room);
      const amber = (late[i] / n) * tall;
      c.globalAlpha = 0.62;
      c.fillStyle = p.found;
      c.fillRect(i * COLUMN, floor - tall + amber, COLUMN - 1.5, tall - amber);
      c.globalAlpha = 1;
      c.fillStyle = p.late;
      c.fillRect(i * COLUMN, floor - tall, COLUMN - 1.5, amber);
    }
    c.fillStyle = p.line;
    c.fillRect(0, floor + 1, width, 1);
    for (const stretch of [...this.#earlier(), ...store.stretches]) {
      const look = lookOf(stretch, present);
      const up = look === "up";
      c.fillStyle = up ? p.found : look === "alone" ? p.text3 : p.lost;
      const begin = Math.max(0, x(stretch.from));
      const end = x(Math.min(present, stretch.to ?? present));
      if (up) c.fillRect(begin, floor + 4, end - begin, 1.5);
      else for (let at = begin; at < end; at += 5) c.fillRect(at, floor + 3.5, Math.min(3, end - at), 2.5);
    }
    for (const gap of store.gaps) this.#hatch(x(gap.from), Math.max(x(gap.from) + 2, x(gap.to)), height);
    const { older } = this;
    if (store.truncated && !(older && older.since <= older.began && older.first * older.width <= older.began)) this.#hatch(-2, x(older ? Math.max(older.since, older.first * older.width) : store.firstT), height);
    this.#window(Math.max(1, x(left)), Math.min(width - 1, x(right)), height);
  }

  /** The stream's life before what is known of it here. @returns {import("./store.js").Stretch[]} */
  #earlier() {
    const { older } = this;
    const until = this.host.store.stretches[0]?.from ?? 0;
    if (!older) return [];
    const turns = older.stream.filter((turn) => turn.t < until);
    return turns.map((turn, i) => ({
      from: turn.t, to: turns[i + 1]?.t ?? until, state: turn.state, meaning: turn.meaning, seq: 0, tries: [], code: turn.code, first: i === 0,
    }));
  }

  /** @param {number} x @param {number} x2 @param {number} height */
  #hatch(x, x2, height) {
    if (x2 <= 0) return;
    const { context: c, palette: p } = this;
    c.save();
    c.beginPath();
    c.rect(x, 0, x2 - x, height);
    c.clip();
    c.strokeStyle = p.lost;
    c.lineWidth = 1;
    c.beginPath();
    for (let at = x - height; at < x2; at += 6) {
      c.moveTo(at, height);
      c.lineTo(at + height, 0);
    }
    c.stroke();
    c.restore();
  }

  /** @param {number} x @param {number} x2 @param {number} height */
  #window(x, x2, height) {
    const { context: c, palette: p } = this;
    const wide = Math.max(6, x2 - x);
    c.fillStyle = p.focus;
    c.globalAlpha = 0.1;
    c.fillRect(x, 2, wide, height - 4);
    c.globalAlpha = 1;
    c.strokeStyle = p.focus;
    c.lineWidth = 1.5;
    c.beginPath();
    c.roundRect(x, 2, wide, height - 4, 4);
    c.stroke();
    c.fillRect(x - 2, height / 2 - 8, 4, 16);
    c.fillRect(x + wide - 2, height / 2 - 8, 4, 16);
  }
}
