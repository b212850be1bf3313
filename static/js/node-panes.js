// @ts-check
/**
 * All nodes together: the first one's picture with a head of its own, and a pane for each other one.
 * One mark is selected at a time, on whichever node it is.
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./player.js").Player} Player
 * @typedef {import("./tape.js").Tape} Tape
 */
import { byId, h, setText } from "./dom.js";
import { NodeHead, NodePane } from "./node-pane.js";
import { recordWords } from "./player-bar.js";
import { Together } from "./together.js";
import { count } from "./words.js";

const WORDS_EVERY = 200;

export class NodePanes {
  /** @type {HTMLElement} */
  #ends;

  /** @param {NodePage} page @param {Player} player @param {import("./player-bar.js").PlayerBar} bar @param {(number: number) => void} first shows another node first */
  constructor(page, player, bar, first) {
    this.page = page;
    this.player = player;
    this.bar = bar;
    this.first = first;
    /** @type {NodePane[]} */
    this.panes = [];
    /** @type {NodeHead|null} */
    this.head = null;
    /** @type {Tape[]} */
    this.tapes = [];
    this.wordsAt = 0;
    /** What can be done at the end. */
    this.#ends = h("span", { class: "pane-ends", hidden: true },
      ...[["to-start", "Back to the start", "Home"], ["incident-back", "The incident before", "E"]].filter(([id]) => document.getElementById(id)).map(([id, words, key]) => {
        const button = h("button", { type: "button", class: "button small", title: `${words} (${key})`, "aria-keyshortcuts": key }, words);
        button.addEventListener("click", () => byId(id).click());
        return button;
      }));
    /** Whose records the table has; null: the first node's. @type {NodePane|null} */
    this.inTable = null;
    /** Told of a pod's name pressed: its node's number, its UID. @type {((node: number, uid: string) => void)[]} */
    this.onPod = [];
    page.onSelect.push((seq) => {
      if (seq !== null) for (const pane of this.panes) pane.release();
      if (this.inTable) page.table.setSelected(this.inTable.selected);
    });
    // A name in the drawer is of the node whose mark is told there.
    byId("drawer").addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const link = event.target instanceof Element ? event.target.closest("a[data-uid]") : null;
      const pane = this.panes.find((one) => one.selected !== null);
      if (!link || !pane) return;
      event.preventDefault();
      event.stopPropagation();
      this.#pod(pane, link.getAttribute("data-uid") ?? "");
    });
    // First of all: the bar tells of what a pane then knows.
    player.onCursor.unshift(() => this.#moved());
  }

  /** What is selected on a node that is not the first. @returns {{number: number, seq: number}|null} */
  get selected() {
    const pane = this.panes.find((one) => one.selected !== null);
    return pane ? { number: pane.node.number, seq: /** @type {number} */ (pane.selected) } : null;
  }

  /** Put the page together for all nodes. @param {Tape[]} tapes the first one first */
  show(tapes) {
    if (this.panes.length) return;
    this.tapes = tapes;
    const nodes = tapes[0].told.nodes ?? [];
    const timeline = byId("timeline");
    const column = h("div", { class: "panes", id: "panes" });
    timeline.before(column);
    const own = nodes.find((one) => one.number === tapes[0].told.node);
    this.head = new NodeHead(own?.name ?? "", this.#ends);
    column.append(h("section", { class: "pane in-table", "aria-label": `Node ${own?.name ?? ""}` }, this.head.element, timeline));
    byId("main").dataset.nodes = String(tapes.length);
    for (const tape of tapes.slice(1)) {
      const node = nodes.find((one) => one.number === tape.told.node) ?? { number: tape.told.node, name: `node ${tape.told.node}` };
      this.panes.push(new NodePane(this.page, tape, node, {
        end: () => this.player.duration, midway: (of) => this.#midway(of), first: this.first,
        selected: (pane, seq) => this.#selected(pane, seq), pod: (pane, uid) => this.#pod(pane, uid),
      }));
    }
    const { page } = this;
    page.besides = this.panes;
    page.counted = () => this.counted;
    page.name = own?.name ?? "";
    this.#tableChoice(own?.name ?? "");
    const left = nodes.length - tapes.length;
    if (left > 0) column.append(h("p", { class: "pane-more quiet" }, `${count(left, "more node")} ${left === 1 ? "is" : "are"} not shown here: choose one of them below to see it alone.`));
    setText(byId("player-says"), `${count(tapes.length, "node")} on one clock: ${nodes.slice(0, tapes.length).map((one) => one.name).join(", ")}.`);
    const frame = () => {
      requestAnimationFrame(frame);
      for (const pane of this.panes) pane.draw();
      const time = performance.now();
      if (time - this.wordsAt < WORDS_EVERY) return;
      this.wordsAt = time;
      const ending = this.page.options.ending?.() ?? null;
      this.head?.update(this.page.store, this.page.clock.now(), this.tapes[0], ending);
      this.#ends.hidden = ending === null;
      for (const pane of this.panes) pane.words();
    };
    frame();
  }

  /** Whose marks are counted: the table has those of one node, the timelines those of all. @returns {{stores: import("./store.js").Store[], of: string}} */
  get counted() {
    const { page, panes, inTable } = this;
    if (page.shownView === "table") return { stores: [(inTable ?? page).store], of: (inTable ?? page).name };
    return { stores: [page.store, ...panes.map((pane) => pane.store)], of: panes.length ? `all ${panes.length + 1} nodes` : "" };
  }

  /** Whose records the table has. @param {string} first name of the first node */
  #tableChoice(first) {
    const { page } = this;
    const own = { store: page.store, lineup: page.lineup, select: (/** @type {number|null} */ seq) => page.select(seq) };
    const choice = h("select", { id: "table-node" }, h("option", { value: "" }, first), ...this.panes.map(({ node }, i) => h("option", { value: String(i) }, node.name)));
    choice.addEventListener("change", () => {
      const pane = this.panes[Number(choice.value)];
      this.inTable = choice.value && pane ? pane : null;
      [...byId("panes").querySelectorAll(".pane")].forEach((one, i) => one.classList.toggle("in-table", i === (this.inTable ? Number(choice.value) + 1 : 0)));
      Object.assign(page.table.host, this.inTable ? { store: pane.store, lineup: pane.lineup, select: (/** @type {number|null} */ seq) => pane.select(seq) } : own);
      page.table.key = "";
      page.table.setSelected(this.inTable ? pane.selected : page.selected);
      page.table.release();
    });
    byId("show-timeline").parentElement?.before(h("label", { class: "control only-table" }, "records of ", choice));
  }

  /** More of a node has been read: what is shown may be there now. @param {Tape[]} untrue of what was told of these nothing holds any more */
  read(untrue) {
    for (const pane of this.panes) {
      if (untrue.includes(pane.tape)) pane.follower.again();
    }
    this.#moved();
  }

  #moved() {
    for (const pane of this.panes) pane.moveTo(this.player.t, this.#midway(pane.tape));
  }

  /** @param {Tape} tape */
  #midway(tape) {
    const { film } = this.player;
    return film instanceof Together ? film.midwayOf(tape) : null;
  }

  /** A record in a few words, of whichever node. @param {Tape} tape its node's @param {import("./types.js").Rec} rec */
  words(tape, rec) {
    const pane = this.panes.find((one) => one.tape === tape);
    return recordWords(rec, pane ? pane.store : this.page.store);
  }

  /** @param {number} number of the node @param {number} seq */
  select(number, seq) {
    const pane = this.panes.find((one) => one.node.number === number);
    if (!pane) return;
    const there = () => pane.store.record(seq) !== null;
    if (there()) pane.select(seq);
    else {
      const wait = () => {
        if (!there()) return;
        pane.follower.onCursor.splice(pane.follower.onCursor.indexOf(wait), 1);
        pane.select(seq);
      };
      pane.follower.onCursor.push(wait);
    }
  }

  /** Nothing is selected on these nodes. @returns {boolean} whether something was */
  clear() {
    const pane = this.panes.find((one) => one.selected !== null);
    pane?.select(null);
    return pane !== undefined;
  }

  /** @param {-1|1} direction @returns {boolean} whether a mark of these nodes is selected */
  step(direction) {
    const pane = this.panes.find((one) => one.selected !== null);
    pane?.step(direction);
    return pane !== undefined;
  }

  /** @param {NodePane} pane @param {number|null} seq */
  #selected(pane, seq) {
    if (seq !== null) {
      if (this.page.selected !== null) this.page.select(null);
      for (const other of this.panes) if (other !== pane) other.release();
      const uid = pane.timeline.chain?.lane?.uid;
      if (uid) this.#stepThrough(pane, uid);
    }
    this.page.table.setSelected(this.inTable ? this.inTable.selected : this.page.selected);
    this.page.writeAddress();
  }

  /** @param {NodePane} pane @param {string} uid */
  #pod(pane, uid) {
    this.#stepThrough(pane, uid);
    for (const call of this.onPod) call(pane.node.number, uid);
    this.bar.say(`p and P step through the events of ${pane.store.lanes.get(uid)?.label ?? "this pod"} on ${pane.node.name} now.`, true);
  }

  /** @param {NodePane} pane @param {string} uid */
  #stepThrough(pane, uid) {
    this.bar.stepElsewhere({
      name: () => `${pane.store.lanes.get(uid)?.label ?? "a pod"} on ${pane.node.name}`,
      step: async (direction) => {
        const { film } = this.player;
        if (!(film instanceof Together)) return false;
        try {
          const found = await film.findPod(pane.tape, uid, direction);
          if (found !== null) this.player.seekTo(found);
          return found !== null;
        } catch (error) {
          this.player.stuck(error);
          return true;
        }
      },
    });
  }
}
