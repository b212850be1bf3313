// @ts-check
/** The node page: everything is made here and tied together. */
import { readAddress, writeAddress } from "./address.js";
import { Clock } from "./clock.js";
import { condition } from "./condition.js";
import { Connection } from "./connection.js";
import { Distribution } from "./distribution.js";
import { byId, h, setText, setting } from "./dom.js";
import { Drawer } from "./drawer.js";
import { Gauge } from "./gauge.js";
import { Gestures } from "./gestures.js";
import { Glance } from "./glance.js";
import { title } from "./hover.js";
import { Keys } from "./keys.js";
import { Labels } from "./labels.js";
import { Legend } from "./legend.js";
import { Lineup } from "./lineup.js";
import { Minimap } from "./minimap.js";
import { isStop, usual } from "./stats.js";
import { Store } from "./store.js";
import { Table } from "./table.js";
import { Tabs } from "./tabs.js";
import { startTheme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { View } from "./view.js";
import { timeOfDay, zone } from "./words.js";

/** The header is written so often, ms; the canvas at the frame rate. */
const HEADER_EVERY = 200;
const LAGGING_FOR = 10_000;
/** Silence after which the picture is said to be frozen, ns. */
const FROZEN_AFTER = 3e9;

class NodePage {
  constructor() {
    const shown = readAddress(location.search);
    this.store = new Store();
    this.clock = new Clock();
    this.view = new View();
    this.view.span = shown.span;
    this.view.end = shown.end;
    this.lineup = new Lineup();
    this.lineup.filter = shown.filter;
    this.lineup.group = shown.group;
    this.off = new Set(shown.off);
    this.utc = shown.zone === "utc" && setting("zone") !== "local";
    /** @type {number|null} */
    this.selected = shown.selected;
    /** @type {"timeline"|"table"} */
    this.shownView = shown.view;
    this.lagging = 0;
    this.laggingUntil = 0;
    /** Newest record when the reader left the present. */
    this.leftAt = 0;
    this.headerAt = 0;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.addressTimer = undefined;

    this.timeline = new Timeline(byId("plot"), byId("lanes"), {
      store: this.store, clock: this.clock, view: this.view, lineup: this.lineup, off: this.off,
      select: (seq) => this.select(seq), moved: () => this.moved(), hover: (item, x, y) => this.hover(item, x, y),
      utc: () => this.utc, frozenT: () => this.frozenT(),
    });
    this.timeline.density = /** @type {any} */ (shown.rows);
    this.labels = new Labels(byId("labels"), byId("lanes"));
    this.timeline.onRows = (rows) => this.labels.setRows(rows, this.lineup.height);
    this.gestures = new Gestures(this.timeline, [byId("plot"), byId("lanes")]);
    this.minimap = new Minimap(byId("minimap"), {
      store: this.store, view: this.view, now: () => this.frozenT() ?? this.clock.now(), moved: () => {
        this.timeline.dirty = true;
        this.moved();
      },
    });
    this.glance = new Glance(this.store);
    this.gauge = new Gauge(byId("gauge"));
    this.distribution = new Distribution(byId("distribution"));
    this.legend = new Legend(byId("legend"), byId("legend-all"), this.off, () => {
      this.timeline.invalidate();
      this.table.update();
      this.writeAddress();
    });
    this.table = new Table({ store: this.store, off: this.off, select: (seq) => this.select(seq), utc: () => this.utc, filter: () => this.lineup.filter });
    this.drawer = new Drawer(/** @type {any} */ ({
      store: this.store, clock: this.clock, utc: () => this.utc, select: (/** @type {number|null} */ seq) => this.select(seq),
      step: (/** @type {-1|1} */ direction) => this.stepFinding(direction), zoom: () => this.timeline.zoomToChain(),
    }));
    this.tabs = new Tabs(this.store, this.clock, () => this.utc, (view) => this.showView(view), (seq) => this.select(seq));
    this.connection = new Connection({
      url: () => this.url(), onMessage: (message) => this.take(message), onLink: () => { this.timeline.dirty = true; },
    });
    startTheme();
    this.#controls();
    this.#keys();
    this.showView(this.shownView);
    this.connection.start();
    this.loop = this.loop.bind(this);
    requestAnimationFrame(this.loop);
  }

  url() {
    const { session, since } = this.store.resume();
    const url = new URL(byId("main").dataset.stream, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    if (since) {
      url.searchParams.set("since", String(since));
      url.searchParams.set("session", session);
    }
    return url.href;
  }

  /** @param {import("./types.js").Message} message */
  take(message) {
    const before = this.store.session;
    this.store.apply(message);
    if (message.type === "hello") {
      if (before && before !== message.session) this.#newSession();
      this.clock.alive();
    } else if (message.type === "state" || message.type === "snapshot") this.clock.heard(message.state.engine.t, message.state.wall);
    else this.clock.alive();
    if (message.type === "lagging") {
      this.lagging = message.skipped;
      this.laggingUntil = performance.now() + LAGGING_FOR;
    }
    if (message.type === "snapshot") {
      this.lineup.resort();
      if (this.selected !== null) this.select(this.selected);
      else this.timeline.invalidate();
    }
  }

  /** The server was started again: its times and numbers mean other things now. */
  #newSession() {
    this.clock.reset();
    this.view.follow();
    this.select(null);
    this.lineup.resort();
  }

  /** When the picture ends, if it is not live. */
  frozenT() {
    if (!this.store.state) return null;
    const limit = this.connection.link === "open" ? 2 * FROZEN_AFTER : FROZEN_AFTER;
    return this.clock.silence() > limit ? this.clock.now() - this.clock.silence() : null;
  }

  loop() {
    requestAnimationFrame(this.loop);
    const time = performance.now();
    this.timeline.frame();
    if (time - this.headerAt < HEADER_EVERY) return;
    this.headerAt = time;
    this.header();
  }

  header() {
    const { store, clock, view } = this;
    const now = clock.now();
    if (performance.now() > this.laggingUntil) this.lagging = 0;
    const typical = usual(store);
    const pods = [...store.lanes.values()].filter((lane) => lane.goneT === null).length;
    const how = condition({
      state: store.state, now, link: this.connection.link, silence: clock.silence(), online: navigator.onLine,
      farewell: this.connection.farewell, lagging: this.lagging, usual: typical?.middle ?? null, pods, downSince: store.downSince,
    });
    const [from, to] = view.window(this.frozenT() ?? now);
    byId("main").dataset.state = how.id;
    this.glance.update(how, now, { following: view.following, lookingBack: now - to, fresh: view.following ? 0 : store.lastSeq - this.leftAt });
    this.glance.heads(now);
    this.gauge.update(store.state, now, typical);
    this.distribution.update(store, now);
    this.legend.update(store, from, to);
    this.table.update();
    this.tabs.update();
    this.minimap.update();
    if (this.selected !== null) this.drawer.show(this.timeline.chain, now);
    if (store.state) {
      setText(byId("clock"), `${timeOfDay(clock.wall(this.frozenT() ?? now), this.utc)} ${zone(this.utc)}`);
      const runtime = store.state.runtime;
      setText(byId("watched").querySelector(".watched-more"), runtime ? ` · ${store.state.simulated ? "behaves like " : ""}${runtime.name} ${(runtime.version ?? "").split("+")[0]}` : ` · ${store.state.endpoint}`);
      byId("watched").title = `${store.state.endpoint} (${store.state.endpoint_reason})`;
    }
    this.#empty(pods);
    for (const button of byId("zoom").querySelectorAll("button")) button.setAttribute("aria-pressed", String(Math.abs(view.span / 1e9 - Number(button.dataset.span)) < 0.5));
    byId("live").setAttribute("aria-pressed", String(view.following));
    byId("pause").setAttribute("aria-pressed", String(!view.following));
    setText(byId("pause"), view.following ? "Pause" : "Paused");
  }

  /** What the lanes say when there are none. @param {number} pods */
  #empty(pods) {
    const box = byId("empty");
    const { state } = this.store;
    let text = "";
    if (!state || state.engine.health.last_start_t === null) text = "Asking the runtime for everything.";
    else if (this.lineup.filter && !this.lineup.rows.length) text = `No pod matches “${this.lineup.filter}”. ${this.lineup.hidden} ${this.lineup.hidden === 1 ? "pod is" : "pods are"} hidden by the filter.`;
    else if (pods === 0 && !this.lineup.rows.length) text = "No pods on this node. Global relists run; there is nothing to find.";
    box.hidden = !text || this.lineup.rows.length > 0;
    if (box.hidden || box.dataset.text === text) return;
    box.dataset.text = text;
    const clear = h("button", { type: "button", class: "button small" }, "Clear filter");
    clear.addEventListener("click", () => this.setFilter(""));
    box.replaceChildren(h("span", {}, text), this.lineup.filter ? clear : "");
  }

  /** @param {number|null} seq */
  select(seq) {
    this.selected = seq;
    this.timeline.setSelected(seq);
    this.table.setSelected(seq);
    if (seq === null) this.drawer.close();
    else {
      this.closePanel();
      const { chain } = this.timeline;
      if (chain) {
        const now = this.clock.now();
        this.pause();
        this.view.reveal(chain.find?.t ?? chain.rec.t, now);
        this.drawer.show(chain, now);
      } else if (this.store.state) this.selected = null;
    }
    document.body.classList.toggle("with-drawer", this.selected !== null);
    this.writeAddress();
  }

  /** The finding before or after the selected one, of those that pass the filter. @param {-1|1} direction */
  stepFinding(direction) {
    const { finds } = this.store;
    const at = this.timeline.chain?.find?.seq ?? this.selected ?? Infinity;
    const wanted = (/** @type {import("./lane.js").Find} */ find) => isStop(find.rec) && this.lineup.order.includes(find.rec.uid ?? "");
    const next = direction > 0 ? finds.find((find) => find.seq > at && wanted(find)) : finds.findLast((find) => find.seq < at && wanted(find));
    if (next) this.select(next.seq);
  }

  /** @param {import("./layout.js").Item|null} item @param {number} x @param {number} y */
  hover(item, x, y) {
    const box = byId("hover");
    const text = item ? title(this.store, item, this.clock.now(), (wall) => timeOfDay(wall, this.utc, 3)) : "";
    box.hidden = !text;
    this.timeline.canvas.style.cursor = item?.seq ? "pointer" : "";
    byId("lanes").style.cursor = item?.seq ? "pointer" : "";
    if (!text) return;
    setText(box, text);
    const left = this.timeline.canvas.offsetLeft + x;
    const room = this.timeline.canvas.offsetLeft + this.timeline.width;
    box.style.left = `${Math.max(4, Math.min(left + 12, room - box.offsetWidth - 8))}px`;
    box.style.top = `${y + 18 + box.offsetHeight > this.timeline.height ? y - 14 - box.offsetHeight : y + 18}px`;
  }

  moved() {
    if (!this.view.following && !this.leftAt) this.leftAt = this.store.lastSeq;
    if (this.view.following) this.leftAt = 0;
    this.writeAddress();
  }

  pause() {
    if (this.view.following) this.leftAt = this.store.lastSeq;
    this.view.pause(this.frozenT() ?? this.clock.now());
    this.timeline.dirty = true;
    this.writeAddress();
  }

  live() {
    this.view.follow();
    this.leftAt = 0;
    if (this.selected !== null) this.select(null);
    this.view.follow();
    this.timeline.invalidate();
    this.writeAddress();
  }

  /** @param {string} filter */
  setFilter(filter) {
    this.lineup.filter = filter.trim();
    const input = byId("filter");
    if (input.value.trim() !== this.lineup.filter) input.value = this.lineup.filter;
    this.lineup.resort();
    this.timeline.invalidate();
    this.table.update();
    this.writeAddress();
  }

  /** @param {"timeline"|"table"} view */
  showView(view) {
    this.shownView = view;
    byId("timeline").hidden = view !== "timeline";
    byId("table").hidden = view !== "table";
    byId("show-timeline").setAttribute("aria-pressed", String(view === "timeline"));
    byId("show-table").setAttribute("aria-pressed", String(view === "table"));
    document.body.classList.toggle("with-table", view === "table");
    this.table.key = "";
    this.table.update();
    this.timeline.invalidate();
    this.writeAddress();
  }

  closePanel() {
    byId("panel").hidden = true;
    byId("panel-body").replaceChildren();
  }

  writeAddress() {
    clearTimeout(this.addressTimer);
    this.addressTimer = setTimeout(() => {
      const query = writeAddress({
        view: this.shownView, filter: this.lineup.filter, group: this.lineup.group, rows: this.timeline.density, span: this.view.span,
        end: this.view.end, selected: this.selected, off: [...this.off], zone: this.utc ? "utc" : "local",
      });
      history.replaceState(history.state, "", `${location.pathname}${query}`);
    }, 150);
  }

  setZone(/** @type {boolean} */ utc) {
    this.utc = utc;
    setting("zone", utc ? null : "local");
    setText(byId("zone"), zone(utc));
    setText(byId("table-time"), `Time, ${zone(utc)}`);
    byId("foot-zone").replaceChildren("all times ", h("b", {}, zone(utc)));
    byId("clock").title = utc ? "Times in UTC; press for this browser’s zone (z)" : "Times in this browser’s zone; press for UTC (z)";
    this.timeline.dirty = true;
    this.table.key = "";
    this.writeAddress();
  }

  #controls() {
    const on = (/** @type {string} */ id, /** @type {string} */ name, /** @type {(event: any) => void} */ run) => byId(id).addEventListener(name, run);
    on("live", "click", () => this.live());
    on("back-live", "click", () => this.live());
    on("pause", "click", () => this.pause());
    on("clock", "click", () => this.setZone(!this.utc));
    on("show-timeline", "click", () => this.showView("timeline"));
    on("show-table", "click", () => this.showView("table"));
    on("panel-close", "click", () => this.closePanel());
    on("filter", "input", (event) => this.setFilter(event.target.value));
    on("all-records", "change", (event) => {
      this.table.all = event.target.checked;
      this.table.update();
    });
    byId("filter").value = this.lineup.filter;
    const group = byId("group");
    group.value = this.lineup.group;
    group.addEventListener("change", () => {
      this.lineup.group = group.value;
      this.lineup.resort();
      this.timeline.invalidate();
      this.writeAddress();
    });
    const rows = byId("rows");
    rows.value = this.timeline.density;
    rows.addEventListener("change", () => {
      this.timeline.density = rows.value;
      this.timeline.invalidate();
      this.writeAddress();
    });
    for (const button of byId("zoom").querySelectorAll("button")) {
      button.addEventListener("click", () => this.zoomTo(Number(button.dataset.span) * 1e9));
    }
    const lanes = byId("lanes");
    const hold = (/** @type {boolean} */ held) => () => { this.lineup.held = held || lanes.contains(document.activeElement) || document.activeElement === this.timeline.canvas; };
    for (const surface of [lanes, this.timeline.canvas]) {
      surface.addEventListener("pointerenter", hold(true));
      surface.addEventListener("pointerleave", hold(false));
      surface.addEventListener("focusin", hold(true));
      surface.addEventListener("focusout", () => setTimeout(hold(false)));
    }
    this.timeline.canvas.addEventListener("focus", () => { this.timeline.dirty = true; });
    this.timeline.canvas.addEventListener("blur", () => { this.timeline.dirty = true; });
    document.addEventListener("click", (event) => this.#openPod(event));
    document.body.addEventListener("htmx:after:swap", () => {
      const panel = byId("panel");
      if (!byId("panel-body").childElementCount || !panel.hidden) return;
      if (this.selected !== null) this.select(null);
      panel.hidden = false;
      byId("panel-close").focus();
    });
    addEventListener("online", () => this.connection.hurry());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "visible") return;
      this.connection.hurry();
      this.timeline.dirty = true;
    });
    this.setZone(this.utc);
  }

  /** A pod's name opens its story in the panel; with a modifier key it is a link like any other. @param {MouseEvent} event */
  #openPod(event) {
    const link = event.target instanceof Element ? event.target.closest("a[data-uid]") : null;
    const { htmx } = /** @type {any} */ (window);
    if (!link || !htmx || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    this.select(null);
    void htmx.ajax("GET", link.getAttribute("href"), { target: "#panel-body" });
  }

  /** @param {number} span ns */
  zoomTo(span) {
    this.view.zoom(span / this.view.span, this.clock.now());
    this.moved();
    this.timeline.invalidate();
  }

  #keys() {
    const { timeline, view, clock } = this;
    const pan = (/** @type {number} */ share) => {
      view.pan(share * view.span, clock.now());
      this.moved();
      timeline.dirty = true;
    };
    const arrow = (/** @type {"left"|"right"|"up"|"down"} */ direction) => (/** @type {KeyboardEvent} */ event) => {
      const sideways = direction === "left" ? -0.2 : direction === "right" ? 0.2 : 0;
      if (event.target === timeline.canvas && !event.shiftKey) {
        event.preventDefault();
        this.pause();
        const item = timeline.step(direction);
        if (item) setText(byId("cursor-says"), title(this.store, item, clock.now(), (wall) => timeOfDay(wall, this.utc, 3)));
      } else if (sideways && this.shownView === "timeline" && (event.target === document.body || event.target === timeline.canvas)) {
        event.preventDefault();
        pan(sideways);
      }
    };
    const zoom = (/** @type {number} */ factor) => () => {
      const at = timeline.chain?.find?.t ?? timeline.chain?.rec.t ?? null;
      view.zoom(factor, clock.now(), view.following ? null : at);
      this.moved();
      timeline.dirty = true;
    };
    this.keys = new Keys([
      { keys: [" "], show: "Space", what: "pause, go on", run: (event) => { event.preventDefault(); if (view.following) this.pause(); else this.live(); } },
      { keys: ["l"], show: "l", what: "back to live", run: () => this.live() },
      { keys: ["/"], show: "/", what: "filter pods", run: (event) => { event.preventDefault(); byId("filter").focus(); byId("filter").select(); } },
      { keys: ["t"], show: "t", what: "timeline or table", run: () => this.showView(this.shownView === "table" ? "timeline" : "table") },
      { keys: ["+", "="], show: "+", what: "less time in view", run: zoom(1 / 1.5) },
      { keys: ["-", "_"], show: "−", what: "more time in view", run: zoom(1.5) },
      { keys: ["ArrowLeft"], show: "←", what: "earlier; in the timeline: the mark before", run: arrow("left"), plain: true },
      { keys: ["ArrowRight"], show: "→", what: "later; in the timeline: the mark after", run: arrow("right"), plain: true },
      { keys: ["ArrowUp"], show: "↑", what: "in the timeline: nearest mark above", run: arrow("up"), plain: true },
      { keys: ["ArrowDown"], show: "↓", what: "in the timeline: nearest mark below", run: arrow("down"), plain: true },
      { keys: ["Enter"], show: "Enter", what: "select the mark; again: zoom to its chain", run: (event) => this.#enter(event), plain: true },
      { keys: ["["], show: "[", what: "the stop before", run: () => this.stepFinding(-1) },
      { keys: ["]"], show: "]", what: "the stop after", run: () => this.stepFinding(1) },
      { keys: ["g"], show: "g", what: "group by namespace", run: () => { const group = byId("group"); group.value = group.value === "none" ? "namespace" : "none"; group.dispatchEvent(new Event("change")); } },
      { keys: ["z"], show: "z", what: "UTC or this browser’s zone", run: () => this.setZone(!this.utc) },
      { keys: ["?"], show: "?", what: "this sheet", run: () => byId("keys").showModal() },
      { keys: ["Escape"], show: "Esc", what: "close, clear the selection", run: () => this.#escape(), plain: true },
    ], [{ keys: "Shift ← →", what: "earlier, later, from within the timeline" }]);
  }

  /** @param {KeyboardEvent} event */
  #enter(event) {
    if (event.target !== this.timeline.canvas || this.timeline.cursor === null) return;
    if (this.selected === this.timeline.cursor) this.timeline.zoomToChain();
    else this.select(this.timeline.cursor);
  }

  #escape() {
    const { activeElement } = document;
    if (!byId("panel").hidden) this.closePanel();
    else if (this.selected !== null) this.select(null);
    else if (activeElement === byId("filter") && this.lineup.filter) this.setFilter("");
    else if (activeElement instanceof HTMLElement) activeElement.blur();
  }
}

const page = new NodePage();
// For the console and the browser tests: what the page knows.
/** @type {any} */ (window).plegscope = page;
