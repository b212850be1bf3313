// @ts-check
/**
 * Pointer and wheel on the plot: drag pans, wheel zooms at the pointer, two fingers pinch, a click
 * selects. Over the names the wheel scrolls the lanes as usual.
 *
 * @typedef {import("./timeline.js").Timeline} Timeline
 */

/** Movement that makes a press a drag, px. */
const SLACK = 4;

export class Gestures {
  /** @param {Timeline} timeline @param {HTMLElement[]} surfaces the plot and what lies over it */
  constructor(timeline, surfaces) {
    this.timeline = timeline;
    this.host = timeline.host;
    /** @type {Map<number, {x: number, y: number, startX: number, startY: number}>} */
    this.pointers = new Map();
    this.dragging = false;
    this.pinch = 0;
    timeline.canvas.addEventListener("keydown", () => timeline.canvas.classList.remove("by-pointer"));
    timeline.canvas.addEventListener("blur", () => timeline.canvas.classList.remove("by-pointer"));
    for (const surface of surfaces) {
      surface.addEventListener("pointerdown", (event) => this.#down(event, surface));
      surface.addEventListener("pointermove", (event) => this.#move(event));
      surface.addEventListener("pointerup", (event) => this.#up(event));
      surface.addEventListener("pointercancel", (event) => this.#forget(event));
      surface.addEventListener("pointerleave", () => this.host.hover(null, 0, 0));
      surface.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
      surface.addEventListener("dblclick", (event) => {
        if (this.#inPlot(event)) timeline.zoomToChain();
      });
    }
  }

  /** @param {MouseEvent} event */
  #local(event) {
    const box = this.timeline.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** Not on a name, not on the scroll bar. @param {MouseEvent} event */
  #inPlot(event) {
    if (event.target instanceof Element && event.target.closest("a, button")) return false;
    const { x } = this.#local(event);
    return x >= 0 && x < this.timeline.width - (event.target === this.timeline.scroller ? this.timeline.scroller.offsetWidth - this.timeline.scroller.clientWidth : 0);
  }

  /** @param {PointerEvent} event @param {HTMLElement} surface */
  #down(event, surface) {
    if (event.button !== 0 || !this.#inPlot(event)) return;
    const at = this.#local(event);
    this.pointers.set(event.pointerId, { ...at, startX: at.x, startY: at.y });
    this.dragging = false;
    if (this.pointers.size === 2) this.pinch = this.#spread();
    if (event.pointerType === "mouse") {
      event.preventDefault();
      surface.setPointerCapture(event.pointerId);
    }
    // A ring around the plot is for those who came by key.
    this.timeline.canvas.classList.add("by-pointer");
    this.timeline.canvas.focus({ preventScroll: true });
  }

  #spread() {
    const [a, b] = [...this.pointers.values()];
    return Math.abs(a.x - b.x) || 1;
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const at = this.#local(event);
    const held = this.pointers.get(event.pointerId);
    const { view, clock } = this.host;
    const now = clock.now();
    if (!held) {
      this.host.hover(this.#inPlot(event) ? this.timeline.at(at.x, at.y) : null, at.x, at.y);
      return;
    }
    if (!this.dragging && Math.abs(at.x - held.startX) < SLACK && Math.abs(at.y - held.startY) < SLACK) return;
    this.dragging = true;
    this.host.hover(null, 0, 0);
    if (this.pointers.size === 2) {
      const before = this.#spread();
      Object.assign(held, at);
      const [a, b] = [...this.pointers.values()];
      view.zoom(before / this.#spread(), now, this.timeline.timeAt((a.x + b.x) / 2));
    } else {
      view.pan(((held.x - at.x) / this.timeline.width) * view.span, now);
      if (event.pointerType === "mouse") this.timeline.scroller.scrollTop -= at.y - held.y;
      Object.assign(held, at);
    }
    this.host.moved();
    this.timeline.dirty = true;
  }

  /** @param {PointerEvent} event */
  #up(event) {
    const held = this.pointers.get(event.pointerId);
    this.#forget(event);
    if (!held || this.dragging) return;
    const item = this.timeline.at(held.startX, held.startY);
    this.host.select(item?.seq ?? null);
    // It is under the pointer: nothing moves to show it.
    this.timeline.selectedSeen = true;
  }

  /** @param {PointerEvent} event */
  #forget(event) {
    this.pointers.delete(event.pointerId);
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    if (!this.#inPlot(event)) return;
    event.preventDefault();
    const { view, clock } = this.host;
    const now = clock.now();
    const { x } = this.#local(event);
    const unit = event.deltaMode === 1 ? 16 : 1;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan(((sideways * unit) / this.timeline.width) * view.span, now);
    } else view.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY * unit)) * 0.0022), now, this.timeline.timeAt(x));
    this.host.moved();
    this.timeline.dirty = true;
  }
}
