// @ts-check
/**
 * The rows above the lanes: ruler, global relists, event stream; and what goes across all lanes:
 * bands of global relists, the tint of a stream that is down, hatches.
 *
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./layout.js").Scene} Scene
 */
import { firstWithin, lowerBound } from "./lane.js";
import { LAYER } from "./layers.js";
import { lookOf } from "./stretch.js";
import { age, duration } from "./words.js";

/** Gaps and the time before the oldest record. @param {Scene} scene @param {Item[][]} lanes @param {(t: number) => number} px */
export function layoutHoles(scene, lanes, px) {
  const { store, from, to, off } = scene;
  if (off.has("gap")) return;
  // Where no record is here there may still be bins, which say themselves what is not known.
  if (!scene.older && store.truncated && store.firstT > from) {
    lanes[LAYER.hatch].push({ k: "hatch", x: -1e5, x2: px(store.firstT), y: 0, h: Infinity, text: "older records are not on this page" });
  }
  for (const gap of store.gaps) {
    if (gap.to < from || gap.from > to) continue;
    const x = px(gap.from);
    lanes[LAYER.hatch].push({
      k: "hatch", x, x2: Math.max(x + 3, px(gap.to)), y: 0, h: Infinity, seq: gap.seq,
      text: `not known here, ${duration(gap.to - gap.from)}`,
    });
  }
}

/** @param {Scene} scene @param {Item[][]} rows @param {Item[][]} lanes @param {(t: number) => number} px */
export function layoutHeads(scene, rows, lanes, px) {
  globals(scene, rows, lanes, px);
  stream(scene, rows, lanes, px);
  queue(scene, rows, px);
  faults(scene, rows, px);
  began(scene, rows, px);
}

/** Before the session nothing was watched: said once, where it began. @param {Scene} scene @param {Item[][]} rows @param {(t: number) => number} px */
function began({ store, from, to, heads, em, older }, rows, px) {
  const { truncated } = store;
  const known = older && older.bins.known.length > 0 && older.unknown.every(([begin]) => begin >= store.firstT);
  const firstT = truncated && known ? older.bins.began : store.firstT;
  if ((truncated && !known) || !store.records.length || firstT < from || firstT > to) return;
  rows[LAYER.chain].push({ k: "text", x: px(firstT) - 8 * em, y: heads.ruler + heads.global + heads.stream / 2, text: "plegscope began to watch here", c: "text3", align: "right", note: "whole" });
}

/** Steps of the queue's length, logarithmic up to its capacity. @param {Scene} scene @param {Item[][]} rows @param {(t: number) => number} px */
function queue({ store, from, to, heads }, rows, px) {
  if (!heads.queue) return;
  const { depths } = store;
  const floor = heads.ruler + heads.global + heads.stream + heads.queue - 3;
  const most = Math.log1p(store.state?.engine.queue.capacity ?? 200);
  let drawn = -Infinity;
  let highest = 0;
  for (let i = Math.max(0, lowerBound(depths, from) - 1); i < depths.length && depths[i].t <= to; i += 1) {
    const { t, seq, depth } = depths[i];
    // Of those on one pixel only what stands out of the others can be seen.
    if (px(t) - drawn >= 1) {
      drawn = px(t);
      highest = 0;
    }
    if (depth <= highest) continue;
    highest = depth;
    const h = Math.max(3, Math.round((heads.queue - 6) * Math.min(1, Math.log1p(depth) / most)));
    const next = depths[i + 1];
    rows[LAYER.wait].push({ k: "queue", x: px(t), x2: next ? px(next.t) : Infinity, y: floor - h, h, seq });
  }
}

/** When which fault was at work, each named or counted where there is room. @param {Scene} scene @param {Item[][]} rows @param {(t: number) => number} px */
function faults({ store, from, to, heads, em, now }, rows, px) {
  if (!heads.faults) return;
  const top = heads.ruler + heads.global + heads.stream + heads.queue;
  const y = top + heads.faults - 4 * em;
  let taken = -Infinity;
  /** Where the room before it begins. */
  let free = 0;
  /** The name that stands last, and how many began under it. @type {{item: Item & {x: number, text: string}, name: string, more: number}|null} */
  let said = null;
  for (const fault of store.faults) {
    if (fault.from > to || (fault.to ?? Infinity) < from) continue;
    const x = px(fault.from);
    rows[LAYER.run].push({ k: "fault", x, x2: fault.to === null ? Infinity : px(fault.to), y, h: 8 * em, seq: fault.seq });
    const left = Math.max(0, x) + 5 * em;
    const room = Math.min(px(now), px(to)) - left;
    if (room < 24 * em) continue;
    if (said && left < taken) {
      said.more += 1;
      said.item.text = `${said.name} and ${said.more} more`;
    } else {
      free = Math.max(4 * em, taken + 4 * em);
      said = { item: { k: "text", x: left, y: top + 8 * em, text: fault.name, c: "text2", s: 10.5 }, name: fault.name, more: 0 };
      rows[LAYER.chain].push(said.item);
    }
    const wide = said.item.text.length * 7 * em;
    // Rather before it began than over the present and into what has not happened.
    const end = px(now) - 4 * em;
    if (said.item.x + wide > end) said.item.x = Math.max(free, Math.min(said.item.x, end - wide));
    taken = said.item.x + wide;
  }
}

/** Height of a relist's bar: logarithmic, 1 ms to 3 min. @param {number} ns @param {number} room */
export function barHeight(ns, room) {
  const share = Math.log10(Math.max(1, ns / 1e6)) / Math.log10(180_000);
  return Math.round(room * (0.25 + 0.75 * Math.min(1, share)));
}

/** @param {Scene} scene @param {Item[][]} rows @param {Item[][]} lanes @param {(t: number) => number} px */
function globals(scene, rows, lanes, px) {
  const { store, from, to, off, heads, em } = scene;
  const top = heads.ruler;
  const floor = top + heads.global - 2;
  const room = heads.global - 11 * em;
  const { globals: list } = store;
  /** @type {Word[]} */
  const words = [];
  /** Bars wide enough to reach into the words of others. @type {{x: number, x2: number, id: number}[]} */
  const bars = [];
  /** @type {number[]} */
  const squares = [];
  let lastHair = -Infinity;
  let lastBar = -Infinity;
  const limit = store.state?.engine.health.threshold_ns ?? 180e9;
  const newest = list[list.length - 1];
  for (let i = firstWithin(list, from, store.ledger.longest, newest?.to === null ? newest : null, "from"); i < list.length; i += 1) {
    const relist = list[i];
    if (relist.from > to) break;
    const end = relist.to;
    const x = px(relist.from);
    const x2 = end === null ? Infinity : px(end);
    if (x2 < 0) continue;
    const { seq } = relist;
    if (end === null) {
      const ran = scene.now - relist.from;
      const c = ran > limit ? "bad" : ran > 30e9 ? "late" : "glob";
      bars.push({ x, x2, id: relist.id });
      rows[LAYER.bar].push({ k: "progress", c, x, x2, y: top + 4, h: heads.global - 6, seq, t: relist.from });
      if (!off.has("global")) lanes[LAYER.band].push({ k: "band", x, x2, y: 0, h: Infinity, c: ran > limit ? "bad" : "" });
      continue;
    }
    const took = end - relist.from;
    const wide = x2 - x;
    if (wide >= 6) bars.push({ x, x2, id: relist.id });
    const polled = relist.finds.some((find) => find.rec.delivery !== "filtered" && find.from !== null);
    if (x - lastBar >= 1.5 || wide > 2 || polled) {
      const h = wide >= 6 ? room : barHeight(took, room);
      rows[LAYER.bar].push({ k: relist.ok === false ? "failed" : "bar", x, x2: Math.max(x + 2, x2), y: floor - h, h, seq });
      lastBar = x;
    }
    if (polled) {
      const at = Math.max(x + 3, x2);
      squares.push(at);
      rows[LAYER.found].push({ k: "glyph", c: "died-poll", x: at, y: top + 6 * em, s: 6.5 * em, seq });
    }
    if (wide > 24 * em) {
      rows[LAYER.chain].push({ k: "text", x: x + 4, y: floor - room / 2, text: wide > 110 * em ? `#${relist.id}  ${duration(took)}` : "", c: "onbar" });
    }
    // One that is wide says it itself.
    if (took > 100e6 && wide <= 110 * em) words.push({ x: x - 4, text: duration(took), right: true, id: relist.id });
    else if (took <= 100e6 && relist.ordinal % 10 === 0) words.push({ x: x + 3, text: `#${relist.id}`, right: false, id: relist.id });
    if (off.has("global")) continue;
    if (wide >= 1.5) lanes[LAYER.band].push({ k: "band", x, x2, y: 0, h: Infinity });
    else if (x - lastHair >= 5) {
      lanes[LAYER.band].push({ k: "hair", x, y: 0, h: Infinity });
      lastHair = x;
    }
  }
  headWords(words, squares, bars, em).forEach(({ x, text, right }) => rows[LAYER.chain].push({
    k: "text", x, y: top + 7 * em, text, c: right ? "text2" : "text3", s: right ? 11 : 10, align: right ? "right" : "left", note: "whole",
  }));
}

/**
 * The words above the relists that touch neither each other nor a square nor the wide bar of another;
 * long relists first.
 * @typedef {{x: number, text: string, right: boolean, id: number}} Word `id`: of the relist
 * @param {Word[]} words @param {number[]} squares @param {{x: number, x2: number, id: number}[]} bars @param {number} em
 */
function headWords(words, squares, bars, em) {
  /** @type {[number, number][]} */
  const taken = squares.map((x) => [x - 5 * em, x + 5 * em]);
  return [...words].sort((a, b) => Number(b.right) - Number(a.right)).filter(({ x, text, right, id }) => {
    const width = text.length * 7 * em + 12 * em;
    const [left, end] = right ? [x - width, x] : [x, x + width];
    if (taken.some(([from, to]) => from < end && to > left) || bars.some((bar) => bar.id !== id && bar.x < end && bar.x2 > left)) return false;
    taken.push([left, end]);
    return true;
  });
}

/** A stream that is opened and ends again within this brought no hints in between (ns). */
const BLINK = 250e6;

/** @param {Scene} scene @param {Item[][]} rows @param {Item[][]} lanes @param {(t: number) => number} px */
function stream(scene, rows, lanes, px) {
  const { store, from, to, heads, off, em } = scene;
  const top = heads.ruler + heads.global;
  const y = top + heads.stream - 4;
  /** @type {{from: number, to: number}[]} */
  const outages = [];
  for (const stretch of store.stretches) {
    const end = stretch.to;
    if (stretch.from > to || (end !== null && end < from)) continue;
    const x = px(stretch.from);
    const x2 = end === null ? Infinity : px(end);
    const item = { x, x2, y, s: 4, seq: stretch.seq, note: stretch.meaning };
    const look = lookOf(stretch, scene.now);
    if (look === "up") rows[LAYER.run].push({ k: "stream", ...item });
    // A runtime without a stream is no fault, nor is a profile that opens none: nothing is down.
    else if (look === "alone") rows[LAYER.run].push({ k: "alone", ...item });
    else {
      rows[LAYER.run].push({ k: "down", ...item });
      const before = outages[outages.length - 1];
      if (before && stretch.from - before.to < BLINK) before.to = end ?? scene.now;
      else outages.push({ from: stretch.from, to: end ?? scene.now });
      for (const t of stretch.tries) if (t >= from && t <= to) rows[LAYER.found].push({ k: "try", x: px(t), y, s: 7 * em, seq: stretch.seq });
      if (!off.has("down")) lanes[LAYER.tint].push({ k: "tint", x, x2, y: 0, h: Infinity });
    }
  }
  for (const outage of outages) {
    const [x, room] = [px(outage.from), px(outage.to) - px(outage.from)];
    if (room > 96 * em) rows[LAYER.chain].push({ k: "text", x: x + room / 2 - 44 * em, y: top + 8 * em, text: `no hints for ${age(outage.to - outage.from)}`, c: "text2" });
  }
  let last = -Infinity;
  for (let i = lowerBound(store.ticks, from); i < store.ticks.length; i += 1) {
    const { t, rec, seq } = store.ticks[i];
    if (t > to) break;
    const x = px(t);
    if (rec.kind === "event_ignored") {
      if (!off.has("ignored")) rows[LAYER.said].push({ k: "glyph", c: "ignored", x, y: top + heads.stream / 2 - 1, s: 9 * em, seq, t });
    } else if (x - last >= 1) {
      rows[LAYER.said].push({ k: "tick", x, y: y - 8 * em, h: 6 * em, seq: rec.seq });
      last = x;
    }
  }
}

/**
 * Ruler marks for a window: whole seconds far out, milliseconds from the first one close in.
 * @param {number} from wall ns of the left edge @param {number} to @param {number} width px @param {number} em
 * @param {(wall: number, digits: number) => string} say
 * @returns {{at: number, text: string}[]} `at` wall ns
 */
export function rulerMarks(from, to, width, em, say) {
  const span = to - from;
  const room = 100 * em;
  const steps = [1e6, 2e6, 5e6, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6, 1e9, 2e9, 5e9, 10e9, 15e9, 30e9, 60e9, 120e9, 300e9, 600e9, 900e9, 1800e9, 3600e9];
  const step = steps.find((each) => (each / span) * width >= room) ?? 3600e9;
  const marks = [];
  const first = Math.ceil(from / step) * step;
  const fine = step < 1e9;
  for (let at = first, i = 0; at <= to; at += step, i += 1) {
    const text = !fine ? say(at, 0) : i === 0 ? say(at, 3) : `+${duration(at - first)}`;
    marks.push({ at, text });
  }
  return marks;
}
