// @ts-check
/**
 * What a lesson writes over the timeline: the things that are pointed out, the moment that was
 * chosen, the engine's own, how far they are apart, and where a class clicked.
 *
 * It is a picture of what the panel says in words, so assistive technology is not shown it.
 *
 * @typedef {{seq: number, t: number, call: string, pod: string, uid: string}} Point
 * @typedef {{
 *   since: number, call: string, earliest: number, latest: number, open: boolean, you: number|null,
 *   youText: string, engine: number|null, engineText: string, apartText: string
 * }} Ask
 * @typedef {{bins: number[], earliest: number, latest: number}} Tally
 */
import { h, s } from "./dom.js";
import { place, xOf } from "./lesson-place.js";

const ROW = 24;
const COLUMNS = 76;

export class LessonLayer {
  /** @param {import("./nodepage.js").NodePage} page @param {HTMLElement} section where the canvas is */
  constructor(page, section) {
    this.page = page;
    this.root = h("div", { class: "lesson-layer", id: "lesson-layer", "aria-hidden": "true" });
    section.append(this.root);
    /** @type {Point[]} */
    this.points = [];
    /** @type {Ask|null} */
    this.ask = null;
    /** The moment on the slider, while it is being chosen. @type {number|null} */
    this.chosen = null;
    this.chosenText = "";
    /** @type {Tally|null} */
    this.tally = null;
    this.key = "";
  }

  /** Draw if anything has moved. */
  frame() {
    const { timeline, lineup } = this.page;
    const { last } = timeline;
    if (!last || timeline.canvas.offsetParent === null) return;
    const axis = { from: last.from, scale: last.scale, width: timeline.width };
    const rows = lineup.rows.map((row) => `${row.lane?.uid}:${row.y}`).join();
    const key = [last.from, last.scale, timeline.width, timeline.height, timeline.top, timeline.scroller.scrollTop, rows, this.chosen, JSON.stringify(this.ask), this.points.length, this.tally?.bins.join(), timeline.canvas.offsetLeft].join("|");
    if (key === this.key) return;
    this.key = key;
    this.root.style.left = `${timeline.canvas.offsetLeft}px`;
    this.root.style.width = `${timeline.width}px`;
    this.root.replaceChildren(...this.#lines(axis), ...this.#words(axis), ...this.#columns(axis));
  }

  /** Draw anew at the next frame. */
  touch() {
    this.key = "";
  }

  /** Foot of a pod's lane; null: above all lanes. @param {string} uid */
  #foot(uid) {
    const { timeline, lineup } = this.page;
    const row = uid ? lineup.rows.find((each) => each.lane?.uid === uid) : null;
    // What is about no pod stands in the ruler, so that it does not cover the rows it is about.
    return row ? timeline.top + row.y - timeline.scroller.scrollTop + row.h : null;
  }

  /** @param {import("./lesson-place.js").Axis} axis */
  #words(axis) {
    /** @type {Map<string, Point[]>} */
    const lanes = new Map();
    for (const point of this.points) lanes.set(point.uid, [...(lanes.get(point.uid) ?? []), point]);
    return [...lanes].flatMap(([uid, points]) => {
      const base = this.#foot(uid);
      return place(points.map(({ t, call }) => ({ t, text: call })), axis).filter((one) => !one.off).flatMap((one) => {
        const label = h("span", { class: "lesson-word" }, one.text);
        label.style.left = `${one.left}px`;
        const stem = h("i", { class: "lesson-stem" });
        stem.style.left = `${one.x}px`;
        const { ruler, global } = this.page.timeline.heads;
        label.style.top = `${(base === null ? 2 : base + 4) + one.row * ROW}px`;
        stem.style.top = `${base === null ? 2 : base - 8}px`;
        stem.style.height = `${base === null ? ruler + global - 2 : 14 + one.row * ROW}px`;
        return [stem, label];
      });
    });
  }

  /** @param {import("./lesson-place.js").Axis} axis */
  #lines(axis) {
    const { ask } = this;
    if (!ask) return [];
    const you = ask.open ? this.chosen : ask.you;
    /** @type {HTMLElement[]} */
    const made = [];
    const line = (/** @type {number} */ t, /** @type {string} */ kind, /** @type {string} */ text, /** @type {number} */ row) => {
      const there = xOf(axis, t);
      const x = Math.max(0, Math.min(axis.width, there));
      const rule = h("i", { class: `lesson-line ${kind}` });
      rule.style.left = `${x}px`;
      rule.hidden = x !== there;
      const label = h("span", { class: `lesson-flag ${kind}` }, there < 0 ? `← ${text}` : there > axis.width ? `${text} →` : text);
      const right = x > axis.width * 0.7;
      if (right) label.style.right = `${axis.width - x + 4}px`;
      else label.style.left = `${x + 4}px`;
      label.style.bottom = `${(this.tally ? COLUMNS + 20 : 8) + row * ROW}px`;
      made.push(rule, label);
    };
    if (you !== null) line(you, "you", `you: ${ask.open ? this.chosenText : ask.youText}`, 0);
    if (ask.engine !== null) line(ask.engine, "engine", `engine: ${ask.engineText}`, 1);
    if (you !== null && ask.engine !== null) {
      const [a, b] = [xOf(axis, Math.min(you, ask.engine)), xOf(axis, Math.max(you, ask.engine))];
      const bracket = h("span", { class: "lesson-apart" }, `${ask.apartText} apart`);
      bracket.style.left = `${Math.max(0, a)}px`;
      bracket.style.width = `${Math.max(1, Math.min(axis.width, b) - Math.max(0, a))}px`;
      bracket.style.bottom = `${(this.tally ? COLUMNS + 20 : 8) + 2 * ROW}px`;
      made.push(bracket);
    }
    return made;
  }

  /** Where the class clicked. @param {import("./lesson-place.js").Axis} axis */
  #columns(axis) {
    const { tally } = this;
    if (!tally || !tally.bins.some((count) => count)) return [];
    const most = Math.max(...tally.bins, 1);
    const begin = xOf(axis, tally.earliest);
    const width = ((tally.latest - tally.earliest) * axis.scale) / tally.bins.length;
    const svg = s("svg", { class: "lesson-columns", width: axis.width, height: COLUMNS });
    tally.bins.forEach((count, at) => {
      const height = (count * (COLUMNS - 14)) / most;
      if (count) svg.append(s("rect", { x: begin + at * width + 1, y: COLUMNS - height, width: Math.max(1, width - 2), height, class: "lesson-column" }));
    });
    return [svg, h("span", { class: "lesson-columns-title" }, "Where the class clicked")];
  }
}
