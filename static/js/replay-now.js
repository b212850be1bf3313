// @ts-check
/**
 * The panel of a moment: how the node was where the cursor stands, what had just ended, what was slow,
 * what there was. The server tells it; it follows the cursor while it is open.
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./player.js").Player} Player
 */
import { byId } from "./dom.js";
import { isNarrow } from "./palette.js";

/** How often it is asked for anew while the cursor moves, ms. */
const FOLLOW_EVERY = 800;
/** And while time goes on, ms: it is asked of the server. */
const PLAYING_EVERY = 3000;

export class MomentPanel {
  /** @param {NodePage} page @param {Player} player @param {() => string} source files and node of what is told @param {(seq: number) => void} select */
  constructor(page, player, source, select) {
    this.page = page;
    this.player = player;
    this.source = source;
    this.select = select;
    /** What is shown, or on its way. */
    this.asked = "";
    this.askedAt = 0;
    byId("now-at-open").addEventListener("click", (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.toggle();
    });
    byId("panel-body").addEventListener("click", (/** @type {MouseEvent} */ event) => this.#follow(event));
    setInterval(() => this.#refresh(), FOLLOW_EVERY);
  }

  get open() {
    return !byId("panel").hidden && document.getElementById("now-at") !== null;
  }

  toggle() {
    if (this.open) {
      this.page.closePanel();
      byId("now-at-open").focus();
      return;
    }
    this.page.select(null);
    // On a narrow screen it lies over the timeline, which is a tab.
    const { tab } = byId("main").dataset;
    if (isNarrow() && tab !== "timeline" && tab !== "table") /** @type {HTMLElement|null} */ (document.querySelector('.tabs [data-tab="timeline"]'))?.click();
    this.#ask("#panel-body", "innerHTML");
  }

  #query() {
    const query = new URLSearchParams(this.source());
    query.set("t", String(Math.round(this.player.t)));
    return query.toString();
  }

  /** @param {string} target @param {string} swap */
  #ask(target, swap) {
    const query = this.#query();
    this.asked = query;
    this.askedAt = performance.now();
    void /** @type {any} */ (window).htmx?.ajax("GET", `/replay/now?${query}`, { target, swap });
  }

  #refresh() {
    if (this.player.playing && performance.now() - this.askedAt < PLAYING_EVERY) return;
    if (this.open && this.player.ready && !this.player.wanted && this.#query() !== this.asked) this.#ask("#now-at", "outerMorph");
  }

  /** A link to an end leads there, on this page. @param {MouseEvent} event */
  #follow(event) {
    const link = event.target instanceof Element ? event.target.closest("a[data-seek]") : null;
    if (!(link instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { player } = this;
    const [t, seq] = [Number(link.dataset.seek), Number(link.dataset.select)];
    const there = () => {
      if (player.t !== t) return;
      player.onCursor.splice(player.onCursor.indexOf(there), 1);
      // Others hear of the move first.
      queueMicrotask(() => this.select(seq));
    };
    player.onCursor.push(there);
    player.seek(t);
  }
}
