// @ts-check
/**
 * The distance to the limit on one logarithmic scale: 5 ms, 1 s, 30 s and 3 min can all be read.
 * Dot: how long the last global relist took. Pin: how long ago the last one began. Box: this
 * node's usual. The rail is amber from 30 s and red past the limit.
 */
import { h, s, setText } from "./dom.js";
import { textScale } from "./palette.js";
import { timesUsual, timesWords } from "./stats.js";
import { age, duration } from "./words.js";

const LOW = 2e6;
/** End of the scale, in limits: 7 min for the kubelet's 3. */
const BEYOND = 7 / 3;
const HIGH = 7 * 60e9;
/** Of the drawing, in units of the text's scale. */
const HEIGHT = 58;
const TICKS = [5e6, 100e6, 1e9, 10e9, 30e9, 180e9];

/** Place on the scale, from 0 to 1. @param {number} ns */
export function place(ns, low = LOW, high = HIGH) {
  const share = Math.log(Math.max(low, ns) / low) / Math.log(high / low);
  return Math.min(1, Math.max(0, share));
}

export class Gauge {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.width = 0;
    this.limit = 0;
    this.pace = 0;
    this.high = HIGH;
    this.svg = s("svg", { class: "scale", height: HEIGHT, "aria-hidden": "true" });
    this.text = h("p", { class: "sr" });
    box.append(this.svg, this.text);
    new ResizeObserver(() => { this.width = 0; }).observe(box);
  }

  /** @param {number} limit @param {number} pace ns between two global relists */
  #build(limit, pace) {
    // Whoever enlarges the text enlarges the drawing's words with it.
    const scale = textScale();
    this.width = this.box.clientWidth / scale;
    this.limit = limit;
    const w = this.width;
    this.svg.setAttribute("viewBox", `0 0 ${w} ${HEIGHT}`);
    this.svg.setAttribute("width", String(w * scale));
    this.svg.setAttribute("height", String(HEIGHT * scale));
    this.high = limit * BEYOND;
    this.pace = pace;
    const x = (/** @type {number} */ ns) => place(ns, LOW, this.high) * w;
    // A relist that comes every five minutes is not late after thirty seconds.
    const late = Math.min(limit, Math.max(30e9, pace * 1.5));
    const ticks = TICKS.map((ns) => (ns === 180e9 ? limit : ns));
    this.usualBox = s("rect", { class: "usual", y: 22, height: 14, rx: 3 });
    this.dot = s("circle", { class: "dot", r: 4.5, cy: 29 });
    this.pin = s("path", { class: "pin" });
    this.tookText = s("text", { class: "scale-value", y: 14 });
    this.agoText = s("text", { class: "scale-value", y: 14 });
    this.svg.replaceChildren(
      s("rect", { class: "rail", x: 0, y: 26.5, width: w, height: 5, rx: 2.5 }),
      s("rect", { class: "rail-late", x: x(late), y: 26.5, width: x(limit) - x(late), height: 5 }),
      s("path", { class: "rail-bad", d: `M${x(limit)} 26.5H${w - 2.5}a2.5 2.5 0 0 1 0 5H${x(limit)}z` }),
      s("path", { class: "limit", d: `M${x(limit)} 22v14` }),
      ...ticks.slice(0, -1).map((ns) => s("path", { class: "tick", d: `M${x(ns)} 26.5v5` })),
      ...ticks.map((ns, i) => s("text", {
        class: i === ticks.length - 1 ? "scale-text strong" : "scale-text", x: x(ns), y: 50, "text-anchor": "middle",
      }, duration(ns).replace(".0", ""))),
      this.usualBox, this.dot, this.pin, this.tookText, this.agoText,
    );
    this.#thin(ticks, x);
  }

  /** Labels that would touch are left out: 10 s first, then 100 ms. @param {number[]} ticks @param {(ns: number) => number} x */
  #thin(ticks, x) {
    const labels = [...this.svg.querySelectorAll(".scale-text")];
    let last = Infinity;
    for (let i = labels.length - 1; i >= 0; i -= 1) {
      const half = labels[i].getComputedTextLength() / 2;
      const drop = x(ticks[i]) + half > last - 6;
      labels[i].classList.toggle("gone", drop);
      if (!drop) last = x(ticks[i]) - half;
    }
  }

  /** @param {import("./types.js").SessionState|null} state @param {number} now @param {import("./stats.js").Usual|null} usual @param {boolean} [ended] what is played is over: nothing is now */
  update(state, now, usual, ended = false) {
    if (!state) return;
    const { health, last_global: last, running } = state.engine;
    const limit = health.threshold_ns;
    const pace = state.engine.pace_ns;
    if (!limit) {
      // Before a recording's first state nothing is known of it: an empty scale would be a false one.
      this.limit = 0;
      this.svg.replaceChildren();
      setText(this.text, "The limit is not known yet.");
      return;
    }
    if (!this.width || this.limit !== limit || this.pace !== pace) this.#build(limit, pace);
    if (!this.width) return;
    const x = (/** @type {number} */ ns) => place(ns, LOW, this.high) * this.width;
    // One that failed says nothing of how long a relist takes.
    const took = last?.ok === false ? null : last?.duration_ns ?? null;
    const ago = health.last_start_t === null ? null : now - health.last_start_t;
    this.dot.classList.toggle("none", took === null);
    this.pin.classList.toggle("none", ago === null);
    this.usualBox.classList.toggle("none", !usual);
    if (usual) {
      this.usualBox.setAttribute("x", String(x(usual.low) - 3));
      this.usualBox.setAttribute("width", String(Math.max(6, x(usual.high) - x(usual.low) + 6)));
    }
    if (took !== null) this.dot.setAttribute("cx", String(Math.min(this.width - 5, Math.max(5, x(took)))));
    if (ago !== null) this.pin.setAttribute("d", `M${x(ago)} 20v18`);
    const open = running && running.scope === "global" && now - running.started > 1e9;
    const tookWords = took === null ? "" : `took ${duration(took)}`;
    const agoWords = ago === null ? "" : open ? `running for ${age(now - running.started)}` : `started ${age(ago)} ${ended ? "before" : "ago"}`;
    this.#write(this.tookText, tookWords, took === null ? 0 : x(took), "start");
    const right = ago !== null && x(ago) > this.width * 0.62;
    this.#write(this.agoText, agoWords, ago === null ? 0 : x(ago) + (right ? -7 : 7), right ? "end" : "start");
    // Both words on one line: the one of the dot gives way when they would touch.
    const end = Number(this.tookText.getAttribute("x")) + this.tookText.getComputedTextLength();
    const begin = ago === null ? Infinity : right ? x(ago) - 7 - this.agoText.getComputedTextLength() : x(ago) - 4;
    this.tookText.classList.toggle("gone", end + 6 > begin);
    setText(this.text, `${tookWords}${tookWords && agoWords ? ", " : ""}${agoWords}; the limit is ${duration(limit)}.${usual ? ` ${usualWords(usual, timesUsual(last, usual))}` : ""}`);
  }

  /** @param {SVGTextElement} node @param {string} text @param {number} x @param {string} anchor */
  #write(node, text, x, anchor) {
    setText(node, text);
    node.setAttribute("text-anchor", anchor);
    const width = node.getComputedTextLength();
    const at = anchor === "start" ? Math.min(Math.max(0, x - 8), this.width - width) : Math.max(width, x);
    node.setAttribute("x", String(at));
  }
}

/** How the last relist compares with this node's own past, and what that is. @param {import("./stats.js").Usual} usual @param {number|null} times */
function usualWords(usual, times) {
  const what = `this node’s usual, ${duration(usual.middle)}: the median of ${usual.count} relists in ${duration(usual.span)}.`;
  return times === null ? `It is compared with ${what}` : `The last one took ${timesWords(times)} ${what}`;
}
