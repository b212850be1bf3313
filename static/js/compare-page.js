// @ts-check
/** The page of a comparison: asks for it, shows how far the runs are, then ties everything together. */
import { KINDS, Model, askedOf, clockOf, readShown, writeShown } from "./compare-model.js";
import { CompareLabels } from "./compare-labels.js";
import { CompareMinimap } from "./compare-minimap.js";
import { CompareTable } from "./compare-table.js";
import { CompareTimeline } from "./compare-timeline.js";
import { showChosen } from "./compare-chosen.js";
import { told } from "./compare-words.js";
import { byId, glyph, h, setText } from "./dom.js";
import { Gestures } from "./gestures.js";
import { Keys, enter, leave, typing } from "./keys.js";
import { View } from "./view.js";
import { count, duration } from "./words.js";

/** @typedef {import("./compare-model.js").Report} Report */

const ADDRESS_AFTER_MS = 300;

export class ComparePage {
  /** @param {Report} report */
  constructor(report) {
    const shown = readShown(location.search);
    const model = new Model(report);
    this.model = model;
    this.view = new View();
    const [from, to] = model.opening(shown);
    this.view.span = to - from;
    this.view.end = to;
    this.off = new Set(shown.off);
    this.filter = shown.filter;
    this.all = shown.all;
    /** @type {number|null} */
    this.selected = null;
    /** @type {"timeline"|"table"} */
    this.shownView = shown.view;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.addressTimer = undefined;
    byId("compared").hidden = false;
    const clock = { now: () => model.end };
    this.timeline = new CompareTimeline(byId("plot"), byId("lanes"), {
      model, view: this.view, clock, off: this.off, lines: () => model.lanes(this.off, this.filter, this.all),
      select: (seq) => this.select(seq === null ? null : seq - 1), moved: () => this.moved(), hover: (item, x, y) => this.hover(item, x, y),
    });
    this.labels = new CompareLabels(byId("labels"), this.timeline);
    this.timeline.onLines = () => this.labels.update();
    this.gestures = new Gestures(/** @type {any} */ (this.timeline), [byId("plot"), byId("lanes")]);
    this.minimap = new CompareMinimap(byId("minimap"), {
      view: this.view, end: model.end, differences: () => this.shown(), moved: () => this.moved(),
      selectedT: () => (this.selected === null ? null : model.differences.find(({ id }) => id === this.selected)?.t ?? null),
    });
    this.table = new CompareTable({ model, off: this.off, shown: () => this.shown(), select: (id) => this.select(id) });
    this.#wire();
    this.keys = wireKeys(this);
    this.showView(this.shownView);
    if (shown.selected !== null && shown.selected < model.rows.length) this.select(shown.selected, shown.from === null);
    this.refresh();
    this.loop = this.loop.bind(this);
    requestAnimationFrame(this.loop);
  }

  loop() {
    this.timeline.frame();
    this.minimap.frame();
    requestAnimationFrame(this.loop);
  }

  /** The differences that are shown, in order of time. */
  shown() {
    return this.model.shown(this.off, this.filter);
  }

  /** The filter changed. */
  refresh() {
    this.timeline.arrange();
    this.table.update();
    this.minimap.dirty = true;
    const lanes = this.model.lanes(this.off, this.filter, this.all);
    const hidden = this.model.pods.length - lanes.length;
    const differ = this.model.differences.length;
    setText(byId("shown-pods"), hidden > 0 ? `${count(hidden, "pod")} without such a difference` : "");
    const empty = byId("no-lanes");
    empty.hidden = lanes.length > 0;
    setText(empty, this.filter ? "No pod matches." : differ ? "No difference of these kinds." : "Nothing happened in these runs.");
    this.#writeAddress();
  }

  /** The window moved. */
  moved() {
    const { view } = this;
    // Never so far that nothing of the runs is left in the window.
    view.end = Math.max(view.span * 0.05, Math.min(view.end ?? this.model.end, this.model.end + view.span * 0.5));
    this.timeline.dirty = true;
    this.minimap.dirty = true;
    this.#writeAddress();
  }

  /** @param {number|null} id @param {boolean} [reveal] */
  select(id, reveal = true) {
    this.selected = id;
    this.timeline.setSelected(id);
    this.table.setSelected(id);
    showChosen(this.model, id);
    this.minimap.dirty = true;
    if (id !== null) {
      const row = this.model.rows[id];
      const each = row.seen.length ? row.seen : row.stretches;
      const times = each.flatMap((one) => (one ? [one.t] : []));
      const found = row.seen.flatMap((one) => (typeof one?.found_t === "number" ? [one.found_t] : []));
      if (reveal) {
        const [from, to] = this.view.window(this.model.end);
        const last = Math.max(...times, ...found.filter((t) => t - Math.min(...times) < this.view.span));
        if (Math.min(...times) < from || last > to) this.view.end = Math.min(...times) + this.view.span * 0.75;
      }
      const shown = this.shown();
      const at = shown.findIndex((one) => one.id === id);
      setText(byId("spoken"), `${at < 0 ? "" : `Difference ${at + 1} of ${shown.length}. `}${told(this.model, row)}`);
    }
    this.moved();
  }

  /** The next or the previous difference. @param {1|-1} direction */
  step(direction) {
    const [from] = this.view.window(this.model.end);
    const next = this.model.next(this.shown(), from, this.selected, direction);
    if (next) this.select(next.id);
    else setText(byId("spoken"), direction > 0 ? "No further difference." : "No earlier difference.");
  }

  /** @param {"timeline"|"table"} view */
  showView(view) {
    this.shownView = view;
    byId("timeline").hidden = view === "table";
    byId("minimap").hidden = view === "table";
    byId("differences").hidden = view !== "table";
    byId("show-timeline").setAttribute("aria-pressed", String(view === "timeline"));
    byId("show-table").setAttribute("aria-pressed", String(view === "table"));
    this.timeline.resize();
    this.table.update();
    this.table.setSelected(this.selected);
    this.minimap.dirty = true;
    this.#writeAddress();
  }

  /** @param {import("./layout.js").Item|null} item @param {number} x @param {number} y */
  hover(item, x, y) {
    const tip = byId("hover");
    const row = item?.seq ? this.model.rows[item.seq - 1] : null;
    tip.hidden = !row;
    this.timeline.canvas.style.cursor = row ? "pointer" : "";
    if (!row) return;
    setText(tip, told(this.model, row));
    const { offsetLeft, offsetTop, clientWidth, clientHeight } = this.timeline.canvas;
    tip.style.left = `${Math.max(4, Math.min(offsetLeft + x + 12, offsetLeft + clientWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.min(offsetTop + y + 16, offsetTop + clientHeight - tip.offsetHeight - 8)}px`;
  }

  /** @param {string} text */
  setFilter(text) {
    this.filter = text;
    if (byId("filter").value !== text) byId("filter").value = text;
    this.refresh();
  }

  #wire() {
    const counts = this.model.counts();
    byId("kinds").replaceChildren(...KINDS.map(({ id, name, line }) => {
      const button = h("button", { type: "button", class: `kind${counts[id] ? "" : " none"}`, "data-kind": id, title: line, "aria-label": `${counts[id]} ${name}`, "aria-pressed": String(!this.off.has(id)) }, glyph(id), h("b", {}, counts[id].toLocaleString("en-US")), h("span", {}, ` ${name}`));
      button.addEventListener("click", () => {
        if (!this.off.delete(id)) this.off.add(id);
        button.setAttribute("aria-pressed", String(!this.off.has(id)));
        this.refresh();
      });
      return button;
    }));
    byId("filter").value = this.filter;
    byId("filter").addEventListener("input", (/** @type {any} */ event) => this.setFilter(event.target.value));
    byId("all-pods").checked = this.all;
    byId("all-pods").addEventListener("change", (/** @type {any} */ event) => {
      this.all = event.target.checked;
      this.refresh();
    });
    byId("next").addEventListener("click", () => this.step(1));
    byId("chosen-close").addEventListener("click", () => this.select(null));
    byId("show-timeline").addEventListener("click", () => this.showView("timeline"));
    byId("show-table").addEventListener("click", () => this.showView("table"));
    for (const button of byId("zoom").querySelectorAll("button")) {
      button.addEventListener("click", () => this.zoomTo(button.dataset.span === "all" ? this.model.end : Number(button.dataset.span) * 1e9));
    }
  }

  /** @param {number} span ns */
  zoomTo(span) {
    const { view, model } = this;
    const middle = (view.end ?? model.end) - view.span / 2;
    view.span = Math.max(20e6, Math.min(span, model.end));
    view.end = span >= model.end ? model.end : middle + view.span / 2;
    this.moved();
  }

  #writeAddress() {
    clearTimeout(this.addressTimer);
    this.addressTimer = setTimeout(() => {
      const { view, model } = this;
      history.replaceState(null, "", writeShown(location.search, {
        from: (view.end ?? model.end) - view.span, span: view.span, selected: this.selected,
        off: [...this.off], view: this.shownView, filter: this.filter, all: this.all,
      }));
    }, ADDRESS_AFTER_MS);
  }
}

/** @param {ComparePage} page */
function wireKeys(page) {
  const { view, model } = page;
  const pan = (/** @type {number} */ share) => (/** @type {KeyboardEvent} */ event) => {
    if (page.shownView === "table" || !(event.target === document.body || event.target === page.timeline.canvas)) return;
    event.preventDefault();
    view.pan(share * view.span, model.end);
    page.moved();
  };
  const zoom = (/** @type {number} */ factor) => () => {
    const at = page.selected === null ? null : model.differences.find(({ id }) => id === page.selected)?.t ?? null;
    view.zoom(factor, model.end, at);
    page.moved();
  };
  const scroll = (/** @type {number} */ lanes) => (/** @type {KeyboardEvent} */ event) => {
    if (event.target !== page.timeline.canvas) return;
    event.preventDefault();
    page.timeline.scroller.scrollTop += lanes * 26 * page.timeline.em;
  };
  return new Keys([
    { keys: ["d"], show: "d", what: "next difference", run: () => page.step(1) },
    { keys: ["D"], show: "D", what: "difference before", run: () => page.step(-1) },
    { keys: ["t"], show: "t", what: "timeline or table", run: () => page.showView(page.shownView === "table" ? "timeline" : "table") },
    { keys: ["/"], show: "/", what: "filter pods", run: (event) => { event.preventDefault(); enter(byId("filter")); } },
    { keys: ["+", "="], show: "+", what: "less time in view", run: zoom(1 / 1.5) },
    { keys: ["-", "_"], show: "−", what: "more time in view", run: zoom(1.5) },
    { keys: ["0"], show: "0", what: "the whole runs", run: () => page.zoomTo(model.end) },
    { keys: ["ArrowLeft"], show: "←", what: "earlier", run: pan(-0.2), plain: true },
    { keys: ["ArrowRight"], show: "→", what: "later", run: pan(0.2), plain: true },
    { keys: ["ArrowUp"], show: "↑", what: "in the timeline: lanes above", run: scroll(-1), plain: true },
    { keys: ["ArrowDown"], show: "↓", what: "in the timeline: lanes below", run: scroll(1), plain: true },
    { keys: ["Enter"], show: "Enter", what: "in the timeline: zoom to the difference", run: (event) => { if (event.target === page.timeline.canvas) page.timeline.zoomToChain(); }, plain: true },
    { keys: ["?"], show: "?", what: "this sheet", run: () => byId("keys").showModal() },
    { keys: ["Escape"], show: "Esc", what: "clear the selection", run: (event) => { if (typing(event.target)) leave(event.target); else page.select(null); }, plain: true },
  ], []);
}

/** A text in parts, the stressed ones in bold. @param {[string, boolean][]} parts */
export function partsOf(parts) {
  return parts.map(([text, strong]) => (strong ? h("b", {}, text) : document.createTextNode(text)));
}

/** Sentence and figures. @param {Report} report */
export function writeHead(report) {
  byId("sentence").replaceChildren(...partsOf(report.sentence));
  byId("meaning").replaceChildren(...partsOf(report.meaning));
  byId("notes").replaceChildren(...partsOf(report.notes));
  byId("figures-body").replaceChildren(...report.runs.map((run, i) => figures(run, i === report.against)));
  const sources = report.runs.flatMap((run) => ["ends", "starts"].flatMap((what) => Object.entries(run.figures[what].by_source).map(([source, told]) => bySource(run.name, what, source, told))));
  byId("sources-body").replaceChildren(...sources);
  setText(byId("kinds-against"), report.runs[report.against].name);
  setText(byId("head-runs"), report.runs.map((run) => run.name).join(" · "));
  const { count: shared } = report.runs[0].figures.shared;
  setText(byId("shared"), `(* of ${count(shared, "end")} that ${report.runs.length === 2 ? "both" : "all"} had and noticed)`);
  setText(byId("played"), `${report.scenario}, seed ${report.seed}, ${duration(report.duration_ns)}`);
  const premise = /** @type {HTMLElement} */ (byId("played").parentElement);
  premise.title = premise.textContent ?? "";
  if (report.left_out) setText(byId("left-out"), `The latest ${count(report.left_out, "happening")} are in the figures only.`);
}

/** One run's line: harm before speed; each cell has its head's words, for where lines are stacked. @param {import("./compare-model.js").Run} run @param {boolean} reference */
function figures({ name, title, figures: told }, reference) {
  const { ends, starts, shared } = told;
  const time = (/** @type {number} */ counted, /** @type {number} */ ns) => (counted ? duration(ns) : "–");
  const cells = /** @type {[string, string][]} */ ([
    ["missed", String(ends.missed + starts.missed)],
    ["unseen at the end", String(ends.waiting + starts.waiting)],
    ["unseen over 1 min", String(ends.over_minute + starts.over_minute)],
    ["worst", `${ends.all.at_least ? "over " : ""}${time(ends.all.count, ends.all.worst)}`],
    ["wrong", String(told.wrongs)],
    ["wrong cache, summed container-time", duration(told.wrong_ns)],
    ["median*", time(shared.count, shared.median)],
    ["95th of 100*", time(shared.count, shared.p95)],
    ["runtime calls", told.calls.toLocaleString("en-US")],
  ]);
  return h("tr", {},
    h("th", { scope: "row", title }, name, reference ? h("span", { class: "quiet" }, " reference") : ""),
    ...cells.map(([label, text]) => h("td", { "data-label": label }, text)));
}

const SOURCES = /** @type {Record<string, string>} */ ({ evented_pleg: "hint", post_sync: "after sync", post_allocation: "after resize", global: "global poll", believed: "believed event" });

/** @param {string} name @param {string} what @param {string} source @param {any} told */
function bySource(name, what, source, told) {
  return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, what), h("td", {}, SOURCES[source] ?? source), h("td", {}, told.count.toLocaleString("en-US")),
    h("td", {}, duration(told.median)), h("td", {}, duration(told.p95)), h("td", {}, duration(told.worst)));
}

/** Whatever stands in the address, as the API wants it. */
export const asked = () => askedOf(location.search);
export { clockOf };
