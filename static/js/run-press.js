// @ts-check
/**
 * Pressing a fault in a run forks its history: a run with one press more is opened at the same
 * moment, and the one that is left stays in the list of branches, which the link holds.
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./player.js").Player} Player
 */
import { byId, h, setText } from "./dom.js";
import { Finder } from "./finder.js";
import { isNarrow } from "./palette.js";
import { MOST_BRANCHES, branchName, compareLink, runTime, withPress, withProfile, writeLink } from "./run-link.js";

/** Between a moment and the panel beside it, px. */
const BESIDE = 24;

/** The branches after leaving one for another, the newest first. @param {string[]} branches @param {string} left @param {string} opened */
export function branchesAfter(branches, left, opened) {
  return [left, ...branches.filter((one) => one !== left && one !== opened)].slice(0, MOST_BRANCHES);
}

/**
 * Where the window has to end for `t` to be seen beside a panel over the picture; null: it is seen, or
 * there is no room.
 * @param {[number, number]} window ns @param {number} t ns
 * @param {{left: number, right: number, width: number, bottom: number}} plot px @param {{left: number, right: number, top: number}} panel px
 */
export function besides([from, to], t, plot, panel) {
  const x = plot.left + ((t - from) / (to - from)) * plot.width;
  if (panel.top >= plot.bottom || x < panel.left - BESIDE || x > panel.right + BESIDE) return null;
  const room = panel.left - plot.left - BESIDE;
  if (room < BESIDE) return null;
  return t + (to - from) * (1 - room / plot.width);
}

export class Presses {
  /**
   * @param {NodePage} page @param {Player} player @param {string} run the run's own query
   * @param {string[]} branches queries of the other branches; changed here
   * @param {(href: string) => void} [go]
   */
  constructor(page, player, run, branches, go = (href) => location.assign(href)) {
    this.page = page;
    this.player = player;
    this.run = run;
    this.branches = branches;
    this.go = go;
    /** Whether the picture was moved for the panel, and where its right edge was. */
    this.moved = false;
    /** @type {number|null} */
    this.endBefore = null;
    this.pod = /** @type {HTMLSelectElement} */ (byId("press-pod"));
    this.palette = byId("presses");
    this.finder = new Finder(this.palette, this.palette.querySelector("h3"), "[data-press]");
    this.list = byId("branches");
    this.palette.addEventListener("toggle", (/** @type {any} */ event) => {
      if (event.newState === "open") this.#opened();
      else this.#closed();
    });
    this.list.addEventListener("toggle", (/** @type {any} */ event) => { if (event.newState === "open") this.#listed(); });
    this.palette.addEventListener("click", (/** @type {any} */ event) => {
      const button = event.target.closest?.("[data-press]");
      if (button) this.press(button.dataset.press, button.dataset.target, button.textContent ?? "");
    });
    this.#count();
  }

  /** Show the palette, or put it away. */
  toggle() {
    this.palette.togglePopover();
  }

  toggleBranches() {
    this.list.togglePopover();
  }

  /** @param {string} name @param {string} about `none`, `any` or `pod` @param {string} text what stands on the button */
  press(name, about, text) {
    const { player } = this;
    const target = about === "none" ? "" : this.pod.value;
    // What is seen has happened; the press comes just after it.
    const t = player.t + 1;
    if (about === "pod" && !target) return this.#trouble(`“${text}” is about one pod: choose it here first.`, true);
    if (t >= player.duration) return this.#trouble("The run ends here: go back in time to press something.");
    const forked = withPress(this.run, { t, name, target });
    this.#open(forked, t);
    return undefined;
  }

  /** @param {string} run @param {number} t */
  #open(run, t) {
    const branches = branchesAfter(this.branches, this.run, run);
    this.go(`${location.pathname}?${writeLink(run, { t, seq: null, selected: this.page.selected, branches }, this.#page())}`);
  }

  /** What the address says about the page. */
  #page() {
    const query = new URLSearchParams(location.search);
    for (const name of ["scenario", "seed", "profile", "runtime", "duration", "press", "t", "at", "sel", "branch"]) query.delete(name);
    return query.toString();
  }

  /** @param {string} text @param {boolean} [atPod] */
  #trouble(text, atPod = false) {
    setText(byId("press-trouble"), text);
    if (atPod) this.pod.focus();
  }

  #opened() {
    const { page, player } = this;
    player.pause();
    setText(byId("press-t"), runTime(player.t));
    setText(byId("press-trouble"), "");
    const lanes = [...page.store.lanes.values()].filter((lane) => lane.goneT === null && lane.name);
    const names = [...new Set(lanes.map((lane) => `${lane.namespace}/${lane.name}`))].sort();
    const chosen = page.timeline.chain?.lane;
    const [all] = this.pod.options;
    this.pod.replaceChildren(all, ...names.map((name) => h("option", { value: name }, name)));
    this.pod.value = chosen && names.includes(`${chosen.namespace}/${chosen.name}`) ? `${chosen.namespace}/${chosen.name}` : "";
    this.finder.clear();
    // On a narrow screen a field would open the screen's own keys.
    (isNarrow() ? this.finder.left[0] : this.finder.field).focus({ preventScroll: true });
    this.#show(player.t);
  }

  /** The moment of the press stays in sight beside the panel. @param {number} t */
  #show(t) {
    const { timeline, view } = this.page;
    const plot = timeline.canvas.getBoundingClientRect();
    const end = besides(view.window(t), t, plot, this.palette.getBoundingClientRect());
    if (end === null) return;
    this.endBefore = view.end;
    this.moved = true;
    view.end = end;
    timeline.dirty = true;
  }

  #closed() {
    if (!this.moved) return;
    this.moved = false;
    this.page.view.end = this.endBefore;
    this.page.timeline.dirty = true;
  }

  #count() {
    setText(byId("branches-count"), String(this.branches.length + 1));
  }

  #listed() {
    const { t } = this.player;
    const called = (/** @type {string} */ name) => this.#called(name);
    const items = [h("li", {}, h("b", {}, branchName(this.run, this.run, called)), h("span", { class: "sub" }, "shown now"))];
    for (const run of this.branches) {
      const branches = branchesAfter(this.branches, this.run, run);
      const name = branchName(run, this.run, called);
      const href = `/run?${writeLink(run, { t, seq: null, selected: null, branches }, this.#page())}`;
      const remove = h("button", { type: "button", class: "button small", "aria-label": `Remove: ${name}` }, "Remove");
      remove.addEventListener("click", () => this.#remove(run));
      items.push(h("li", {},
        h("a", { href }, name),
        h("a", { class: "button small", href: compareLink([this.run, run], t), "aria-label": `Compare with: ${name}` }, "Compare"),
        remove));
    }
    byId("branch-list").replaceChildren(...items);
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (this.list.querySelectorAll("[data-profile]"))) {
      const run = withProfile(this.run, link.dataset.profile ?? "");
      link.href = `/run?${writeLink(run, { t, seq: null, selected: null, branches: branchesAfter(this.branches, this.run, run) }, this.#page())}`;
    }
  }

  /** What stands on the button of this name. @param {string} name */
  #called(name) {
    const buttons = /** @type {NodeListOf<HTMLElement>} */ (this.palette.querySelectorAll("[data-press]"));
    return [...buttons].find((button) => button.dataset.press === name)?.textContent ?? name;
  }

  /** @param {string} run */
  #remove(run) {
    this.branches.splice(this.branches.indexOf(run), 1);
    this.#count();
    this.#listed();
    this.page.writeAddress();
    byId("branch-list").querySelector("a, button")?.focus();
  }
}

/** @param {() => Presses|null} presses @returns {import("./keys.js").Key[]} */
export function pressKeys(presses) {
  return [
    { keys: ["f"], show: "f", what: "press a fault", run: (event) => { event.preventDefault(); presses()?.toggle(); } },
    { keys: ["b"], show: "b", what: "branches of this history", run: (event) => { event.preventDefault(); presses()?.toggleBranches(); } },
  ];
}
