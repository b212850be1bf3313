// @ts-check
/**
 * The legend: what each mark means in one line, how many are in view, and a switch to hide them.
 *
 * @typedef {import("./store.js").Store} Store
 */
import { lowerBound } from "./lane.js";
import { KINDS, kindOf } from "./marks.js";
import { glyph, h, setText } from "./dom.js";
import { duration } from "./words.js";

/** How many of each kind fall into the window; unknown time and down time are lengths (ns). @param {Store} store @param {number} from @param {number} to */
export function tally(store, from, to) {
  /** @type {Record<string, number>} */
  const n = {};
  for (let i = lowerBound(store.records, from); i < store.records.length; i += 1) {
    const rec = store.records[i];
    if (rec.t > to) break;
    if (rec.kind === "relist_started" || rec.kind === "sync_started") continue;
    if (rec.kind === "lifecycle" && rec.delivery === "filtered") continue;
    // One request, one count: its making, and each thing that became of it.
    const kind = rec.kind === "request" ? "wait" : kindOf(rec);
    if (rec.kind === "request" && rec.outcome && rec.outcome !== "queued") n[rec.outcome] = (n[rec.outcome] ?? 0) + 1;
    if (rec.kind === "request_moved" && kind === "wait") continue;
    if (kind) n[kind] = (n[kind] ?? 0) + 1;
    if (rec.kind === "lifecycle" && rec.type === "ContainerDied" && rec.old_state === "running") n.tail = (n.tail ?? 0) + 1;
  }
  const within = (/** @type {number} */ a, /** @type {number} */ b) => Math.max(0, Math.min(b, to) - Math.max(a, from));
  n.gap = store.gaps.reduce((sum, gap) => sum + within(gap.from, gap.to), 0);
  n.down = store.stretches.reduce((sum, each) => sum + (each.state === "connected" || each.state === "off" ? 0 : within(each.from, each.to ?? to)), 0);
  return n;
}

const LENGTHS = new Set(["gap", "down"]);
/** Shown only when there is something to count. */
const RARE = new Set(["ignored", "coalesced", "dropped", "skipped", "held", "down", "gap"]);

export class Legend {
  /** @param {HTMLElement} box @param {Set<string>} off @param {() => void} changed */
  constructor(box, off, changed) {
    this.off = off;
    /** @type {Map<string, {button: HTMLElement, count: HTMLElement}>} */
    this.items = new Map();
    for (const kind of KINDS) {
      const count = h("b", {});
      const name = h("span", { class: "legend-name" }, kind.name);
      const button = h("button", { type: "button", class: "legend-item", title: `${kind.line} Press to hide or show.`, "data-kind": kind.id }, glyph(kind.glyph), count, name);
      button.addEventListener("click", () => {
        if (off.has(kind.id)) off.delete(kind.id);
        else off.add(kind.id);
        this.sync();
        changed();
      });
      this.items.set(kind.id, { button, count });
      box.append(button);
    }
    this.sync();
  }

  /** Show which kinds are hidden. */
  sync() {
    for (const [id, { button }] of this.items) button.setAttribute("aria-pressed", String(!this.off.has(id)));
  }

  /** @param {Store} store @param {number} from @param {number} to */
  update(store, from, to) {
    const n = tally(store, from, to);
    for (const [id, { button, count }] of this.items) {
      const value = n[id] ?? 0;
      const text = id === "running" ? "" : LENGTHS.has(id) ? (value ? duration(value) : "0") : value.toLocaleString("en-US");
      setText(count, text);
      button.classList.toggle("none", RARE.has(id) && value === 0 && !this.off.has(id));
    }
  }
}
