// @ts-check
/**
 * The whole of the runs on one strip: differences per column (amber: later, missed or unseen, wrong), the
 * selected one, and the window. Drag it, or press where to go.
 */
import { onPaletteChange, readPalette } from "./palette.js";

const COLUMN = 4;

/**
 * Differences per column. @param {import("./compare-model.js").Difference[]} differences
 * @param {number} end ns @param {number} columns
 */
export function columnsOf(differences, end, columns) {
  const calm = new Uint16Array(columns);
  const amber = new Uint16Array(columns);
  for (const { t, kinds } of differences) {
    const column = Math.max(0, Math.min(columns - 1, Math.floor((t / end) * columns)));
    if (kinds.some((kind) => kind === "later" || kind === "never" || kind === "wrong")) amber[column] += 1;
    else calm[column] += 1;
  }
  return { calm, amber };
}

export class CompareMinimap {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{view: import("./view.js").View, end: number, differences: () => import("./compare-model.js").Difference[], selectedT: () => number|null, moved: () => void}} host
   */
  constructor(canvas, host) {
    this.canvas = canvas;
    this.host = host;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.palette = readPalette();
    this.dirty = true;
    onPaletteChange(() => {
      this.palette = readPalette();
      this.dirty = true;
    });
    new ResizeObserver(() => { this.dirty = true; }).observe(canvas);
    /** Where in the window it was taken, ns from its middle; null: not dragging. @type {number|null} */
    let grip = null;
    canvas.addEventListener("pointerdown", (event) => {
      const t = this.#time(event);
      const [from, to] = host.view.window(host.end);
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
    return ((event.clientX - box.left) / box.width) * this.host.end;
  }

  /** @param {number} middle ns */
  #go(middle) {
    const { view } = this.host;
    view.end = middle + view.span / 2;
    this.host.moved();
  }

  /** Draw if anything changed. */
  frame() {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (!this.dirty || !width || !height) return;
    this.dirty = false;
    const { context: c, palette: p, host } = this;
    const ratio = Math.min(3, devicePixelRatio || 1);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = p.page;
    c.fillRect(0, 0, width, height);
    const { calm, amber } = columnsOf(host.differences(), host.end, Math.floor(width / COLUMN));
    const most = Math.max(4, ...calm.map((n, i) => n + amber[i]));
    const room = height - 12;
    const tall = (/** @type {number} */ n) => (n ? Math.max(3, Math.sqrt(n / most) * room) : 0);
    calm.forEach((n, i) => {
      const whole = tall(n + amber[i]);
      const top = amber[i] ? Math.max(2, (amber[i] / (n + amber[i])) * whole) : 0;
      c.globalAlpha = 0.62;
      c.fillStyle = p.found;
      c.fillRect(i * COLUMN, height - 4 - whole + top, COLUMN - 1.5, whole - top);
      c.globalAlpha = 1;
      c.fillStyle = p.late;
      c.fillRect(i * COLUMN, height - 4 - whole, COLUMN - 1.5, top);
    });
    const x = (/** @type {number} */ t) => (t / host.end) * width;
    const selected = host.selectedT();
    if (selected !== null) {
      c.fillStyle = p.focus;
      c.fillRect(Math.round(x(selected)), 0, 1.5, height);
    }
    const [from, to] = host.view.window(host.end);
    const left = Math.max(1, x(from));
    const wide = Math.max(6, Math.min(width - 1, x(to)) - left);
    c.fillStyle = p.focus;
    c.globalAlpha = 0.1;
    c.fillRect(left, 2, wide, height - 4);
    c.globalAlpha = 1;
    c.strokeStyle = p.focus;
    c.lineWidth = 1.5;
    c.beginPath();
    c.roundRect(left, 2, wide, height - 4, 4);
    c.stroke();
  }
}
