// @ts-check
/**
 * The panel of a moment: how the node was where the cursor stands, what had just ended, what was slow,
 * what there was.
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./player.js").Player} Player
 */
import { CursorPanel } from "./cursor-panel.js";
import { byId } from "./dom.js";

export class MomentPanel {
  /** @param {NodePage} page @param {Player} player @param {() => string} source files and node of what is told @param {(seq: number) => void} select */
  constructor(page, player, source, select) {
    this.page = page;
    this.player = player;
    this.select = select;
    this.panel = new CursorPanel(page, player, "/replay/now", "now-at", () => new URLSearchParams(source()));
    byId("now-at-open").addEventListener("click", (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.toggle();
    });
    byId("panel-body").addEventListener("click", (/** @type {MouseEvent} */ event) => this.#follow(event));
  }

  get open() {
    return this.panel.open;
  }

  toggle() {
    if (!this.open) {
      this.panel.show();
      return;
    }
    this.page.closePanel();
    byId("now-at-open").focus();
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
