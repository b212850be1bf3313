// @ts-check
/**
 * Further nodes below the first one, on the same clock and in the same window of time: each with how
 * it is, its global relists, its event stream and its lanes. A mark is selected there as on the page
 * of one node. What each pane knows is a store of its own, so that nothing of one node is taken for
 * another's.
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./tape.js").Tape} Tape
 */
import { Bins } from "./bins.js";
import { chainOf } from "./chain.js";
import { condition, hangsSince, wasStopped } from "./condition.js";
import { Drawer } from "./drawer.js";
import { byId, glyph, h, parts, setChildren, setText } from "./dom.js";
import { playedOf } from "./film-bins.js";
import { Gestures } from "./gestures.js";
import { title } from "./hover.js";
import { Labels } from "./labels.js";
import { Lineup } from "./lineup.js";
import { Player } from "./player.js";
import { isNewStop, told, usual } from "./stats.js";
import { Store } from "./store.js";
import { Timeline } from "./timeline.js";
import { Beside } from "./together.js";
import { age, count, duration, timeOfDay } from "./words.js";

/** Records that a pane knows at most. */
const CAPACITY = 60_000;
const STEADY = 30e9;
const NEAR = 2e9;

/** How a node is at the cursor. @param {Store} store @param {number} now ns @param {import("./condition.js").Ending|null} ending */
function nodeCondition(store, now, ending) {
  const hangs = hangsSince(store.state, now);
  return condition({
    told: hangs === null ? 0 : told(store, hangs), state: store.state, now, link: "open", silence: 0, online: true, farewell: "",
    lagging: 0, lost: 0, usual: usual(store)?.middle ?? null, pods: [...store.lanes.values()].filter((lane) => lane.goneT === null).length,
    downSince: store.downSince, opening: store.opening(now), ending,
  });
}

/** How the event stream is, in a word or two. @param {Store} store @param {number} now ns */
export function streamWords(store, now) {
  const stream = store.state?.engine.stream;
  if (!stream || store.state?.unrecorded) return "";
  if (wasStopped(stream)) return "closed";
  if (stream.state === "off") return stream.policy === "relist_only" ? "left alone" : "not used";
  if (stream.state !== "connected" && (stream.code === "unimplemented" || stream.code === "immediate_eof")) return "not available";
  const word = { connected: "connected", connecting: "connecting", waiting: "down", closed: "given up" }[stream.state];
  return `${word} ${age(now - (store.downSince ?? stream.since_t))}`;
}

/** What stands before the keys of a node's pods in a link. @param {number} number */
export const markOf = (number) => `${number}:`;

/** The head of a node: its name, how it is, how many incidents it had; at the end of all that too. */
export class NodeHead {
  /** @param {string} name @param {HTMLElement|null} more */
  constructor(name, more = null) {
    this.icon = h("span", { class: "pane-icon" });
    this.says = h("p", { class: "pane-says" });
    this.count = h("p", { class: "pane-count quiet" });
    this.element = h("header", { class: "pane-head" }, this.icon, h("h2", { title: name }, name), this.says, this.count, more);
  }

  /** @param {Store} store @param {number} now @param {Tape} tape @param {import("./condition.js").Ending|null} [ending] */
  update(store, now, tape, ending = null) {
    const end = nodeCondition(store, now, ending);
    const how = end.was ?? end;
    const started = tape.table.length > 0;
    setChildren(this.icon, how.icon, () => [glyph(how.icon, "state-icon")]);
    // A page that stands alone has nowhere to lead to.
    const action = started && byId("main").dataset.alone === undefined ? how.action : null;
    const fact = started ? how.fact : ["Nothing of it has been read yet."];
    setChildren(this.says, JSON.stringify([end.word, how.word, fact, how.id]), () => [...(end === how ? [] : [h("span", { class: "pane-end" }, `${end.word} `)]), ...(started ? [h("strong", {}, how.word), " "] : []), ...parts(fact), ...(action ? [" ", h("a", { href: action.href }, action.text)] : [])]);
    setText(this.count, `${count(tape.told.incidents_total, "incident")}${tape.told.whole ? "" : `, ${Math.round(tape.told.read * 100)}\u00a0% read`}`);
  }
}

/** The parts of a pane's picture. @param {string} name of the node */
function frameOf(name) {
  const row = (/** @type {string} */ kind, /** @type {string} */ text) => h("p", { class: kind }, h("span", {}, text), h("span", { class: "quiet" }));
  const global = row("head-global", "Global relist");
  const stream = row("head-stream", "Event stream");
  const queue = h("p", { class: "head-queue", hidden: true }, h("span", {}, "Queue"), h("span", { class: "quiet" }));
  const faults = h("p", { class: "head-faults", hidden: true }, h("span", {}, "Faults"));
  const canvas = h("canvas", { class: "pane-plot", tabindex: 0, role: "application", "aria-label": `Timeline of the pods of ${name}. Arrow keys move from mark to mark, Enter selects.` });
  const list = h("ol", { class: "pane-labels", "aria-label": `Pods of ${name}` });
  const lanes = h("div", { class: "lanes" }, list);
  const tip = h("p", { class: "title", role: "tooltip", hidden: true });
  const frame = h("div", { class: "timeline" }, h("div", { class: "heads" }, h("p", { class: "head-ruler" }), global, stream, queue, faults), canvas, lanes, tip);
  return { global, stream, queue, faults, canvas, list, lanes, tip, frame };
}

export class NodePane {
  /**
   * @param {NodePage} page @param {Tape} tape @param {{number: number, name: string}} node
   * @param {{end: () => number, midway: (tape: Tape) => number|null, selected: (pane: NodePane, seq: number|null) => void, pod: (pane: NodePane, uid: string) => void, first: (number: number) => void}} host
   */
  constructor(page, tape, node, host) {
    this.page = page;
    this.tape = tape;
    this.node = node;
    this.host = host;
    this.store = new Store(CAPACITY);
    this.lineup = new Lineup(STEADY);
    this.lineup.mark = markOf(node.number);
    this.lineup.tellsAll = true;
    this.name = node.name;
    /** @type {number|null} */
    this.selected = null;
    this.key = "";
    this.arranged = "";
    this.ordered = "";
    this.follower = new Player({ load: async () => new Beside(tape, host.end) });
    this.follower.attach({ take: (message) => this.#take(message) });
    const first = h("button", { type: "button", class: "button small", title: `Show ${node.name} first: its picture is the large one` }, "Show first");
    first.addEventListener("click", () => host.first(node.number));
    this.head = new NodeHead(node.name, first);
    const made = frameOf(node.name);
    this.global = made.global;
    this.stream = made.stream;
    this.queue = made.queue;
    this.faults = made.faults;
    this.canvas = made.canvas;
    this.lanes = made.lanes;
    this.tip = made.tip;
    this.element = h("section", { class: "pane", "aria-label": `Node ${node.name}` }, this.head.element, made.frame);
    byId("panes").append(this.element);
    this.bins = tape.server.bins ? new Bins({ ask: tape.server.bins, changed: () => this.timeline.invalidate() }) : null;
    this.timeline = new Timeline(this.canvas, this.lanes, {
      bins: this.bins, film: () => playedOf(tape),
      store: this.store, clock: page.clock, view: page.view, lineup: this.lineup, off: page.off,
      select: (seq) => this.select(seq), moved: () => {
        page.timeline.dirty = true;
        page.moved();
      }, hover: (item, x, y) => this.#hover(item, x, y), utc: () => page.times, frozenT: () => page.frozenT(),
      row: (id) => (id === "head-queue" ? this.queue : this.faults),
    });
    this.labels = new Labels(made.list, this.lanes, {
      sort: () => this.lineup.sort, fold: (lane) => page.laneMenu.fold(lane, this.lineup), pin: (lane) => page.laneMenu.pin(lane, this.lineup), filter: () => this.lineup.filter,
      unhide: (fold) => { if (fold === "near") this.onlyNear(); else page.laneMenu.unhide(fold); },
    });
    this.timeline.onRows = (rows) => this.labels.setRows(rows, this.lineup.height);
    this.gestures = new Gestures(this.timeline, [this.canvas, this.lanes]);
    this.drawer = new Drawer(/** @type {any} */ ({
      store: this.store, clock: page.clock, utc: () => page.times, select: (/** @type {number|null} */ seq) => this.select(seq),
      step: (/** @type {-1|1} */ direction) => this.step(direction), zoom: () => this.timeline.zoomToChain(),
      near: () => this.onlyNear(), isNear: () => this.lineup.near !== null,
    }));
    this.#hold();
    this.canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#arrow(event));
    this.element.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const link = event.target instanceof Element ? event.target.closest("a[data-uid]") : null;
      if (!link) return;
      event.preventDefault();
      event.stopPropagation();
      this.host.pod(this, link.getAttribute("data-uid") ?? "");
    });
    this.follower.onLoad.push(() => this.moveTo(page.clock.now(), host.midway(tape)));
    void this.follower.load();
  }

  /** Nothing moves under the pointer, or while the keyboard is here. */
  #hold() {
    const hold = (/** @type {boolean} */ held) => () => { this.lineup.held = held || this.lanes.contains(document.activeElement) || document.activeElement === this.canvas; };
    for (const surface of [this.lanes, this.canvas]) {
      surface.addEventListener("pointerenter", hold(true));
      surface.addEventListener("pointerleave", hold(false));
      surface.addEventListener("focusin", hold(true));
      surface.addEventListener("focusout", () => setTimeout(hold(false)));
    }
    for (const name of ["focus", "blur"]) this.canvas.addEventListener(name, () => { this.timeline.dirty = true; });
  }

  /** @param {KeyboardEvent} event */
  #arrow(event) {
    const directions = /** @type {Record<string, "left"|"right"|"up"|"down">} */ ({ ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" });
    const direction = directions[event.key];
    if (direction && !event.shiftKey) {
      this.page.pause();
      const item = this.timeline.step(direction);
      if (item) setText(byId("cursor-says"), this.#title(item));
    } else if (event.key === "Enter" && this.timeline.cursor !== null) {
      if (this.selected === this.timeline.cursor) this.timeline.zoomToChain();
      else this.select(this.timeline.cursor);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {Message} message */
  #take(message) {
    this.store.apply(message);
    if (message.type !== "snapshot") return;
    if (message.rewind) this.timeline?.setSelected(this.selected);
    else this.lineup.resort();
  }

  /** The cursor of all has moved, or more of this node is here. @param {number} t ns @param {number|null} [seq] how many records have happened, where some at `t` have not */
  moveTo(t, seq = null) {
    if (this.follower.ready) this.follower.land(t, seq);
  }

  /** @param {number|null} seq */
  select(seq) {
    this.selected = seq;
    this.timeline.setSelected(seq);
    const { chain } = this.timeline;
    if (seq === null || !chain) {
      this.selected = null;
      if (this.lineup.near) this.onlyNear();
      this.drawer.close();
      document.body.classList.toggle("with-drawer", this.page.selected !== null);
      this.host.selected(this, null);
      return;
    }
    this.host.selected(this, seq);
    this.page.closePanel();
    const now = this.page.clock.now();
    this.page.pause();
    this.page.view.reveal(chain.find?.t ?? chain.rec.t, now);
    this.drawer.key = "";
    this.drawer.show(chain, now);
    document.body.classList.add("with-drawer");
    // Once it has its height: a pane is low.
    requestAnimationFrame(() => requestAnimationFrame(() => this.#intoSight(chain.lane?.uid ?? "")));
    this.page.writeAddress();
  }

  /** @param {string} uid */
  #intoSight(uid) {
    const row = this.lineup.rows.find((each) => each.lane?.uid === uid);
    const { lanes } = this;
    if (!row || (row.y >= lanes.scrollTop && row.y + row.h <= lanes.scrollTop + lanes.clientHeight)) return;
    lanes.scrollTop = row.y + row.h > lanes.scrollTop + lanes.clientHeight ? Math.min(row.y, row.y + row.h - lanes.clientHeight) : row.y;
  }

  /** Another node's mark is selected. */
  release() {
    if (this.selected === null) return;
    this.selected = null;
    this.lineup.near = null;
    this.lineup.resort();
    this.timeline.setSelected(null);
    this.drawer.key = "";
  }

  /** The finding before or after the selected one. @param {-1|1} direction */
  step(direction) {
    const at = this.timeline.chain?.find?.seq ?? this.selected ?? Infinity;
    const wanted = (/** @type {import("./lane.js").Find} */ find) => isNewStop(find) && this.lineup.order.includes(find.rec.uid ?? "");
    const { finds } = this.store;
    const next = direction > 0 ? finds.find((find) => find.seq > at && wanted(find)) : finds.findLast((find) => find.seq < at && wanted(find));
    if (next) this.select(next.seq);
  }

  /** Only the pods that changed close to this node's selected mark, or all again. */
  onlyNear() {
    const t = this.timeline.chain?.find?.t ?? this.timeline.chain?.rec.t;
    this.lineup.near = this.lineup.near || t === undefined ? null : [t - NEAR, t + NEAR];
    this.lineup.resort();
    this.timeline.invalidate();
  }

  /** @param {import("./layout.js").Item} item */
  #title(item) {
    return title(this.store, item, this.page.clock.now(), (wall) => timeOfDay(wall, this.page.times, 3));
  }

  /** @param {import("./layout.js").Item|null} item @param {number} x @param {number} y */
  #hover(item, x, y) {
    const text = item ? this.#title(item) : "";
    this.tip.hidden = !text;
    for (const surface of [this.canvas, this.lanes]) surface.style.cursor = item?.seq ? "pointer" : "";
    if (!text) return;
    setText(this.tip, text);
    const left = this.canvas.offsetLeft + x;
    const room = this.canvas.offsetLeft + this.timeline.width;
    this.tip.style.left = `${Math.max(4, Math.min(left + 12, room - this.tip.offsetWidth - 8))}px`;
    this.tip.style.top = `${y + 18 + this.tip.offsetHeight > this.timeline.height ? y - 14 - this.tip.offsetHeight : y + 18}px`;
  }

  /** Before each frame: whatever the page has changed is changed here too. */
  draw() {
    const { page, lineup, timeline } = this;
    const { view } = page;
    // How the lanes are arranged holds for all nodes, and is in the link.
    const { filter, group, sort, pins, unfolded, allUnfolded, quietFolded } = page.lineup;
    const ordered = JSON.stringify([filter, group, sort, quietFolded]);
    const arranged = JSON.stringify([ordered, pins, unfolded, allUnfolded]);
    if (arranged !== this.arranged) {
      Object.assign(lineup, { filter, group, sort, pins, unfolded, allUnfolded, quietFolded });
      // A pod that is pinned or folded out moves no other one from its place in the order.
      if (ordered !== this.ordered) lineup.resort();
      this.ordered = ordered;
      this.arranged = arranged;
      timeline.rowsKey = "";
      timeline.invalidate();
    }
    timeline.density = page.timeline.density;
    const key = `${view.span}|${view.end}|${page.clock.now()}|${[...page.off]}|${timeline.density}|${page.times}|${document.documentElement.dataset.theme ?? ""}`;
    if (key !== this.key) {
      this.key = key;
      timeline.dirty = true;
    }
    timeline.frame();
  }

  /** Words are written less often than pictures. */
  words() {
    const now = this.page.clock.now();
    this.head.update(this.store, now, this.tape, this.page.options.ending?.());
    const engine = this.store.state?.engine;
    const last = engine?.last_global;
    setText(this.global.lastChild, last && last.duration_ns !== null && !this.store.state?.unrecorded ? (last.ok === false ? "failed" : duration(last.duration_ns)) : "");
    setText(this.stream.lastChild, streamWords(this.store, now));
    setText(this.queue.lastChild, engine ? `${engine.queue.length} of ${engine.queue.capacity}` : "");
    if (this.selected !== null) this.drawer.show(chainOf(this.store, this.selected), now);
  }
}
