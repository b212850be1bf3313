// @ts-check
/**
 * What a lesson writes over the timeline: the things that are pointed out, the moment that was
 * chosen, the engine's own, how far they are apart, and where a class clicked.
 *
 * It is a picture of what the panel says in words, so assistive technology is not shown it.
 *
 * @typedef {{seq: number, t: number, call: string, pod: string, uid: string, tier: "said"|"asked"|"found"|""}} Point
 * @typedef {{
 *   since: number, call: string, earliest: number, latest: number, open: boolean, you: number|null,
 *   youText: string, engine: number|null, engineText: string, apartText: string
 * }} Ask
 * @typedef {{bins: number[], earliest: number, latest: number}} Tally
 */
import { h, s } from "./dom.js";
import { geometry } from "./layout-lane.js";
import { WORDY, blindAt, place, unseenWords, widthOf, xOf } from "./lesson-place.js";

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
    /** What is so and not seen, and up to when it is told. @type {import("./lesson-place.js").Unseen[]} */
    this.unseen = [];
    this.until = 0;
    /** The moment on the timeline. */
    this.t = 0;
    this.key = "";
  }

  /** Room that is kept free below the lanes for moments and what a class chose, px. */
  get foot() {
    return (this.ask ? 3 * ROW + 12 : 0) + (this.#counted ? COLUMNS + 12 : 0);
  }

  get #counted() {
    return this.tally?.bins.some((count) => count) === true;
  }

  /** Draw if anything has moved. */
  frame() {
    const { timeline, lineup } = this.page;
    const { last } = timeline;
    if (!last || timeline.canvas.offsetParent === null) return;
    this.#heads();
    const axis = { from: last.from, scale: last.scale, width: timeline.width };
    const rows = lineup.rows.map((row) => `${row.lane?.uid}:${row.y}`).join();
    const key = [last.from, last.scale, timeline.width, timeline.height, timeline.top, timeline.scroller.scrollTop, rows, this.chosen, JSON.stringify(this.ask), this.points.length, this.tally?.bins.join(), timeline.canvas.offsetLeft, this.t, this.unseen.length].join("|");
    if (key === this.key) return;
    this.key = key;
    this.root.style.left = `${timeline.canvas.offsetLeft}px`;
    this.root.style.width = `${timeline.width}px`;
    // Lines first: what is written stands over them.
    const made = [...this.#unseen(axis), ...this.#words(axis), ...this.#lines(axis), ...this.#columns(axis)];
    const rules = made.filter((one) => one.localName === "i");
    this.root.replaceChildren(...rules, ...made.filter((one) => !rules.includes(one)));
  }

  /** Draw anew at the next frame. */
  touch() {
    this.key = "";
  }

  /** Where a pod's lane is, px from the top; null when it is not there. @param {string} uid */
  #lane(uid) {
    const { timeline, lineup } = this.page;
    const row = uid ? lineup.rows.find((each) => each.lane?.uid === uid) : null;
    if (!row) return null;
    const label = timeline.narrow ? 18 * timeline.em : 0;
    const height = row.h - label;
    return { top: timeline.top + row.y - timeline.scroller.scrollTop + label, height, tiers: geometry(height, timeline.em) };
  }

  /** Words stand in their pod's own lane, below the tier they are about. @param {import("./lesson-place.js").Axis} axis */
  #words(axis) {
    /** @type {Map<string, Point[]>} */
    const lines = new Map();
    for (const point of this.points) {
      // In a low lane there is room for one line of words only.
      const low = (this.#lane(point.uid)?.height ?? WORDY) < WORDY;
      const key = `${point.uid}|${low ? "" : point.tier}`;
      lines.set(key, [...(lines.get(key) ?? []), point]);
    }
    return [...lines.values()].flatMap((points) => {
      const { uid, tier } = points[0];
      const lane = this.#lane(uid);
      if (uid && !lane) return [];
      const { ruler, global } = this.page.timeline.heads;
      // What is about no pod hangs from the row of relists, below all heads, so that it covers none.
      const from = lane ? lane.top + lane.tiers[lane.height < WORDY ? "asked" : tier || "found"] : ruler + global - 3;
      const below = lane ? from + (lane.height >= WORDY ? 14 : -9) : this.page.timeline.top + 3;
      const top = lane ? Math.min(below, lane.top + lane.height - 20) : below;
      return place(points.map(({ t, call }) => ({ t, text: call })), axis).filter((one) => !one.off).flatMap((one) => {
        const label = h("span", { class: "lesson-word" }, one.text);
        label.style.left = `${one.left}px`;
        label.style.top = `${top}px`;
        const stem = h("i", { class: "lesson-stem" });
        stem.style.left = `${one.x}px`;
        stem.style.top = `${Math.min(from, top)}px`;
        stem.style.height = `${Math.abs(top - from) + 18}px`;
        return [stem, label];
      });
    });
  }

  /** What is so and not seen: over the line of what the pod cache says. @param {import("./lesson-place.js").Axis} axis */
  #unseen(axis) {
    return this.unseen.flatMap((one) => {
      const lane = this.#lane(one.uid);
      const end = Math.min(one.to, this.t);
      const [x, x2] = [Math.max(0, xOf(axis, one.begin)), Math.min(axis.width, xOf(axis, end))];
      if (!lane || x2 - x < 2) return [];
      const y = lane.top + lane.tiers.found;
      const band = h("i", { class: "lesson-unseen" });
      band.style.left = `${x}px`;
      band.style.width = `${x2 - x}px`;
      band.style.top = `${y - 5}px`;
      const text = unseenWords(one.says);
      if (x2 - x < widthOf(text) || lane.height < 60) return [band];
      const label = h("span", { class: "lesson-word late" }, text);
      label.style.left = `${x + 4}px`;
      label.style.top = `${y - 30}px`;
      return [band, label];
    });
  }

  /** Beside a lane stands how its last stop was noticed; where the last one was not, that is said. */
  #heads() {
    const blind = blindAt(this.unseen, this.t, this.until);
    for (const item of this.page.timeline.scroller.querySelectorAll("li.lane")) {
      const uid = /** @type {HTMLElement|null} */ (item.querySelector("[data-uid]"))?.dataset.uid ?? "";
      const says = blind.get(uid) ?? "";
      const told = item.querySelector(".lesson-blind");
      if ((told?.textContent ?? "") === says) continue;
      told?.remove();
      item.classList.toggle("unseen", says !== "");
      if (says) item.append(h("span", { class: "lesson-blind" }, says));
    }
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
      label.style.bottom = `${(this.#counted ? COLUMNS + 20 : 8) + row * ROW}px`;
      made.push(rule, label);
    };
    if (you !== null) line(you, "you", `you: ${ask.open ? this.chosenText : ask.youText}`, 0);
    if (ask.engine !== null) line(ask.engine, "engine", `engine: ${ask.engineText}`, 1);
    if (you !== null && ask.engine !== null) {
      const [a, b] = [xOf(axis, Math.min(you, ask.engine)), xOf(axis, Math.max(you, ask.engine))];
      const bracket = h("span", { class: "lesson-apart" }, `${ask.apartText} apart`);
      bracket.style.left = `${Math.max(0, a)}px`;
      bracket.style.width = `${Math.max(1, Math.min(axis.width, b) - Math.max(0, a))}px`;
      bracket.style.bottom = `${(this.#counted ? COLUMNS + 20 : 8) + 2 * ROW}px`;
      made.push(bracket);
    }
    return made;
  }

  /** Where the class clicked. @param {import("./lesson-place.js").Axis} axis */
  #columns(axis) {
    const { tally } = this;
    if (!tally || !this.#counted) return [];
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
