// @ts-check
/** Single keys, their sheet, and the switch that turns them off. */
import { byId, h, setting } from "./dom.js";

/** @typedef {{keys: string[], show: string, what: string, run: (event: KeyboardEvent) => void, plain?: boolean}} Key `plain`: works even when single keys are off */

/** Whether the event comes from where typing belongs. @param {EventTarget|null} target */
function typing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));
}

export class Keys {
  /** @param {Key[]} keys @param {{keys: string, what: string}[]} also keys that something else handles */
  constructor(keys, also) {
    this.dialog = /** @type {HTMLDialogElement} */ (byId("keys"));
    this.switch = /** @type {HTMLInputElement} */ (byId("keys-on"));
    this.switch.checked = setting("keys") !== "off";
    this.switch.addEventListener("change", () => setting("keys", this.switch.checked ? null : "off"));
    const sheet = byId("keys-list");
    for (const { show, what } of [...keys.map((key) => ({ show: key.show, what: key.what })), ...also.map((each) => ({ show: each.keys, what: each.what }))]) {
      sheet.append(h("dt", {}, ...show.split(" ").map((name) => h("kbd", {}, name))), h("dd", {}, what));
    }
    byId("keys-open").addEventListener("click", () => this.dialog.showModal());
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || this.dialog.open) return;
      if (typing(event.target) && event.key !== "Escape") return;
      // Space and Enter on a button or a link are the button's.
      if ((event.key === " " || event.key === "Enter") && event.target instanceof Element && event.target.closest("button, a, summary, label")) return;
      const key = keys.find((each) => each.keys.includes(event.key) && (each.plain || this.switch.checked));
      if (!key) return;
      key.run(event);
    });
  }
}
