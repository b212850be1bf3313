// @ts-check
/**
 * From a draw list to a canvas. Knows pixels and colours, nothing of pods or relists.
 *
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./layout.js").DrawList} DrawList
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {{
 *   width: number, height: number, top: number, scroll: number, shift: number, nowX: number,
 *   em: number, lanes: {y: number, h: number, lane: any, group: string, tall: boolean}[],
 *   ruler: {x: number, text: string}[], heads: import("./layout.js").Heads, focus: Item|null,
 *   narrow: boolean, frozen: string, cursorX: number|null, endX: number|null
 * }} Frame `top`: where the lanes begin; `shift`: px to add to a list's x; `nowX`: the present;
 *   `endX`: where what is played ends for good
 */
import { Sprites } from "./sprites.js";
import { plain } from "./dom.js";
import { age } from "./words.js";

/** Of a bin by its rank (bins.js): nothing, in time, found, late, lost. */
const CELL_COLORS = ["", "glob", "found", "late", "lost"];

/** From this width on (px) a bin is drawn as a stretch in which something was. */
const WIDE_CELL = 6;

/** Room to the left and right that is still drawn, px. */
const EDGE = 24;

export class Painter {
  /** @param {CanvasRenderingContext2D} context @param {Palette} palette */
  constructor(context, palette) {
    this.c = context;
    this.palette = palette;
    this.sprites = new Sprites(palette);
    /** @type {CanvasPattern|null} */
    this.hatching = null;
  }

  /** Colours or pixel density changed. @param {Palette} palette */
  setPalette(palette) {
    this.palette = palette;
    this.sprites.reset(palette, this.c.getTransform().a || 1);
    this.hatching = null;
  }

  /** @param {DrawList} list @param {Frame} frame */
  paint(list, frame) {
    const { c, palette: p } = this;
    this.frame = frame;
    c.fillStyle = p.ground;
    c.fillRect(0, 0, frame.width, frame.height);
    this.#grid(frame);
    c.save();
    c.beginPath();
    c.rect(0, frame.top, frame.width, frame.height - frame.top);
    c.clip();
    const bottom = frame.height - frame.top;
    for (const layer of list.lanes) this.#layer(layer, frame.top - frame.scroll, frame.top, bottom);
    if (frame.focus) this.#focus(frame.focus, frame.top - frame.scroll);
    c.restore();
    this.#heads(list, frame);
    if (frame.focus && frame.focus.uid === undefined) this.#focus(frame.focus, 0);
    this.#present(frame);
  }

  /** @param {Item[]} layer @param {number} dy @param {number} top @param {number} room */
  #layer(layer, dy, top, room) {
    const frame = /** @type {Frame} */ (this.frame);
    const { c } = this;
    const quiet = frame.lanes.some((row) => row.tall) ? 0.5 : 0.55;
    for (const item of layer) {
      const x = item.x + frame.shift;
      const x2 = item.x2 === undefined ? x : item.x2 === Infinity ? frame.nowX : item.x2 + frame.shift;
      if (x > frame.width + EDGE || x2 < -EDGE - 200) continue;
      c.globalAlpha = item.dim ? quiet : 1;
      const full = item.h === Infinity;
      this.#item(item, x, x2, full ? top : item.y + dy, full ? room : item.h ?? 0);
    }
    c.globalAlpha = 1;
  }

  /** @param {Item} item @param {number} x @param {number} x2 @param {number} y @param {number} h */
  #item(item, x, x2, y, h) {
    const { c, palette: p } = this;
    const left = Math.round(x);
    const right = Math.max(left, Math.round(x2));
    switch (item.k) {
      case "glyph": this.sprites.stamp(c, item.c ?? "other", x, y, item.s ?? 9); break;
      case "cells": this.#cells(item, x, x2, y, h); break;
      case "bin":
        c.fillStyle = p[item.c ?? "found"];
        c.fillRect(left, y, Math.max(2, right - left - 1), h);
        break;
      case "run":
        c.fillStyle = p.life;
        c.fillRect(left, Math.round(y), right - left, 1);
        break;
      case "dots": this.#line(left, right, Math.round(y) + 0.5, p.life, 1, [1.5, 3]); break;
      case "tail":
        c.fillStyle = p.late;
        c.fillRect(left, y - 1.5, Math.max(1, right - left), 3);
        c.fillRect(left - 1, y - 4.5, 2, 9);
        break;
      case "wait":
        c.fillStyle = p.ask;
        c.fillRect(left, y - 0.9, Math.max(1, right - left), 1.8);
        c.fillRect(left, y - 4, 1.8, 8);
        break;
      case "heldline": this.#line(left, right, y, p.ask, 1.4, [2, 2.5]); break;
      case "relist": this.#bar(x, Math.max(3, x2 - x), y, h, p.ask, null); break;
      case "own": this.#bar(x, Math.max(3, x2 - x), y, h, p["ask-25"], p.ask); break;
      case "sync": this.#sync(item, left, right, y, h); break;
      case "tick":
        c.fillStyle = p.text3;
        c.fillRect(left, y, 1, h);
        break;
      case "band":
        c.fillStyle = item.c === "bad" ? p.bad : p["band-wide"];
        if (item.c === "bad") c.globalAlpha = 0.18;
        c.fillRect(left, y, Math.max(1, right - left), h);
        c.globalAlpha = 1;
        c.fillStyle = p.band;
        c.fillRect(left, y, 1, h);
        if (right > left + 1) c.fillRect(right - 1, y, 1, h);
        break;
      case "fault":
        c.fillStyle = p.text2;
        c.fillRect(left, y - 1, Math.max(2, right - left), 2);
        c.fillRect(left, y - h / 2, 1.5, h);
        if (right > left + 3) c.fillRect(right - 1.5, y - h / 4, 1.5, h / 2);
        break;
      case "hair":
        c.fillStyle = p.band;
        c.fillRect(left, y, 1, h);
        break;
      case "tint":
        c.fillStyle = p.tint;
        c.fillRect(left, y, right - left, h);
        break;
      case "bar":
      case "failed":
        c.fillStyle = p.glob;
        if (item.k === "failed") {
          c.strokeStyle = p.glob;
          c.lineWidth = 1;
          c.strokeRect(left + 0.5, y + 0.5, Math.max(3, right - left - 1), h - 1);
        } else c.fillRect(left, y, Math.max(2, right - left), h);
        break;
      case "queue":
        c.fillStyle = p["ask-25"];
        c.fillRect(left, y, Math.max(1, right - left), h);
        c.fillStyle = p.ask;
        c.fillRect(left, y, Math.max(1, right - left), 1.5);
        break;
      case "progress": this.#progress(item, left, right, y, h); break;
      case "stream":
        c.fillStyle = p.found;
        c.fillRect(left, y - 1, right - left, 2);
        break;
      case "down": this.#line(left, right, y, p.lost, 2, [5, 4]); break;
      case "alone": this.#line(left, right, y, p.text3, 2, [2, 4]); break;
      case "try":
        c.beginPath();
        c.arc(x, y, (item.s ?? 7) / 2, 0, Math.PI * 2);
        c.fillStyle = p.ground;
        c.fill();
        c.lineWidth = 1.6;
        c.strokeStyle = p.lost;
        c.stroke();
        break;
      case "hatch": this.#hatch(item, left, right, y, h); break;
      case "text": this.#text(item, x, y); break;
      case "say": this.#say(item, x, x2, y); break;
      case "elbow": this.#elbow(x, y, x2, h + (y - item.y)); break;
      case "focus":
        c.strokeStyle = p.focus;
        c.lineWidth = 1.5;
        c.strokeRect(left - 4, y - (item.s ?? 20) / 2, Math.max(8, right - left + 8), item.s ?? 20);
        break;
      default:
    }
  }

  /** Bins of a time of which no record is here, by colour: to change it costs more than to fill. @param {Item} item @param {number} x @param {number} x2 where they end @param {number} y @param {number} h */
  #cells(item, x, x2, y, h) {
    const { c, palette: p } = this;
    const frame = /** @type {Frame} */ (this.frame);
    const { cells, w = 1 } = item;
    if (!cells) return;
    const { rank, said, count } = cells;
    // One that is wide has its marks somewhere in it: a solid block would say that it is full.
    const wide = w > WIDE_CELL;
    const full = c.globalAlpha;
    const pale = full * 0.42;
    const x1 = item.x1 === undefined ? -Infinity : item.x1 + frame.shift;
    const first = Math.max(0, Math.floor((Math.max(0, x1) - x) / w));
    const end = Math.min(rank.length, Math.ceil((Math.min(x2, frame.width) - x) / w));
    for (let worth = 1; worth < CELL_COLORS.length; worth += 1) {
      c.fillStyle = p[CELL_COLORS[worth]];
      const tall = worth <= 2 ? h * 0.62 : h - 2;
      for (let i = first; i < end; i += 1) {
        if (rank[i] !== worth) continue;
        const left = Math.max(Math.round(x + i * w), x1);
        const width = Math.max(1, Math.min(Math.round(x + (i + 1) * w), x2) - left - (w > 2.5 ? 1 : 0));
        c.globalAlpha = wide ? pale : full;
        c.fillRect(left, y + h - 1 - tall, width, tall);
        if (!wide) continue;
        c.globalAlpha = full;
        c.fillRect(left, y + h - 4, width, 3);
      }
    }
    c.globalAlpha = full;
    if (w > 24 * frame.em) {
      c.font = `${10.5 * frame.em}px ${p.font}`;
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.fillStyle = p.text;
      for (let i = first; i < end; i += 1) if (rank[i] && x + (i + 0.5) * w < x2 && x + (i + 0.5) * w > x1) c.fillText(String(count[i]), x + (i + 0.5) * w, y + h * 0.58);
    }
    c.fillStyle = p.said;
    for (let i = first; i < end; i += 1) {
      if (!said[i]) continue;
      const left = Math.max(Math.round(x + i * w), x1);
      c.fillRect(left, y + h * 0.22, Math.max(1, Math.round(x + (i + 1) * w) - left - (w > 2.5 ? 1 : 0)), 2);
    }
  }

  /** @param {number} x @param {number} x2 @param {number} y @param {string} color @param {number} width @param {number[]} dash */
  #line(x, x2, y, color, width, dash) {
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
  #bar(x, w, y, h, fill, edge) {
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

  /** @param {Item} item @param {number} x @param {number} x2 @param {number} y @param {number} h */
  #sync(item, x, x2, y, h) {
    const { c, palette: p } = this;
    c.fillStyle = p.sync;
    c.fillRect(x, y, Math.max(1, x2 - x), h);
    c.fillStyle = p["sync-edge"];
    c.fillRect(x, y, 1, h);
    if (item.x2 !== Infinity) c.fillRect(Math.max(x, x2 - 1), y, 1, h);
    const frame = /** @type {Frame} */ (this.frame);
    if (item.text && x2 - Math.max(x, 0) > 62 * frame.em) {
      c.font = `${10 * frame.em}px ${p.font}`;
      c.fillStyle = p.text3;
      c.textAlign = "left";
      c.textBaseline = "middle";
      c.fillText(item.text, Math.max(x, 0) + 16 * frame.em, h > 60 ? y + 12 : y + h * 0.5);
    }
  }

  /** @param {Item} item @param {number} x @param {number} x2 @param {number} y @param {number} h */
  #progress(item, x, x2, y, h) {
    const { c, palette: p } = this;
    const frame = /** @type {Frame} */ (this.frame);
    const now = /** @type {any} */ (frame).now ?? 0;
    c.fillStyle = p[item.c ?? "glob"];
    c.fillRect(x, y, Math.max(2, x2 - x), h);
    // On narrow screens the row's name is on the left, over the bar.
    const at = Math.max(Math.max(0, x) + 6, frame.narrow ? 84 * frame.em : 0);
    if (x2 - at > 84 * frame.em) {
      c.font = `600 ${11 * frame.em}px ${p.font}`;
      c.fillStyle = item.c === "bad" ? p.ground : "#000";
      c.textAlign = "left";
      c.textBaseline = "middle";
      c.fillText(`running, ${age(now - (item.t ?? now))}`, at, y + h / 2 + 0.5);
    }
  }

  /** Not known here. @param {Item} item @param {number} x @param {number} x2 @param {number} y @param {number} h */
  #hatch(item, x, x2, y, h) {
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
    if (item.text) this.#pill(item.text, (left + right) / 2, y + 12 * frame.em);
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
  #pill(text, x, y) {
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
  #text(item, x, y) {
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
  #say(item, x, x2, y) {
    const { c, palette: p } = this;
    const { em, width, narrow } = /** @type {Frame} */ (this.frame);
    const text = plain(item.text ?? "");
    c.font = `500 ${12 * em}px ${p.font}`;
    const w = c.measureText(text).width;
    let left = x;
    if (left + w > width - 6) left = Math.max(4, Math.min(x, x2) - w - 24 * em);
    if (x < 0) left = 6;
    // On narrow screens the lane's name is on the left.
    if (narrow) left = Math.max(left, Math.min(92 * em, width - w - 6));
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
  #elbow(x, y, x2, y2) {
    const { c, palette: p } = this;
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(x, y2);
    c.lineTo(x2, y2);
    c.lineWidth = 1.5;
    c.strokeStyle = p.text;
    c.stroke();
  }

  /** Rows, groups and the selected lane's ground. @param {Frame} frame */
  #grid(frame) {
    const { c, palette: p } = this;
    c.save();
    c.beginPath();
    c.rect(0, frame.top, frame.width, frame.height - frame.top);
    c.clip();
    for (const row of frame.lanes) {
      const y = row.y + frame.top - frame.scroll;
      if (!row.lane) c.fillStyle = p.page;
      else if (row.tall) c.fillStyle = p.sel;
      else continue;
      c.fillRect(0, y, frame.width, row.h);
    }
    c.restore();
  }

  /** Ruler, global relists, stream. @param {DrawList} list @param {Frame} frame */
  #heads(list, frame) {
    const { c, palette: p } = this;
    const { heads } = frame;
    c.fillStyle = p.ground;
    c.fillRect(0, 0, frame.width, frame.top);
    c.fillStyle = p.line;
    c.fillRect(0, heads.ruler - 1, frame.width, 1);
    c.font = `${11 * frame.em}px ${p.font}`;
    c.textBaseline = "middle";
    c.textAlign = "left";
    for (const { x, text } of frame.ruler) {
      if (x + 8 + c.measureText(text).width > frame.width) continue;
      c.fillStyle = p.line2;
      c.fillRect(Math.round(x), heads.ruler - 7, 1, 6);
      c.fillStyle = p.text3;
      c.fillText(text, Math.round(x) + 4, heads.ruler / 2);
    }
    c.save();
    c.beginPath();
    c.rect(0, heads.ruler, frame.width, frame.top - heads.ruler);
    c.clip();
    for (const layer of list.rows) this.#layer(layer, 0, 0, frame.top);
    // What is not known is not known in these rows either.
    for (const item of list.lanes[12]) {
      const right = item.x2 === Infinity ? frame.nowX : (item.x2 ?? 0) + frame.shift;
      this.#hatch({ ...item, text: "" }, item.x + frame.shift, right, heads.ruler, frame.top - heads.ruler);
    }
    c.restore();
    c.fillStyle = p.line2;
    c.fillRect(0, frame.top - 1, frame.width, 1);
    if (!frame.narrow) c.fillRect(0, 0, 1, frame.height);
  }

  /** The present: a line with a small triangle; after it nothing is known yet. @param {Frame} frame */
  #present(frame) {
    const { c, palette: p } = this;
    if (frame.frozen) {
      this.#hatch({ k: "hatch", x: 0, y: 0, text: frame.frozen }, frame.nowX, frame.width + 9, frame.heads.ruler, frame.height - frame.heads.ruler);
    }
    else if (frame.endX !== null) {
      this.#hatch({ k: "hatch", x: 0, y: 0 }, frame.endX, frame.width + 9, frame.heads.ruler, frame.height - frame.heads.ruler);
    }
    const x = Math.round(frame.nowX);
    if (x < -8 || x > frame.width + 8) return;
    c.fillStyle = p.text2;
    c.fillRect(x, frame.heads.ruler - 4, 1, frame.height);
    c.beginPath();
    c.moveTo(x - 4.5, frame.heads.ruler - 9);
    c.lineTo(x + 5.5, frame.heads.ruler - 9);
    c.lineTo(x + 0.5, frame.heads.ruler - 3);
    c.closePath();
    c.fill();
  }

  /** A ring around the mark under the keyboard's cursor. @param {Item} item @param {number} dy */
  #focus(item, dy) {
    const { c, palette: p } = this;
    const frame = /** @type {Frame} */ (this.frame);
    const half = (item.s ?? 6) / 2 + 4;
    const x = item.x + frame.shift;
    const x2 = item.x2 === undefined ? x : Math.min(frame.nowX, item.x2 + frame.shift);
    const y = item.h === undefined ? item.y + dy - half : item.y + dy - 3;
    const h = item.h === undefined ? half * 2 : item.h + 6;
    const left = item.x2 === undefined ? x - half : x - 4;
    c.beginPath();
    c.roundRect(left, y, Math.max(half * 2, x2 - left + 4), h, 4);
    c.lineWidth = 2;
    c.strokeStyle = p.focus;
    c.stroke();
  }
}
