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
import { Brush, EDGE } from "./brush.js";
import { Sprites } from "./sprites.js";
import { age } from "./words.js";

/** Of a bin by its rank (bins.js): nothing, in time, found, late, lost. */
const CELL_COLORS = ["", "glob", "found", "late", "lost"];

/** From this width on (px) a bin is drawn as a stretch in which something was. */
const WIDE_CELL = 6;

export class Painter extends Brush {
  /** @param {CanvasRenderingContext2D} context @param {Palette} palette */
  constructor(context, palette) {
    super(context, palette);
    this.sprites = new Sprites(palette);
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
      case "dots": this.line(left, right, Math.round(y) + 0.5, p.life, 1, [1.5, 3]); break;
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
      case "heldline": this.line(left, right, y, p.ask, 1.4, [2, 2.5]); break;
      case "relist": this.bar(x, Math.max(3, x2 - x), y, h, p.ask, null); break;
      case "own": this.bar(x, Math.max(3, x2 - x), y, h, p["ask-25"], p.ask); break;
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
      case "down": this.line(left, right, y, p.lost, 2, [5, 4]); break;
      case "alone": this.line(left, right, y, p.text3, 2, [2, 4]); break;
      case "try":
        c.beginPath();
        c.arc(x, y, (item.s ?? 7) / 2, 0, Math.PI * 2);
        c.fillStyle = p.ground;
        c.fill();
        c.lineWidth = 1.6;
        c.strokeStyle = p.lost;
        c.stroke();
        break;
      case "hatch": this.hatch(item, left, right, y, h); break;
      case "text": this.text(item, x, y); break;
      case "say": this.say(item, x, x2, y); break;
      case "elbow": this.elbow(x, y, x2, h + (y - item.y)); break;
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
      this.hatch({ ...item, text: "" }, item.x + frame.shift, right, heads.ruler, frame.top - heads.ruler);
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
      this.hatch({ k: "hatch", x: 0, y: 0, text: frame.frozen }, frame.nowX, frame.width + 9, frame.heads.ruler, frame.height - frame.heads.ruler);
    }
    else if (frame.endX !== null) {
      this.hatch({ k: "hatch", x: 0, y: 0 }, frame.endX, frame.width + 9, frame.heads.ruler, frame.height - frame.heads.ruler);
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
