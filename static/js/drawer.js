// @ts-check
/**
 * The selected chain told beside the picture (on narrow screens: instead of it).
 *
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./chain.js").Chain} Chain
 */
import { byId, glyph, h, parts, podPath } from "./dom.js";
import { lateness } from "./stats.js";
import { findGlyph, hops, verdict } from "./story.js";
import { count, duration, exitMeaning, lateBy, timeOfDay, zone } from "./words.js";

export class Drawer {
  /** @param {{store: Store, utc: () => import("./words.js").Times, select: (seq: number|null) => void, step: (direction: -1|1) => void, near: () => void, isNear: () => boolean, zoom: () => void}} host */
  constructor(host) {
    this.host = host;
    this.element = /** @type {HTMLElement} */ (byId("drawer"));
    this.key = "";
    /** Whose chain is told. @type {number|null} */
    this.seq = null;
    /** Whether the raw records are shown; stays from mark to mark. */
    this.rawOpen = false;
  }

  close() {
    this.element.hidden = true;
    this.element.replaceChildren();
    this.key = "";
    this.seq = null;
  }

  /** @param {Chain|null} chain @param {number} now */
  show(chain, now) {
    if (!chain) {
      if (!this.element.hidden) this.close();
      return;
    }
    const told = verdict(chain, now);
    const list = hops(chain);
    const key = JSON.stringify([chain.seq, told, list, this.host.utc(), this.host.isNear()]);
    if (key === this.key) return;
    // Another chain is read from its beginning.
    const scroll = chain.seq === this.seq ? this.element.scrollTop : 0;
    this.seq = chain.seq;
    const focus = this.element.contains(document.activeElement) ? document.activeElement?.getAttribute("data-act") : null;
    this.key = key;
    this.element.hidden = false;
    this.element.replaceChildren(
      this.#head(chain),
      h("h2", { class: "verdict" }, ...parts(told.verdict)),
      told.next.length ? h("p", { class: "next" }, ...parts(told.next)) : "",
      this.#bar(chain), this.#exit(chain), this.#chain(list), this.#earlier(chain), this.#raw(chain, list), this.#actions(chain, list),
    );
    this.element.scrollTop = scroll;
    if (focus) /** @type {HTMLElement|null} */ (this.element.querySelector(`[data-act="${focus}"]`))?.focus();
  }

  /** @param {Chain} chain */
  #head(chain) {
    const { lane } = chain;
    const rec = chain.find?.rec ?? chain.stop?.rec ?? chain.rec;
    const who = rec.is_sandbox ? "the sandbox" : rec.container_name ? `container ${rec.container_name}` : "";
    const restart = rec.kind === "lifecycle" && rec.attempt ? `restart ${rec.attempt}` : "";
    const name = lane
      ? h("a", { href: podPath(lane.uid), "data-uid": lane.uid, "data-act": "pod" }, lane.label)
      : chain.relist?.scope === "global" ? `Global relist #${chain.relist.id}` : "Event stream";
    const key = (/** @type {string} */ act, /** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ run) => {
      const button = h("button", { type: "button", class: "key-button", "aria-label": label, title: label, "data-act": act }, text);
      button.addEventListener("click", run);
      return button;
    };
    return h("div", { class: "drawer-head" },
      h("div", {}, h("p", { class: "drawer-name" }, name), h("p", { class: "sub" }, [lane?.namespace, who, restart].filter(Boolean).join(" · "))),
      h("div", { class: "drawer-keys" },
        key("previous", "←", "Previous finding", () => this.host.step(-1)),
        key("next", "→", "Next finding", () => this.host.step(1)),
        key("close", "Esc", "Close (Esc)", () => this.host.select(null))));
  }

  /** The hops as one bar, to scale. @param {Chain} chain */
  #bar(chain) {
    const { stop, ask, relist, find } = chain;
    if (!find || find.from === null) return "";
    const total = find.t - find.from;
    if (total <= 0) return "";
    /** @type {{name: string, ns: number, kind: string}[]} */
    const pieces = [];
    if (stop && ask && relist && relist.scope === "pod" && relist.id === find.rec.relist) {
      let at = ask.t;
      if (ask.t > stop.t) pieces.push({ name: "to the request", ns: ask.t - stop.t, kind: "line" });
      for (const span of ask.spans) {
        const to = span.to ?? relist.from;
        pieces.push({ name: span.what === "held" ? "held" : "wait", ns: to - span.from, kind: span.what === "held" ? "held" : "line" });
        at = to;
      }
      pieces.push({ name: "relist", ns: Math.max(0, find.t - at), kind: "block" });
    } else pieces.push({ name: "unnoticed", ns: total, kind: "late" });
    const shown = pieces.filter((piece) => piece.ns > total * 0.001);
    const row = h("div", { class: "hop-bar" }, glyph(stop ? "stop" : "tail"), h("div", { class: "hop-track" }), glyph(findGlyph(find.rec)));
    const words = h("div", { class: "hop-words" });
    for (const piece of shown) {
      const element = h("span", { class: `hop-${piece.kind}` });
      element.style.flexGrow = String(piece.ns / total);
      row.children[1].append(element);
      words.append(h("span", {}, `${piece.name} `, h("b", {}, duration(piece.ns))));
    }
    return h("div", { class: "hop" }, row, words);
  }

  /** @param {Chain} chain */
  #exit(chain) {
    const rec = chain.find?.rec.type === "ContainerDied" ? chain.find.rec : chain.stop?.rec;
    if (!rec || rec.is_sandbox || typeof rec.exit_code !== "number") return "";
    const meaning = exitMeaning(rec.exit_code, rec.reason);
    const facts = [rec.reason ? `reason ${rec.reason}` : "", rec === chain.stop?.rec ? "as the event claims" : "as the pod cache has it"].filter(Boolean).join(", ");
    return h("div", { class: "exit" }, h("p", { class: "exit-code" }, String(rec.exit_code)), h("div", {}, h("p", {}, meaning.long), h("p", { class: "sub" }, facts)));
  }

  /** @param {import("./story.js").Hop[]} list */
  #chain(list) {
    const { clock } = /** @type {any} */ (this.host);
    const items = list.map((hop) => h("li", {},
      glyph(hop.glyph),
      h("div", { class: "hop-what" }, h("p", {}, hop.what), hop.detail ? h("p", { class: "sub" }, hop.detail) : ""),
      h("div", { class: "hop-when" }, h("p", {}, h("b", {}, hop.value)), h("p", { class: "mono" }, timeOfDay(clock.wall(hop.t), this.host.utc(), 4)))));
    return h("section", {}, h("h3", {}, "Chain ", this.#zone()), h("ol", { class: "chain" }, ...items));
  }

  /** @param {Chain} chain */
  #earlier(chain) {
    const { lane, find } = chain;
    if (!lane || !find || find.rec.type !== "ContainerDied" || find.rec.is_sandbox) return "";
    const earlier = lane.finds.filter((each) => each.t < find.t && each.rec.type === "ContainerDied" && each.rec.container_name === find.rec.container_name).slice(-4).reverse();
    if (!earlier.length) return "";
    const { clock } = /** @type {any} */ (this.host);
    const rows = earlier.map((each) => {
      const late = lateness(each.rec);
      const code = each.rec.exit_code;
      const button = h("button", { type: "button", class: "earlier" }, glyph(findGlyph(each.rec)), h("span", { class: "mono" }, timeOfDay(clock.wall(each.t), this.host.utc())),
        h("span", {}, typeof code === "number" ? `${code}, ${exitMeaning(code, each.rec.reason).short}` : "exit not known"), h("b", {}, late === null ? "" : lateBy(late)));
      button.addEventListener("click", () => this.host.select(each.seq));
      return h("li", {}, button);
    });
    return h("section", {}, h("h3", {}, "Earlier stops of this container ", this.#zone()), h("ol", {}, ...rows));
  }

  /** The zone of the times below. */
  #zone() {
    return h("span", { class: "sub" }, zone(this.host.utc()));
  }

  /** The chain's records, as the journal has them. @param {Chain} chain @param {import("./story.js").Hop[]} list */
  #records(chain, list) {
    const seqs = new Set(list.map((hop) => hop.seq));
    if (chain.relist?.done) seqs.add(chain.relist.done.seq);
    return [...seqs].sort((a, b) => a - b).map((seq) => this.host.store.record(seq)).filter((rec) => rec !== null);
  }

  /** Behind a mark, as few want it. @param {Chain} chain @param {import("./story.js").Hop[]} list */
  #raw(chain, list) {
    const records = this.#records(chain, list);
    const details = h("details", { class: "raw", open: this.rawOpen },
      h("summary", { "data-act": "raw" }, count(records.length, "raw record")),
      ...records.flatMap((rec) => [h("p", { class: "sub" }, `#${rec.seq} ${rec.kind}`), h("pre", {}, JSON.stringify(rec, null, 1))]));
    details.addEventListener("toggle", () => { this.rawOpen = details.open; });
    return details;
  }

  /** @param {Chain} chain @param {import("./story.js").Hop[]} list */
  #actions(chain, list) {
    const act = (/** @type {string} */ id, /** @type {string} */ text, /** @type {() => void} */ run) => {
      const button = h("button", { type: "button", class: "button", "data-act": id }, text);
      button.addEventListener("click", run);
      return button;
    };
    const said = h("span", { class: "sub", role: "status" });
    const copy = (/** @type {string} */ text) => navigator.clipboard.writeText(text).then(
      () => { said.textContent = "Copied."; },
      () => { said.textContent = "The browser did not allow it."; });
    const records = this.#records(chain, list);
    return h("div", { class: "actions" },
      act("zoom", "Zoom to it", this.host.zoom),
      act("near", this.host.isNear() ? "All pods again" : "Only changes ± 2\u00a0s", this.host.near),
      act("link", "Copy link", () => void copy(location.href)),
      act("json", "Copy as JSON", () => void copy(JSON.stringify(records, null, 2))), said);
  }
}
