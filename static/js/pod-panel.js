// @ts-check
/**
 * The panel of a pod in the player: how it was where the cursor stands, and what had happened to it.
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./player.js").Player} Player
 */
import { CursorPanel } from "./cursor-panel.js";

export class PodPanel {
  /** @param {NodePage} page @param {Player} player @param {(node: number) => string} source files and node */
  constructor(page, player, source) {
    /** Whose pod is shown. */
    this.node = 0;
    this.uid = "";
    this.panel = new CursorPanel(page, player, "/replay/pod", "pod-at", () => {
      const query = new URLSearchParams(source(this.node));
      query.set("uid", this.uid);
      return query;
    });
  }

  get open() {
    return this.panel.open;
  }

  /** @param {number} node @param {string} uid */
  show(node, uid) {
    this.node = node;
    this.uid = uid;
    this.panel.show();
  }
}
