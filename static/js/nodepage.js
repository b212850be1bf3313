// @ts-check
/**
 * The node page: everything is made here and tied together, around a source of messages.
 *
 * The page shows what its source tells and does not know where that comes from: the WebSocket of a
 * live node (`node.js`), or a player that holds a whole run (`run.js`, and the lessons). To embed it:
 *
 *     const player = new Player({ load });
 *     const page = new NodePage({ source: (page) => player.attach(page), clock: player.clock });
 *
 * The template is `node.html`; a page that shows something beside it fills the block `side`, one
 * that shows something below the picture fills `below`. What an embedding page can do:
 *
 * - `page.pointAt(seq)`: ring the mark of a record and bring it into sight; `null`: no ring.
 * - `page.select(seq)`: select a record: its chain is drawn and told in the drawer;
 *   `page.onSelect.push((seq) => …)`: be told of each change. `page.onPod`: of a pod's name pressed.
 * - `player.seek(t)`, `player.step(±1)`, `player.play({ until })`, `player.pause()`: move the cursor.
 * - `player.onCursor.push((t, seq) => …)`: be told of each move; `player.records` has them all.
 *
 * @typedef {{
 *   link: import("./connection.js").Link, farewell: string, start: () => void, hurry: (insist?: boolean) => void,
 *   frame?: () => void, nextTry?: () => number|null, barred?: boolean, trouble?: string
 * }} Source Calls `page.take` with each message. `frame` is called before each frame is drawn.
 *   `nextTry`: until the next try to connect (ms); null: none is waited for. `barred`: the
 *   server is there, but lets this page in no more. `trouble`: why nothing can be played, in a sentence.
 * @typedef {{
 *   store: Store, lineup: Lineup, labels: Labels, timeline: Timeline, selected: number|null, onlyNear: () => void
 * }} Part A node of the page: the page itself, and each one beside it.
 * @typedef {{
 *   source: (page: NodePage) => Source, clock?: Clock, capacity?: number, steady?: number,
 *   range?: () => [number, number],
 *   address?: {read: (search: string) => string, write: (query: string) => string, put?: (text: string) => void},
 *   keys?: (page: NodePage) => import("./keys.js").Key[], bins?: (wanted: import("./bins.js").Wanted) => Promise<import("./bins.js").Cut>,
 *   records?: (since: number, limit: number) => Promise<import("./recall.js").Page>,
 *   ending?: () => import("./condition.js").Ending|null, film?: () => import("./timeline.js").Played|null
 * }} Options
 *   `capacity`: records kept. `steady`: lanes keep their order for so long (ns of the session), and
 *   then depend on nothing but the time that is shown. `range`: from when to when the minimap goes.
 *   `address`: turns the query of the address into the one for what the page shows, and back; both
 *   without the question mark; `put` writes the text elsewhere than into the query.
 *   `keys`: more keys; one that the page has too is taken over. `bins`, `records`: ask for what
 *   was before the oldest record here; `bins` of a recording, `film`, also for what comes after the
 *   cursor. `ending`: what is played, when it is at its end.
 */
import { readAddress, writeAddress } from "./address.js";
import { Bins } from "./bins.js";
import { Clock } from "./clock.js";
import { wireControls } from "./controls.js";
import { Distribution } from "./distribution.js";
import { byId, h, setText, setting } from "./dom.js";
import { Drawer } from "./drawer.js";
import { Gauge } from "./gauge.js";
import { Gestures } from "./gestures.js";
import { Glance } from "./glance.js";
import { Header } from "./header.js";
import { title } from "./hover.js";
import { Labels } from "./labels.js";
import { LaneMenu } from "./lane-menu.js";
import { Legend } from "./legend.js";
import { Lineup } from "./lineup.js";
import { Minimap } from "./minimap.js";
import { Recall } from "./recall.js";
import { isNewStop } from "./stats.js";
import { Store } from "./store.js";
import { Table } from "./table.js";
import { Tabs } from "./tabs.js";
import { wireKeys } from "./shortcuts.js";
import { startTheme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { Trend } from "./trend.js";
import { View } from "./view.js";
import { timeOfDay, zone } from "./words.js";

/** The header is written so often, ms; the canvas at the frame rate. */
const HEADER_EVERY = 200;
const LAGGING_FOR = 10_000;
/** How far around a mark is near, ns. */
const NEAR = 2e9;
/** Silence after which the picture is said to be frozen, ns. */
const FROZEN_AFTER = 3e9;

export class NodePage {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    const shown = readAddress(options.address ? options.address.read(location.search.slice(1)) : location.search);
    this.store = new Store(options.capacity);
    this.clock = options.clock ?? new Clock();
    this.view = new View();
    this.view.span = shown.span;
    this.view.end = shown.end;
    this.lineup = new Lineup(options.steady);
    this.lineup.filter = shown.filter;
    this.lineup.group = shown.group;
    Object.assign(this.lineup, { sort: shown.sort, pins: shown.pins, unfolded: shown.unfolded, allUnfolded: shown.allUnfolded, quietFolded: shown.quietFolded });
    /** Whether the link narrows to what is near its mark; until the mark is there. */
    this.wantsNear = shown.near && shown.selected !== null;
    this.off = new Set(shown.off);
    this.utc = shown.zone !== "local" && setting("zone") !== "local";
    /** Whether times are counted from the selected mark, while there is one. */
    this.since = shown.zone === "since";
    /** The zone as it is written now. */
    this.written = "";
    /** @type {number|null} */
    this.selected = shown.selected;
    /** @type {"timeline"|"table"} */
    this.shownView = shown.view;
    /** Further nodes on the same clock. @type {(Part & {canvas: HTMLElement, name: string})[]} */
    this.besides = [];
    /** What the first node is called, where there are others. */
    this.name = "";
    /** Whose marks the legend counts, and what to call them. @type {() => {stores: Store[], of: string}} */
    this.counted = () => ({ stores: [this.store], of: "" });
    /** Told after each change of the selection. @type {((seq: number|null) => void)[]} */
    this.onSelect = [];
    /** Told when a pod's name is pressed on a page whose pods have no story. @type {((uid: string) => void)[]} */
    this.onPod = [];
    this.lagging = 0;
    this.lost = 0;
    this.laggingUntil = 0;
    /** Newest record when the reader left the present. */
    this.leftAt = 0;
    this.headerAt = 0;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.addressTimer = undefined;

    this.bins = options.bins ? new Bins({ ask: options.bins, changed: () => this.timeline.invalidate() }) : null;
    this.timeline = new Timeline(byId("plot"), byId("lanes"), {
      bins: this.bins, recall: options.records ? new Recall({ store: this.store, ask: options.records, changed: () => this.timeline.invalidate() }) : null,
      store: this.store, clock: this.clock, view: this.view, lineup: this.lineup, off: this.off,
      select: (seq) => this.select(seq), moved: () => this.moved(), hover: (item, x, y) => this.hover(item, x, y),
      utc: () => this.times, frozenT: () => this.frozenT(), film: options.film,
    });
    this.timeline.density = /** @type {any} */ (shown.rows);
    this.labels = new Labels(byId("labels"), byId("lanes"), {
      sort: () => this.lineup.sort, fold: (lane) => this.laneMenu.fold(lane), pin: (lane) => this.laneMenu.pin(lane),
      unhide: (fold) => this.laneMenu.unhide(fold), filter: () => this.lineup.filter,
    });
    this.timeline.onRows = (rows) => this.labels.setRows(rows, this.lineup.height);
    this.gestures = new Gestures(this.timeline, [byId("plot"), byId("lanes")]);
    this.minimap = new Minimap(byId("minimap"), {
      store: this.store, bins: this.bins, view: this.view, now: () => this.frozenT() ?? this.clock.now(), range: options.range, moved: () => {
        this.timeline.dirty = true;
        this.moved();
      },
    });
    const pressing = (/** @type {string} */ id) => {
      const button = document.getElementById(id);
      return button && (() => button.click());
    };
    this.glance = new Glance(this.store, { hurry: () => this.tryNow(), start: pressing("to-start"), incident: pressing("incident-back") });
    this.gauge = new Gauge(byId("gauge"));
    this.trend = new Trend(byId("trend"));
    this.distribution = new Distribution(byId("distribution"));
    this.legend = new Legend(byId("legend"), byId("legend-all"), this.off, () => {
      this.timeline.invalidate();
      this.table.update();
      this.writeAddress();
    });
    this.table = new Table({ store: this.store, off: this.off, select: (seq) => this.select(seq), utc: () => this.times, filter: () => this.lineup.filter, lineup: this.lineup });
    this.laneMenu = new LaneMenu(this);
    this.drawer = new Drawer(/** @type {any} */ ({
      store: this.store, clock: this.clock, utc: () => this.times, select: (/** @type {number|null} */ seq) => this.select(seq),
      step: (/** @type {-1|1} */ direction) => this.stepFinding(direction), zoom: () => this.timeline.zoomToChain(),
      near: () => this.onlyNear(), isNear: () => this.lineup.near !== null,
    }));
    this.tabs = new Tabs(this.store, this.clock, () => this.times, (view) => this.showView(view), (seq) => this.select(seq));
    this.source = options.source(this);
    this.headerView = new Header(this);
    startTheme();
    wireControls(this);
    this.keys = wireKeys(this, options.keys?.(this));
    this.showView(this.shownView);
    this.source.start();
    this.loop = this.loop.bind(this);
    requestAnimationFrame(this.loop);
  }

  /** @param {import("./types.js").Message} message */
  take(message) {
    const before = this.store.session;
    this.store.apply(message);
    if (message.type === "hello") {
      if (before && before !== message.session) this.#newSession();
      this.clock.alive();
    } else if (message.type === "state" || message.type === "snapshot") {
      this.clock.still = message.state.ended === true;
      this.clock.setSpeed(message.state.speed ?? 1);
      this.clock.heard(message.state.engine.t, message.state.wall);
    }
    else this.clock.alive();
    if (message.type === "lagging") {
      this.lagging = message.skipped;
      this.lost = message.lost;
      this.laggingUntil = performance.now() + LAGGING_FOR;
    }
    // Opened on the past: what was new to whoever left the present is not known, so none of it is.
    if (message.type === "snapshot" && !this.view.following && !this.leftAt) this.leftAt = this.store.lastSeq;
    if (message.type === "snapshot" && message.rewind) {
      // Another moment of the same run: nothing jumps, and what is selected may not have happened yet.
      this.timeline.setSelected(this.selected);
    } else if (message.type === "snapshot") {
      this.lineup.renew();
      // Words and picture appear together.
      this.headerAt = -Infinity;
      if (this.selected !== null) this.select(this.selected);
      else this.timeline.invalidate();
      if (this.wantsNear && this.timeline.chain) {
        this.wantsNear = false;
        this.onlyNear();
      }
    }
  }

  /** The server was started again: its times and numbers mean other things now. */
  #newSession() {
    this.clock.reset();
    this.view.follow();
    this.leftAt = 0;
    this.laggingUntil = 0;
    this.select(null);
    this.lineup.resort();
  }

  /** When the picture ends, if it is not live. */
  frozenT() {
    if (!this.store.state) return null;
    const limit = this.source.link === "open" ? 2 * FROZEN_AFTER : FROZEN_AFTER;
    return this.clock.silence() > limit ? this.clock.lastHeard() : null;
  }

  loop() {
    requestAnimationFrame(this.loop);
    const time = performance.now();
    this.source.frame?.();
    this.timeline.frame();
    if (time - this.headerAt < HEADER_EVERY) return;
    this.headerAt = time;
    this.header();
  }

  header() {
    this.headerView.update();
  }

  /** Try to connect at once, if nothing comes from the server. */
  tryNow() {
    if (this.headerView.lost) {
      this.source.hurry(true);
      this.glance.trying();
    } else if (this.source.trouble) this.source.hurry(true);
    else setText(byId("spoken"), "Connected: there is nothing to try.");
    this.header();
  }

  /** @param {number|null} seq */
  select(seq) {
    this.selected = seq;
    this.timeline.setSelected(seq);
    this.table.setSelected(seq);
    if (seq === null) {
      this.drawer.close();
      if (this.lineup.near) this.onlyNear();
    } else {
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
    for (const call of this.onSelect) call(this.selected);
    this.writeAddress();
  }

  /** Ring the mark of a record and bring it into sight, without selecting it. @param {number|null} seq */
  pointAt(seq) {
    this.timeline.pointAt(seq);
    const rec = seq === null ? null : this.store.record(seq);
    if (rec) this.view.reveal(rec.t, this.clock.now());
  }

  /** The finding before or after the selected one, of those that pass the filter. @param {-1|1} direction */
  stepFinding(direction) {
    const { finds } = this.store;
    const at = this.timeline.chain?.find?.seq ?? this.selected ?? Infinity;
    const wanted = (/** @type {import("./lane.js").Find} */ find) => isNewStop(find) && this.lineup.order.includes(find.rec.uid ?? "");
    const next = direction > 0 ? finds.find((find) => find.seq > at && wanted(find)) : finds.findLast((find) => find.seq < at && wanted(find));
    if (next) this.select(next.seq);
  }

  /** @param {import("./layout.js").Item|null} item @param {number} x @param {number} y */
  hover(item, x, y) {
    const box = byId("hover");
    const text = item ? title(this.store, item, this.clock.now(), (wall) => timeOfDay(wall, this.times, 3)) : "";
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

  /** Only the pods that changed close to the selected mark, or all again. */
  onlyNear() {
    // The mark under the keyboard's cursor is selected by that.
    if (!this.timeline.chain && !this.lineup.near && this.timeline.cursor !== null) this.select(this.timeline.cursor);
    const { chain } = this.timeline;
    const t = chain?.find?.t ?? chain?.rec.t;
    this.lineup.near = this.lineup.near || t === undefined ? null : [t - NEAR, t + NEAR];
    this.lineup.resort();
    this.timeline.invalidate();
    if (chain) this.drawer.show(chain, this.clock.now());
    this.table.update();
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
        view: this.shownView, filter: this.lineup.filter, group: this.lineup.group, sort: this.lineup.sort, pins: this.lineup.pins,
        unfolded: this.lineup.unfolded, allUnfolded: this.lineup.allUnfolded, quietFolded: this.lineup.quietFolded, near: this.lineup.near !== null || this.wantsNear, rows: this.timeline.density, span: this.view.span,
        end: this.view.end, selected: this.selected, off: [...this.off], zone: this.since ? "since" : this.utc ? "utc" : "local",
      });
      const { address } = this.options;
      const text = address ? address.write(query.slice(1)) : query.slice(1);
      if (address?.put) address.put(text);
      else history.replaceState(history.state, "", `${location.pathname}${text ? `?${text}` : ""}`);
    }, 150);
  }

  /** The node on which a mark is selected; without one, the page's own. @returns {Part} */
  get chosen() {
    return this.besides.find((one) => one.selected !== null) ?? this;
  }

  /** How times are written: of day, or since the selected mark. @returns {import("./words.js").Times} */
  get times() {
    if (!this.since) return this.utc;
    const { selected, store } = this.chosen;
    return (selected === null ? null : store.record(selected)?.wall) ?? this.utc;
  }

  /** UTC, this browser's zone, since the selected mark if there is one, UTC. */
  nextZone() {
    const next = this.since ? "utc" : this.utc ? "local" : this.chosen.selected === null ? "utc" : "since";
    this.since = next === "since";
    this.setZone(next !== "local");
    setText(byId("cursor-says"), `Times are written ${this.since ? "since the selected mark" : `in ${zone(this.utc)}`}.`);
  }

  setZone(/** @type {boolean} */ utc) {
    this.utc = utc;
    setting("zone", utc ? null : "local");
    this.writeZone();
    this.writeAddress();
  }

  /** Wherever times are written their zone is: brought up to date when it has changed. */
  writeZone() {
    const { times } = this;
    const marked = this.chosen.selected !== null;
    const key = `${times}|${marked}`;
    if (key === this.written) return;
    this.written = key;
    const words = zone(times);
    for (const place of document.querySelectorAll("[data-zone]")) setText(place, words);
    setText(byId("table-time"), `Time, ${words}`);
    byId("foot-zone").replaceChildren("all times ", h("b", {}, words));
    const next = this.since ? "UTC" : this.utc ? "this browser’s zone" : marked ? "times since the selected mark" : "UTC";
    byId("clock").title = `Times ${typeof times === "number" ? words : `in ${words}`}; press for ${next} (z)`;
    this.timeline.dirty = true;
    this.table.key = "";
  }

  /** A pod's name opens its story in the panel; with a modifier key it is a link like any other. @param {MouseEvent} event */
  openPod(event) {
    const link = event.target instanceof Element ? event.target.closest("a[data-uid]") : null;
    const { htmx } = /** @type {any} */ (window);
    if (link && !byId("main").dataset.stream) {
      event.preventDefault();
      for (const call of this.onPod) call(link.getAttribute("data-uid") ?? "");
      return;
    }
    if (!link || !htmx || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    this.select(null);
    void htmx.ajax("GET", link.getAttribute("href"), { target: "#panel-body" });
  }

  /** @param {number} span ns */
  zoomTo(span) {
    const now = this.clock.now();
    const { chain } = this.chosen.timeline;
    const at = chain?.find?.t ?? chain?.rec.t ?? null;
    this.view.zoom(span / this.view.span, now, at);
    // What is selected stays in sight, whichever way the window was moved before.
    if (at !== null) this.view.reveal(at, now);
    this.moved();
    this.timeline.invalidate();
  }
}
