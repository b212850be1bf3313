// @ts-check
/** The names beside the lanes: each pod, then each run with how it noticed the pod's last end. */
import { glyphOf } from "./compare-model.js";
import { glyph, h, podName } from "./dom.js";
import { lateBy } from "./words.js";

/** @typedef {import("./compare-timeline.js").CompareTimeline} CompareTimeline @typedef {import("./compare-layout.js").Line} Line */

const SPARE = 200;

export class CompareLabels {
  /** @param {HTMLElement} list @param {CompareTimeline} timeline */
  constructor(list, timeline) {
    this.list = list;
    this.timeline = timeline;
    /** @type {Map<string, {element: HTMLElement, key: string}>} */
    this.shown = new Map();
    timeline.scroller.addEventListener("scroll", () => this.update(), { passive: true });
  }

  /** Bring the document in line with what is in sight. */
  update() {
    const { timeline } = this;
    this.list.style.height = `${timeline.lanesHeight}px`;
    const top = timeline.scroller.scrollTop;
    const wanted = new Set();
    let before = null;
    for (const line of timeline.within(top - SPARE, top + timeline.scroller.clientHeight + SPARE)) {
      const id = `${line.pod.uid}|${line.lane ? line.lane.run : ""}`;
      const key = `${line.y}|${line.h}|${line.tall}`;
      wanted.add(id);
      let entry = this.shown.get(id);
      if (!entry) {
        entry = { element: h("li", {}), key: "" };
        this.shown.set(id, entry);
      }
      if (entry.key !== key) this.#fill(entry.element, line);
      entry.key = key;
      // Document order follows the picture, for reading aloud.
      if (before ? before.nextSibling !== entry.element : this.list.firstChild !== entry.element) {
        if (before) before.after(entry.element);
        else this.list.prepend(entry.element);
      }
      before = entry.element;
    }
    for (const [id, entry] of this.shown) {
      if (wanted.has(id)) continue;
      entry.element.remove();
      this.shown.delete(id);
    }
  }

  /** @param {HTMLElement} element @param {Line} line */
  #fill(element, line) {
    element.style.transform = `translateY(${line.y}px)`;
    element.style.height = `${line.h}px`;
    const { model } = this.timeline.host;
    if (!line.lane) {
      element.className = "group";
      element.replaceChildren(h("span", { class: "whole" }, ...podName(line.pod.name, (name) => h("b", {}, name))), h("span", { class: "quiet" }, line.pod.namespace));
      return;
    }
    const { run } = line.lane;
    element.className = `lane${line.tall ? " tall" : ""}`;
    element.replaceChildren(h("span", { class: "run-name" }, model.runs[run].name));
    const ends = line.pod.ids.flatMap((id) => (model.rows[id].what === "end" && model.rows[id].seen[run] ? [model.rows[id].seen[run]] : []));
    const last = /** @type {import("./compare-model.js").Seen|undefined} */ (ends[ends.length - 1]);
    if (!last) return;
    const late = typeof last.found_t === "number" ? lateBy(last.found_t - last.t) : "unseen";
    element.append(h("span", { class: "last", title: "Last end: from the true moment to the finding" }, glyph(glyphOf("end", last)), late));
  }
}
