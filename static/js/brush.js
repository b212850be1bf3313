// @ts-check
/**
 * What the painter paints with: lines, bars, words, and the hatch. Knows pixels and colours only.
 *
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./painter.js").Frame} Frame
 * @typedef {import("./palette.js").Palette} Palette
 */
import { plain } from "./dom.js";

/** Room to the left and right that is still drawn, px. */
export const EDGE = 24;

export class Brush {
  /** @param {CanvasRenderingContext2D} context @param {Palette} palette */
  constructor(context, palette) {
    this.c = context;
    this.palette = palette;
    /** @type {CanvasPattern|null} */
    this.hatching = null;
    /** What is painted now. @type {Frame|undefined} */
    this.frame = undefined;
  }

  /** @param {number} x @param {number} x2 @param {number} y @param {string} color @param {number} width @param {number[]} dash */
  line(x, x2, y, color, width, dash) {
    const { c } = this;
    const left = Math.max(-EDGE, x);
    c.beginPath();
    c.setLineDash(dash);
    // The pattern sticks to time, not to the screen's edge.
    c.lineDashOffset = left - x;
    c.moveTo(left, y);
    c.lineTo(x2, y);
    c.lineWidth = width;
    c.strokeStyle = color;
    c.stroke();
    c.setLineDash([]);
    c.lineDashOffset = 0;
  }

  /** @param {number} x @param {number} w @param {number} y @param {number} h @param {string} fill @param {string|null} edge */
  bar(x, w, y, h, fill, edge) {
    const { c, palette: p } = this;
    c.fillStyle = p.ground;
    c.fillRect(x - 1.25, y - 1.25, w + 2.5, h + 2.5);
    if (w < 6) {
      c.fillStyle = edge ?? fill;
      c.fillRect(x, y, w, h);
      if (!edge) return;
      c.fillStyle = p.ground;
      c.fillRect(x + 1, y + 1.2, w - 2, h - 2.4);
      return;
    }
    const r = 1.6;
    c.beginPath();
    c.roundRect(x, y, w, h, r);
    c.fillStyle = fill;
    c.fill();
    if (!edge) return;
    c.strokeStyle = edge;
    c.lineWidth = 1.3;
    c.beginPath();
    c.roundRect(x + 0.65, y + 0.65, Math.max(1.5, w - 1.3), h - 1.3, r);
    c.stroke();
  }

  /** Not known here. @param {Item} item @param {number} x @param {number} x2 @param {number} y @param {number} h */
  hatch(item, x, x2, y, h) {
    const { c, palette: p } = this;
    const frame = /** @type {Frame} */ (this.frame);
    const left = Math.max(-2, x);
    const right = Math.min(frame.width + 2, x2);
    if (right <= left) return;
    this.hatching ??= this.#pattern();
    c.fillStyle = p.ground;
    c.globalAlpha = 0.72;
    // The ruler stays: its times are known.
    c.fillRect(left, y, right - left, h);
    c.globalAlpha = 1;
    c.save();
    c.beginPath();
    c.rect(left, y, right - left, h);
    c.clip();
    c.translate(x % 9, 0);
    c.fillStyle = this.hatching;
    c.fillRect(left - 9, y, right - left + 18, h);
    c.restore();
    c.fillStyle = p.lost;
    if (x > -2) c.fillRect(Math.round(x), y, 1, h);
    if (x2 < frame.width + 2) c.fillRect(Math.round(x2) - 1, y, 1, h);
    if (item.text) this.pill(item.text, (left + right) / 2, y + 12 * frame.em);
  }

  #pattern() {
    const { c, palette: p } = this;
    const tile = document.createElement("canvas");
    const ratio = c.getTransform().a || 1;
    tile.width = tile.height = Math.round(9 * ratio);
    const t = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
    t.scale(tile.width / 9, tile.height / 9);
    t.strokeStyle = p.lost;
    t.lineWidth = 1;
    t.beginPath();
    for (const shift of [-9, 0, 9]) {
      t.moveTo(shift - 1, 10);
      t.lineTo(shift + 10, -1);
    }
    t.stroke();
    const pattern = /** @type {CanvasPattern} */ (c.createPattern(tile, "repeat"));
    pattern.setTransform(new DOMMatrix().scale(9 / tile.width, 9 / tile.height));
    return pattern;
  }

  /** @param {string} text @param {number} x middle @param {number} y middle */
  pill(text, x, y) {
    const { c, palette: p } = this;
    const { em, width } = /** @type {Frame} */ (this.frame);
    c.font = `${11 * em}px ${p.font}`;
    const half = c.measureText(text).width / 2 + 8 * em;
    const at = Math.min(Math.max(x, half + 2), width - half - 2);
    c.beginPath();
    c.roundRect(at - half, y - 10 * em, half * 2, 20 * em, 4);
    c.fillStyle = p.ground;
    c.fill();
    c.strokeStyle = p.lost;
    c.lineWidth = 1;
    c.stroke();
    c.fillStyle = p.text;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText(text, at, y + 0.5);
  }

  /** @param {Item} item @param {number} x @param {number} y */
  text(item, x, y) {
    const { c, palette: p } = this;
    const { em } = /** @type {Frame} */ (this.frame);
    if (!item.text) return;
    c.font = `${item.c === "onbar" ? "600 " : ""}${(item.s ?? 11) * em}px ${p.font}`;
    c.textAlign = item.align ?? "left";
    c.textBaseline = "middle";
    c.fillStyle = item.c === "onbar" ? "#000" : p[item.c ?? "text2"];
    const text = plain(item.text);
    if (item.note === "whole") {
      // Half a number says something else; on narrow screens the row's name is on the left.
      const { narrow, width } = /** @type {Frame} */ (this.frame);
      const wide = c.measureText(text).width;
      const left = item.align === "right" ? x - wide : x;
      if (left < (narrow ? 92 * em : 2) || left + wide > width - 2) return;
    }
    c.fillText(text, x, y);
  }

  /** Words beside a mark on a pill of ground; to its left, or that of another at `x2`, when there is no room to its right. @param {Item} item @param {number} x @param {number} x2 @param {number} y */
  say(item, x, x2, y) {
    const { c, palette: p } = this;
    const { em, width, narrow } = /** @type {Frame} */ (this.frame);
    let text = plain(item.text ?? "");
    c.font = `500 ${12 * em}px ${p.font}`;
    // On narrow screens a lane's name is on the left and its last figure on the right: what does not fit between is told elsewhere.
    if (narrow && c.measureText(text).width > width - (92 + 84) * em) text = text.split("; ")[0];
    const w = c.measureText(text).width;
    let left = x;
    if (left + w > width - 6) left = Math.max(4, Math.min(x, x2) - w - 24 * em);
    if (x < 0) left = 6;
    if (narrow) left = Math.max(Math.min(left, width - w - 84 * em), Math.min(92 * em, width - w - 6));
    c.fillStyle = p.sel;
    c.globalAlpha = 0.88;
    c.beginPath();
    c.roundRect(left - 4, y - 9 * em, w + 8, 18 * em, 4);
    c.fill();
    c.globalAlpha = 1;
    c.fillStyle = p[item.c ?? "text"];
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.fillText(text, left, y + 0.5);
  }

  /** @param {number} x @param {number} y @param {number} x2 @param {number} y2 */
  elbow(x, y, x2, y2) {
    const { c, palette: p } = this;
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(x, y2);
    c.lineTo(x2, y2);
    c.lineWidth = 1.5;
    c.strokeStyle = p.text;
    c.stroke();
  }
}
