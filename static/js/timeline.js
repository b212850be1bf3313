// @ts-check
/**
 * The timeline on the page: keeps the canvas up to date and turns what the reader does into moves
 * of the window, the cursor and the selection.
 *
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./layout.js").DrawList} DrawList
 * @typedef {import("./lineup.js").Row} Row
 * @typedef {import("./bins.js").Span} Span
 * @typedef {{bins: string, end: number, known: boolean}} Played what its bins go by, its end (ns), and
 *   whether nothing is known to come after it
 * @typedef {{
 *   store: Store, clock: import("./clock.js").Clock, view: import("./view.js").View,
 *   lineup: import("./lineup.js").Lineup, off: Set<string>, select: (seq: number|null) => void,
 *   moved: () => void, hover: (item: Item|null, x: number, y: number) => void, utc: () => import("./words.js").Times,
 *   frozenT: () => number|null, bins?: import("./bins.js").Bins|null, film?: () => Played|null,
 *   recall?: import("./recall.js").Recall|null,
 *   row?: (id: string) => HTMLElement|null
 * }} Host `moved`: the window moved by the reader's hand. `row`: the name beside one of the rows above
 *   the lanes, where it is not the page's own. `film`: the recording that is played
 */
import { chainOf, extent } from "./chain.js";
import { geometry } from "./layout-lane.js";
import { LAYER, hit, layout } from "./layout.js";
import { rulerMarks } from "./layout-heads.js";
import { Painter } from "./painter.js";
import { isNarrow, onPaletteChange, readPalette, textScale } from "./palette.js";
import { duration, timeOfDay, zone } from "./words.js";

const LANES = { comfortable: [26, 25], compact: [18, 18], large: [34, 34] };
const TALL = 136;
/** Share of the window that a draw list covers beyond each edge. */
const MARGIN = 0.35;

/** A mark has so much room, px, in as many lanes, before bins are better. */
const MARK_PX = 8;
const MOST_BUSY = 40;
/** So much of the window has to lie after the cursor, for what comes then to be shown. */
const AHEAD = 0.03;
/** The lanes are put in order no more often than this while nothing is pressed, ms. */
const ARRANGE_MS = 100;

export class Timeline {
  /** @param {HTMLCanvasElement} canvas @param {HTMLElement} scroller @param {Host} host */
  constructor(canvas, scroller, host) {
    this.canvas = canvas;
    this.scroller = scroller;
    this.host = host;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.painter = new Painter(context, readPalette());
    this.context = context;
    this.width = 0;
    this.height = 0;
    this.ratio = 1;
    this.em = 1;
    this.narrow = false;
    /** When nothing came any more (t), as it was drawn last. @type {number|null} */
    this.frozen = null;
    /** Where the picture begins beside the rows' names, px. */
    this.inset = 0;
    /** Whether the queue has its row: while it is not empty for long, and as long as that is in view. */
    this.queueShown = false;
    /** Whether the faults have their row: as long as one that was at work is in view. */
    this.faultsShown = false;
    /** @type {keyof typeof LANES} */
    this.density = "comfortable";
    /** @type {DrawList|null} */
    this.list = null;
    this.revision = -1;
    /** @type {number|null} */
    this.selected = null;
    /** @type {import("./chain.js").Chain|null} */
    this.chain = null;
    /** The mark under the keyboard's cursor: its record. @type {number|null} */
    this.cursor = null;
    /** The mark that is pointed out: its record. @type {number|null} */
    this.pointed = null;
    /** Whether its lane has been brought into sight; and that of what is selected. */
    this.pointedSeen = true;
    this.selectedSeen = true;
    this.dirty = true;
    /** Whether pods have lanes that come after the cursor. */
    this.aheads = false;
    this.key = "";
    this.rowsKey = "";
    this.arrangedFor = "";
    this.arrangedAt = -Infinity;
    /** The lanes are still to be put in order for what is shown. */
    this.owed = false;
    this.rowsRevision = -1;
    /** What the last frame showed. @type {{from: number, scale: number, shift: number, nowX: number, now: number}|null} */
    this.last = null;
    /** Called after each change of the rows. @type {(rows: Row[]) => void} */
    this.onRows = () => {};
    new ResizeObserver(() => this.#resize()).observe(canvas);
    onPaletteChange(() => {
      this.painter.setPalette(readPalette());
      this.dirty = true;
    });
    scroller.addEventListener("scroll", () => { this.dirty = true; }, { passive: true });
    this.#resize();
  }

  get heads() {
    const { em } = this;
    return { ruler: 26 * em, global: 30 * em, stream: 24 * em, queue: this.queueShown ? 22 * em : 0, faults: this.faultsShown ? 22 * em : 0 };
  }

  get top() {
    const heads = this.heads;
    return heads.ruler + heads.global + heads.stream + heads.queue + heads.faults;
  }

  get laneHeight() {
    const [small, wide] = LANES[this.density];
    return (this.width > 1400 ? wide : small) * this.em;
  }

  #resize() {
    const box = this.canvas.getBoundingClientRect();
    const ratio = Math.min(3, devicePixelRatio || 1);
    this.ratio = ratio;
    this.width = Math.max(1, box.width);
    this.height = Math.max(1, box.height);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.painter.setPalette(this.painter.palette);
    this.em = textScale();
    this.narrow = isNarrow();
    this.inset = this.canvas.offsetLeft;
    this.list = null;
    this.dirty = true;
  }

  /** Select a record's chain, or nothing. @param {number|null} seq */
  setSelected(seq) {
    if (seq !== this.selected) this.selectedSeen = seq === null;
    this.selected = seq;
    this.cursor = seq ?? this.cursor;
    this.chain = seq === null ? null : chainOf(this.host.store, seq);
    this.list = null;
    this.dirty = true;
  }

  /** Ring the mark of a record, and bring its lane into sight once. @param {number|null} seq */
  pointAt(seq) {
    this.pointed = seq;
    this.pointedSeen = seq === null;
    this.dirty = true;
  }

  /** The filter, a legend switch or the density changed. */
  invalidate() {
    this.list = null;
    this.dirty = true;
  }

  /** Draw if anything changed. @returns {boolean} whether it drew */
  frame() {
    const { store, clock, view } = this.host;
    const frozen = this.host.frozenT();
    const now = frozen ?? clock.now();
    // It is drawn at once, though the window may stand still then.
    if (frozen !== this.frozen) this.dirty = true;
    this.frozen = frozen;
    const shown = frozen === null ? now : now + Math.min(clock.now() - now, view.span * 0.22);
    if (!(this.dirty || view.following || store.revision !== this.revision)) return false;
    if (this.canvas.offsetParent === null) return false;
    const [begin, end] = view.window(shown);
    const scale = this.width / (end - begin);
    // On whole device pixels all marks move together; a smaller move would show nothing.
    const pixel = 1 / (scale * this.ratio);
    const from = Math.floor(begin / pixel) * pixel;
    const to = from + (end - begin);
    if (!this.dirty && store.revision === this.revision && this.last?.from === from) return false;
    if (store.revision !== this.revision && this.selected !== null) this.chain = chainOf(store, this.selected);
    const missing = this.#missing(from, to, now);
    this.#recall(from, to, now, missing);
    this.#showRows(from);
    this.#arrange(now, from, to);
    if (!this.pointedSeen) {
      this.#intoSight(store.record(this.pointed ?? 0)?.uid ?? undefined);
      this.pointedSeen = true;
    }
    if (!this.selectedSeen && this.chain) {
      this.#intoSight(this.chain.lane?.uid);
      this.selectedSeen = true;
    }
    const scroll = this.scroller.scrollTop;
    const room = this.height - this.top;
    const key = `${scale}|${Math.round(scroll / 200)}|${this.rowsKey}|${[...this.host.off].join()}|${missing.map(([, end]) => end > now).join()}`;
    const margin = (to - from) * MARGIN;
    const { list } = this;
    const fresh = list && key === this.key && store.revision === this.revision && list.from <= from && list.to >= to;
    if (!fresh) {
      const rows = this.host.lineup.visible(scroll - 300, scroll + room + 300);
      this.list = layout({
        store, from: from - margin, to: to + margin, scale, off: this.host.off, chain: this.chain, now, em: this.em,
        rows, label: this.narrow ? 18 * this.em : 0, heads: this.heads, quietFrom: from, height: room,
        older: missing.length ? this.#older(from - margin, to + margin, scale, rows, now, missing) : this.#before(to, now),
      });
      this.key = key;
    }
    this.revision = store.revision;
    const drawn = /** @type {DrawList} */ (this.list);
    const film = this.host.film?.() ?? null;
    const shift = (drawn.origin - from) * scale;
    const frame = {
      width: this.width, height: this.height, top: this.top, scroll, shift, nowX: (now - from) * scale, now, em: this.em,
      lanes: this.host.lineup.visible(scroll, scroll + room), heads: this.heads, focus: this.#cursorItem(),
      ruler: this.#ruler(from, to, scale),
      narrow: this.narrow, frozen: frozen === null ? "" : "frozen", cursorX: null,
      endX: film?.known && !store.state?.unrecorded ? (film.end - from) * scale : null,
    };
    this.last = { from, scale, shift, nowX: frame.nowX, now };
    this.painter.paint(drawn, frame);
    this.dirty = this.owed;
    return true;
  }

  /**
   * Times of which no record is here: before the oldest one; of a recording that is not followed also
   * after the cursor.
   * @param {number} from @param {number} to @param {number} now @param {Span[]} [sides] only on which side of the cursor these are
   * @returns {Span[]}
   */
  #missing(from, to, now, sides) {
    const { store, bins, view } = this.host;
    if (!bins) return [];
    const film = this.host.film?.() ?? null;
    /** @type {Span[]} */
    const found = [];
    const has = (/** @type {boolean} */ later) => !sides || sides.some(([, end]) => (end > now) === later);
    const begin = Math.max(from, bins.known.length ? bins.began : from);
    if (store.truncated && begin < store.firstT && has(false)) found.push([begin, Math.min(to, store.firstT)]);
    const end = Math.min(to, film?.end ?? -Infinity);
    if (end > now && has(true) && (sides || (!view.following && end - Math.max(from, now) > (to - from) * AHEAD))) found.push([Math.max(from, now), end]);
    return found.filter((span) => span[0] < span[1]);
  }

  /** Pods of that time have lanes, once it is in view. @param {number} from @param {number} to @param {number} now @param {Span[]} missing */
  #recall(from, to, now, missing) {
    const { store, bins } = this.host;
    const ahead = missing.some(([, end]) => end > now);
    if (this.aheads) store.forgetAhead(ahead ? to : -Infinity);
    this.aheads = ahead;
    if (!bins || !missing.length) return;
    for (const pod of bins.gone.values()) {
      if (pod.seen_t > now) {
        if (ahead && pod.seen_t <= to) store.remember(pod, true);
      } else if (pod.gone_t !== null && pod.gone_t >= from && pod.gone_t <= now) store.remember(pod);
    }
  }

  /** What is shown of times of which no record is here. @param {number} from @param {number} to @param {number} scale @param {Row[]} rows @param {number} now @param {Span[]} missing in the window itself */
  #older(from, to, scale, rows, now, missing) {
    const { store, bins } = this.host;
    if (!bins) return null;
    bins.meet(this.host.film?.()?.bins ?? store.session);
    const spans = this.#missing(from, to, now, missing);
    const uids = rows.flatMap((row) => (row.lane && !row.part ? [row.lane.uid] : []));
    const shown = bins.show(spans, scale, uids);
    // As long as not all of it is here, nobody knows how many there are.
    if (shown.whole && from < store.firstT) this.#close(from, Math.min(to, store.firstT), scale);
    return { bins, width: shown.width, n: shown.n, spans, unknown: shown.unknown, now };
  }

  /** Before watching began nothing is missing, though records of after it are. @param {number} to @param {number} now */
  #before(to, now) {
    const { store, bins } = this.host;
    if (!bins || !store.truncated || !bins.known.length || to > bins.began) return null;
    return { bins, width: bins.width, n: 1, spans: [], unknown: [], now };
  }

  /** How many marks of which kind are in view of which no record is here, by the legend's kinds. @param {number} from @param {number} to */
  outlined(from, to) {
    const { bins, clock } = this.host;
    /** @type {Record<string, number>} */
    const n = {};
    if (!bins) return n;
    for (const span of this.#missing(from, to, clock.now())) {
      const found = bins.legend(...span);
      for (const id in found) n[id] = (n[id] ?? 0) + found[id];
    }
    return n;
  }

  /** @param {number} from @param {number} to @param {number} scale */
  #ruler(from, to, scale) {
    const { clock } = this.host;
    const times = this.host.utc();
    // Counted from a mark, the whole seconds are those since the mark.
    const zero = typeof times === "number" ? times : 0;
    const marks = rulerMarks(clock.wall(from) - zero, clock.wall(to) - zero, this.width, this.em, (wall, digits) => timeOfDay(wall + zero, times, digits));
    const fine = marks.length > 1 && marks[1].at - marks[0].at < 1e9;
    // On narrow screens the zone is told where the ruler begins.
    const left = this.narrow ? (zone(times).length * 7 + 14) * this.em - this.inset : -Infinity;
    return marks.map(({ at, text }) => ({ x: (at + zero - clock.wall(from)) * scale, text: zero ? timeOfDay(at + zero, times, fine ? 3 : 0) : text })).filter(({ x }) => x >= left);
  }

  /** Few enough to be told apart: the records themselves are wanted. @param {number} from @param {number} end @param {number} scale */
  #close(from, end, scale) {
    const { bins, recall } = this.host;
    if (!bins || !recall || !bins.width || recall.left <= 0) return;
    const marks = Object.entries(bins.count(from, end)).reduce((sum, [mark, n]) => sum + (mark === "global" ? 0 : n), 0);
    const pods = Math.max(1, this.host.lineup.rows.length);
    if (marks * MARK_PX < (end - from) * scale * Math.min(pods, MOST_BUSY)) recall.want();
  }

  /** These rows come and go only while nothing under the pointer would move. @param {number} from */
  #showRows(from) {
    const { store, lineup } = this.host;
    const queue = !this.narrow && (store.queuedT >= from || (store.state?.engine.queue.length ?? 0) > 1);
    const faults = !this.narrow && store.faults.some((fault) => (fault.to ?? Infinity) >= from);
    if ((queue === this.queueShown && faults === this.faultsShown) || lineup.held) return;
    this.queueShown = queue;
    this.faultsShown = faults;
    this.list = null;
    this.scroller.style.top = `${this.top / this.em / 16}rem`;
    for (const [id, shown] of /** @type {[string, boolean][]} */ ([["head-queue", queue], ["head-faults", faults]])) {
      const row = this.host.row ? this.host.row(id) : document.getElementById(id);
      if (row) row.hidden = !shown;
    }
  }

  /** @param {number} now @param {number} from @param {number} to */
  #arrange(now, from, to) {
    const { lineup, store } = this.host;
    // Lanes come and go by the second, not by the frame; what the reader does is answered at once.
    const at = `${this.laneHeight}|${this.narrow}|${this.height}|${this.chain?.lane?.uid}|${lineup.held}|${store.session}`;
    const time = performance.now();
    this.owed = this.list !== null && !lineup.wanted && at === this.arrangedFor && time - this.arrangedAt < ARRANGE_MS;
    if (this.owed) return;
    this.arrangedFor = at;
    this.arrangedAt = time;
    lineup.arrange(store, {
      now, from, to: Math.min(to, now), lane: this.laneHeight, heading: 22 * this.em, tall: TALL * this.em, label: this.narrow ? 18 * this.em : 0,
      selected: this.chain?.lane?.uid ?? null, top: this.scroller.scrollTop, view: this.height - this.top,
    });
    const key = lineup.rows.map((row) => `${row.id}:${row.h}:${row.pods}:${row.open}`).join();
    // What stands beside a lane changes with what is known of it, also back to what was before.
    if (key !== this.rowsKey || store.revision !== this.rowsRevision) {
      this.rowsKey = key;
      this.rowsRevision = store.revision;
      this.onRows(lineup.rows);
    }
  }

  /** What is at a point of the canvas, CSS px. @param {number} x @param {number} y */
  at(x, y) {
    if (!this.list || !this.last) return null;
    const left = x - this.last.shift;
    const nowX = this.last.nowX - this.last.shift;
    if (y < this.top) return hit(this.list.rows, left, y, nowX);
    const down = y - this.top + this.scroller.scrollTop;
    return hit(this.list.lanes, left, down, nowX) ?? this.#cellAt(left, down);
  }

  /** Bins of a lane have no record; what is in them is told. @param {number} x @param {number} y both as in the list @returns {Item|null} */
  #cellAt(x, y) {
    const { bins, clock } = this.host;
    const { list } = this;
    if (!bins || !list) return null;
    const item = list.lanes[LAYER.found].find((each) => each.cells && y >= each.y && y < each.y + (each.h ?? 0)
      && x >= Math.max(each.x, each.x1 ?? each.x) && x < Math.min(each.x2 ?? 0, each.x + (each.w ?? 1) * each.cells.rank.length));
    if (!item?.w || !item.uid) return null;
    const place = Math.floor((x - item.x) / item.w);
    const from = list.origin + (item.x + place * item.w) / list.scale;
    const text = bins.words(item.uid, from, item.w / list.scale);
    if (!text) return null;
    const when = timeOfDay(clock.wall(from), this.host.utc(), item.w / list.scale < 1e9 ? 1 : 0);
    return { k: "cell", x: item.x + place * item.w, x2: item.x + (place + 1) * item.w, y: item.y, h: item.h, text: `${when}, ${duration(item.w / list.scale)} · ${text}` };
  }

  /** @param {number} x CSS px @returns {number} time */
  timeAt(x) {
    return this.last ? this.last.from + x / this.last.scale : 0;
  }

  /** All marks that the keyboard can reach, lane by lane. @returns {Item[]} */
  marks() {
    if (!this.list || !this.last) return [];
    const { shift } = this.last;
    return this.list.lanes.flat().filter((item) => item.seq && item.uid && item.k !== "run" && item.k !== "dots"
      && item.k !== "tail" && item.k !== "tick" && item.x + shift >= 0 && item.x + shift <= this.width);
  }

  /** @returns {Item|null} */
  #cursorItem() {
    const byKey = document.activeElement === this.canvas && !this.canvas.classList.contains("by-pointer");
    const seq = byKey && this.cursor !== null ? this.cursor : this.pointed;
    if (seq === null || !this.list) return null;
    for (const layers of [this.list.lanes, this.list.rows]) {
      for (let z = layers.length - 1; z >= 0; z -= 1) {
        const found = layers[z].find((item) => item.seq === seq && item.k !== "tail");
        if (found) return found;
      }
    }
    return null;
  }

  /**
   * Move the cursor: left and right along a lane, up and down to the nearest mark of another lane.
   * @param {"left"|"right"|"up"|"down"} direction
   * @returns {Item|null}
   */
  step(direction) {
    // A key does not wait for a picture that is about to be made anew.
    if (!this.list) this.frame();
    const marks = this.marks();
    if (!marks.length) return null;
    const here = marks.find((item) => item.seq === this.cursor);
    let next;
    if (!here) next = marks.reduce((a, b) => (b.x > a.x ? b : a));
    else if (direction === "left" || direction === "right") {
      const sign = direction === "left" ? -1 : 1;
      const order = (/** @type {Item} */ item) => item.x + item.y * 1e-4;
      const side = marks.filter((item) => item.uid === here.uid && item.seq !== here.seq && (order(item) - order(here)) * sign > 0);
      next = side.sort((a, b) => (order(a) - order(b)) * sign)[0];
    } else {
      const rows = this.host.lineup.rows.filter((row) => row.lane && !row.part);
      const index = rows.findIndex((row) => row.lane?.uid === here.uid);
      const others = direction === "up" ? rows.slice(0, Math.max(0, index)).reverse() : rows.slice(index + 1);
      for (const row of others) {
        const inLane = marks.filter((item) => item.uid === row.lane?.uid);
        if (!inLane.length) continue;
        next = inLane.reduce((a, b) => (Math.abs(b.x - here.x) < Math.abs(a.x - here.x) ? b : a));
        break;
      }
    }
    if (next?.seq) {
      this.cursor = next.seq;
      this.#intoSight(next.uid);
      this.dirty = true;
    }
    return next ?? null;
  }

  /** @param {string|undefined} uid */
  #intoSight(uid) {
    const row = this.host.lineup.rows.find((each) => each.lane?.uid === uid);
    if (!row) return;
    const room = this.height - this.top;
    if (row.y < this.scroller.scrollTop) this.scroller.scrollTop = row.y;
    else if (row.y + row.h > this.scroller.scrollTop + room) this.scroller.scrollTop = row.y + row.h - room;
  }

  /** Zoom so that the selected chain fills a third of the window. */
  zoomToChain() {
    if (!this.chain) return;
    const now = this.host.clock.now();
    const [from, to] = extent(this.chain, now);
    this.host.view.show(from, to, now);
    this.host.moved();
    this.invalidate();
  }

  /** For tests: sizes in force. */
  get metrics() {
    return geometry(this.laneHeight, this.em);
  }
}
