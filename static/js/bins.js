// @ts-check
/**
 * What happened when no record is here, counted in bins (app/journal/levels.py): before the oldest
 * one, and of a recording after the cursor too. It is asked of the server for the times and the pods
 * that are in view, and kept, bounded, in tiles of so many bins. A recording is counted while it is
 * read through: what has not been read is asked for again now and then.
 *
 * @typedef {{uid: string, name: string, namespace: string, seen_t: number, gone_t: number|null}} Outline
 * @typedef {{t: number, state: string, meaning: string, code: string|null}} Turn
 * @typedef {{from_t: number, to_t: number, hop: string, count: number, reason: string}} Hole
 * @typedef {{
 *   session: string, t: number, marks: string[], known: [number, number][], width: number, first: number, bins: number, began: number, since: number,
 *   pods: Record<string, number[]>, all: number[], relists: number[], gone: Outline[], stream: Turn[], gaps: Hole[], reading?: boolean, layout?: number
 * }} Cut `pods`, `all`: place, kind, count, again and again; `relists`: place, count, longest, failed; `t`: what
 *   came later is not in here; `reading`: and it comes, as a recording is being read
 * @typedef {[number, number]} Span from, to, ns
 * @typedef {{width: number, from: number, to: number, pods: string[]}} Wanted times in ns; `pods`: UIDs
 * @typedef {{rank: Uint8Array, said: Uint8Array, count: Uint32Array}} Cells see `cellsOf`
 * @typedef {{
 *   index: number, until: number, at: number, pods: Map<string, number[]>, all: number[], relists: number[], cells: Map<string, Cells>
 * }} Tile `until`: what came later is not in it (ns); `at`: when it came (ms)
 */

/** Bins of a tile. */
export const TILE = 256;
/** Tiles that are kept; those used last. */
const MOST_TILES = 128;
/** Tiles and pods that are asked for at once; the server answers no more. */
const MOST_ASKED = 15;
const MOST_PODS = 256;
/** The smallest of which a bin is told from the next, and from which on a finer one is better, px. */
const NARROW_PX = 2;
const WIDE_PX = 3;
/** Between two questions, and after a failure, ms. */
const PAUSE_MS = 60;
const SORRY_MS = 3000;
/** What is not over, or has not been read, is asked for again after so long, ms. */
const MORE_MS = 1000;
/** Outlines of pods that are gone, and turns of the stream, that are kept. */
const MOST_KEPT = 4096;
/** The whole range is told in so many bins at most, and asked for again so often, ms. */
const OVERVIEW = 1024;
const OVERVIEW_MS = 15_000;

/** A width that the server has, to begin with, ns. */
const COARSE = 8e9;

export const RANK = { none: 0, calm: 1, found: 2, late: 3, lost: 4 };

/** Of each kind of mark: what hides it in the legend, and how bad it is. @type {Record<string, [string, number]>} */
const LOOK = {
  calm: ["calm", RANK.calm], event: ["event", RANK.found], event_end: ["event", RANK.found], req: ["req", RANK.found],
  req_end: ["req", RANK.found], poll: ["poll", RANK.late], poll_end: ["poll", RANK.late], failed: ["", RANK.lost],
  dropped: ["dropped", RANK.lost],
};
const SAID = new Set(["stop", "ignored"]);

/** @type {Record<string, string>} */
const LEGEND = { asked: "wait", event_end: "event", req_end: "req", poll_end: "poll" };

/** In words, behind a number; some have another one for several. @type {Record<string, string>} */
const SAY = {
  other: "other event(s)", asked: "asked", relist: "relist(s) by a hint", own: "relist(s) after sync", stop: "stop event(s)", sync: "SyncPod", calm: "found in time",
  event: "believed", event_end: "believed", req: "found by request", req_end: "found by request", poll: "found by poll", poll_end: "found by poll",
};

/**
 * What is drawn of some bins, `n` of which are one cell: the worst of each, and whether the runtime
 * said that something stopped.
 * @param {number[]} counts @param {string[]} marks @param {number} n a power of two @param {Set<string>} off
 * @returns {Cells}
 */
export function cellsOf(counts, marks, n, off) {
  const rank = new Uint8Array(TILE / n);
  const count = new Uint32Array(TILE / n);
  const said = new Uint8Array(TILE / n);
  const worth = marks.map((mark) => (LOOK[mark] && !off.has(LOOK[mark][0]) ? LOOK[mark][1] : 0));
  const heard = marks.map((mark) => (SAID.has(mark) && !off.has(mark) ? 1 : 0));
  for (let i = 0; i < counts.length; i += 3) {
    const cell = Math.floor(counts[i] / n);
    const kind = counts[i + 1];
    if (worth[kind] > rank[cell]) {
      rank[cell] = worth[kind];
      count[cell] = 0;
    }
    if (worth[kind] && worth[kind] === rank[cell]) count[cell] += counts[i + 2];
    said[cell] |= heard[kind];
  }
  return { rank, said, count };
}

/** Of the widths there are the widest that is not too wide on the screen. @param {number[]} widths ascending @param {number} scale px per ns */
export function fitting(widths, scale) {
  let best = widths[0];
  for (const width of widths) if (width * scale <= WIDE_PX) best = width;
  return best;
}

/** How many bins are one cell. @param {number} px width of a bin */
export function joined(px) {
  return px >= NARROW_PX ? 1 : px >= NARROW_PX / 2 ? 2 : 4;
}

export class Bins {
  session = "";
  /** Since when all is known, by width, the finest first. @type {[number, number][]} */
  known = [];
  /** @type {string[]} */
  marks = [];
  /** By width and number; newest use last. @type {Map<string, Tile>} */
  tiles = new Map();
  /** @type {Map<string, Outline>} */
  gone = new Map();
  /** @type {Turn[]} */
  turns = [];
  /** @type {Hole[]} */
  gaps = [];
  /** The whole range. @type {Cut|null} */
  overview = null;
  overviewAt = -Infinity;
  /** When the session's first record was, ns. */
  began = 0;
  /** The width that is shown. */
  width = 0;
  /** Until when all is counted, as the newest answer says, ns; and whether more is being read. */
  until = -Infinity;
  reading = false;
  busy = false;
  notBefore = 0;
  /** Counts what came: a picture of revision n is right while this is n. */
  revision = 0;

  /**
   * @param {{
   *   ask: (wanted: Wanted) => Promise<Cut>, changed: () => void,
   *   setTimer?: (callback: () => void, ms: number) => any, clock?: () => number
   * }} options `changed`: something came. `clock`: ms
   */
  constructor(options) {
    this.options = options;
    this.setTimer = options.setTimer ?? ((callback, ms) => setTimeout(callback, ms));
    this.clock = options.clock ?? (() => performance.now());
  }

  /** Another session's times mean other things. @param {string} session */
  meet(session) {
    if (session === this.session) return;
    this.session = session;
    this.known = [];
    this.tiles = new Map();
    this.gone = new Map();
    this.turns = [];
    this.gaps = [];
    this.overview = null;
    this.overviewAt = -Infinity;
    this.width = 0;
    this.until = -Infinity;
    this.reading = false;
    this.busy = false;
    this.revision += 1;
  }

  /** The oldest time of which anything is known, ns. */
  get since() {
    return this.known.length ? this.known[this.known.length - 1][1] : Infinity;
  }

  /** @param {number} width @param {number} index */
  tile(width, index) {
    return this.tiles.get(`${width}/${index}`) ?? null;
  }

  /** Until when a tile has all; its beginning if it is not here. @param {number} width @param {number} index */
  #until(width, index) {
    const size = TILE * width;
    return Math.min((index + 1) * size, Math.max(index * size, this.tile(width, index)?.until ?? -Infinity));
  }

  /** Whether a tile has all until `t`. @param {number} width @param {number} index @param {number} t */
  #has(width, index, t) {
    return this.tile(width, index) !== null && this.#until(width, index) >= Math.min(t, (index + 1) * TILE * width);
  }

  /** The width that ought to be shown: fine enough, and known since `from` or ever. @param {number} from @param {number} scale */
  #wanted(from, scale) {
    const fit = fitting(this.known.map(([width]) => width), scale);
    const begin = Math.max(from, this.since);
    return (this.known.find(([width, since]) => width >= fit && since <= begin) ?? this.known[this.known.length - 1])[0];
  }

  /**
   * What is to be shown of some spans, times at which the page has no records; what is not here yet
   * is asked for.
   * @param {Span[]} spans in order @param {number} scale px per ns @param {string[]} uids in view
   * @returns {{width: number, n: number, unknown: Span[], whole: boolean}} bins of this width, `n` to a cell; `unknown`:
   *   what of the spans is not here; `whole`: all is that can be had
   */
  show(spans, scale, uids) {
    if (!this.known.length) {
      this.#begin();
      return { width: 0, n: 1, unknown: spans, whole: false };
    }
    const wanted = this.#wanted(Math.min(...spans.map(([from]) => from)), scale);
    for (const [from, to] of spans) {
      const begin = Math.max(from, this.since);
      if (to > begin) this.#fetch(wanted, begin, to, uids);
    }
    if (this.width !== wanted && (!this.width || this.#lacks(wanted, spans) <= this.#lacks(this.width, spans))) this.width = wanted;
    const n = joined(this.width * scale);
    const unknown = this.#unknown(this.width, spans);
    return { width: this.width, n, unknown, whole: unknown.every(([, to]) => to <= this.since) };
  }

  /** Ask what is known at all. */
  #begin() {
    this.#ask({ width: COARSE, from: 0, to: COARSE, pods: [] });
  }

  /** @param {number} width */
  #since(width) {
    return this.known.find(([each]) => each === width)?.[1] ?? Infinity;
  }

  /** What of some spans is not here at a width. @param {number} width @param {Span[]} spans @returns {Span[]} */
  #unknown(width, spans) {
    const size = TILE * width;
    const since = this.#since(width);
    /** @type {Span[]} */
    const found = [];
    const add = (/** @type {number} */ from, /** @type {number} */ to) => {
      const last = found[found.length - 1];
      if (from >= to) return;
      if (last && last[1] === from) last[1] = to;
      else found.push([from, to]);
    };
    for (const [from, to] of spans) {
      add(from, Math.min(to, since));
      const begin = Math.max(from, since);
      for (let index = Math.floor(begin / size); index * size < to; index += 1) {
        const end = Math.min(to, (index + 1) * size);
        add(Math.max(begin, this.#until(width, index)), end);
      }
    }
    return found;
  }

  /** How much of some spans is not here at a width, ns. @param {number} width @param {Span[]} spans */
  #lacks(width, spans) {
    return this.#unknown(width, spans).reduce((sum, [from, to]) => sum + to - from, 0);
  }

  /** @param {number} width @param {number} from @param {number} to @param {string[]} uids */
  #fetch(width, from, to, uids) {
    const size = TILE * width;
    const first = Math.floor(from / size);
    const last = Math.ceil(to / size) - 1;
    const pods = uids.slice(0, MOST_PODS);
    const due = this.clock() - MORE_MS;
    let begin = -1;
    let end = -1;
    // The newest first: mostly it borders on what is here.
    for (let index = last; index >= first; index -= 1) {
      const tile = this.tile(width, index);
      const lacks = !tile || (!this.#has(width, index, to) && tile.at <= due) || pods.some((uid) => !tile.pods.has(uid));
      if (!lacks) continue;
      if (end < 0) end = index;
      if (end - index >= MOST_ASKED) break;
      begin = index;
    }
    if (end >= 0) this.#ask({ width, from: begin * size, to: (end + 1) * size, pods });
  }

  /** @param {Wanted} wanted */
  #ask(wanted) {
    if (this.busy || this.clock() < this.notBefore) return;
    this.busy = true;
    const { session } = this;
    const again = (/** @type {number} */ ms) => {
      this.busy = false;
      this.notBefore = this.clock() + ms;
      this.setTimer(this.options.changed, ms + 1);
    };
    this.options.ask(wanted).then((cut) => {
      if (session === this.session) this.#take(cut, wanted);
      this.options.changed();
      again(PAUSE_MS);
    }, () => again(SORRY_MS));
  }

  /** @param {Cut} cut @param {Wanted} wanted */
  #take(cut, wanted) {
    if (cut.session !== this.session) return;
    this.revision += 1;
    this.known = cut.known;
    this.marks = cut.marks;
    this.began = cut.began;
    this.until = Math.max(this.until, cut.t);
    this.reading = cut.reading ?? false;
    if (this.reading) this.setTimer(this.options.changed, MORE_MS + 1);
    for (const pod of cut.gone) this.gone.set(pod.uid, pod);
    while (this.gone.size > MOST_KEPT) this.gone.delete(this.gone.keys().next().value ?? "");
    this.turns = merged(this.turns, cut.stream, (turn) => turn.t);
    this.gaps = merged(this.gaps, cut.gaps, (gap) => gap.to_t);
    if (cut.first % TILE || cut.bins % TILE) return;
    for (let at = 0; at < cut.bins; at += TILE) this.#store(cut, wanted, at);
    while (this.tiles.size > MOST_TILES) this.tiles.delete(this.tiles.keys().next().value ?? "");
  }

  /** @param {Cut} cut @param {Wanted} wanted @param {number} at the tile's first bin in the cut */
  #store(cut, wanted, at) {
    const index = (cut.first + at) / TILE;
    const key = `${cut.width}/${index}`;
    const before = this.tiles.get(key);
    this.tiles.delete(key);
    const complete = before !== undefined && before.until >= (index + 1) * TILE * cut.width;
    /** @type {Tile} */
    const tile = { index, until: cut.t, at: this.clock(), pods: complete ? before.pods : new Map(), cells: complete ? before.cells : new Map(),
      all: part(cut.all, 3, at), relists: part(cut.relists, 4, at) };
    for (const uid of wanted.pods) tile.pods.set(uid, part(cut.pods[uid] ?? [], 3, at));
    this.tiles.set(key, tile);
  }

  /**
   * How many marks of which kind there are between two times, whole bins of the shown width; those
   * that are not here are not counted. @param {number} from @param {number} to
   */
  count(from, to) {
    /** @type {Record<string, number>} */
    const found = {};
    const size = TILE * this.width;
    if (!size) return found;
    for (let index = Math.floor(from / size); index * size < to; index += 1) {
      const all = this.tile(this.width, index)?.all ?? [];
      for (let i = 0; i < all.length; i += 3) {
        const t = index * size + all[i] * this.width;
        if (t + this.width <= from || t >= to) continue;
        const mark = this.marks[all[i + 1]];
        found[mark] = (found[mark] ?? 0) + all[i + 2];
      }
    }
    return found;
  }

  /** The same by the legend's kinds; a finding of an end is also one that was unnoticed for a while. @param {number} from @param {number} to */
  legend(from, to) {
    /** @type {Record<string, number>} */
    const found = {};
    for (const [mark, n] of Object.entries(this.count(from, to))) {
      const id = LEGEND[mark] ?? mark;
      found[id] = (found[id] ?? 0) + n;
      if (mark.endsWith("_end")) found.tail = (found.tail ?? 0) + n;
    }
    for (const id of ["down", "gap"]) delete found[id];
    return found;
  }

  /** What is in some bins of a pod, the worst first. @param {string} uid @param {number} from @param {number} span both ns */
  words(uid, from, span) {
    const first = Math.round(from / this.width);
    const index = Math.floor(first / TILE);
    const counts = this.tile(this.width, index)?.pods.get(uid) ?? [];
    /** @type {Map<string, {n: number, kind: number}>} */
    const found = new Map();
    for (let i = 0; i < counts.length; i += 3) {
      const place = index * TILE + counts[i];
      if (place < first || place >= first + Math.max(1, Math.round(span / this.width))) continue;
      const kind = counts[i + 1];
      const word = SAY[this.marks[kind]] ?? this.marks[kind];
      const one = found.get(word) ?? { n: 0, kind };
      found.set(word, { n: one.n + counts[i + 2], kind: Math.max(kind, one.kind) });
    }
    return [...found].sort((a, b) => b[1].kind - a[1].kind).map(([word, { n }]) => `${n} ${word.replace("(s)", n === 1 ? "" : "s")}`).join(", ");
  }

  /** What is drawn of a pod in a tile; null: nothing, or it is not here yet. @param {string} uid @param {number} index @param {number} n @param {Set<string>} off */
  cells(uid, index, n, off) {
    const tile = this.tile(this.width, index);
    const counts = tile?.pods.get(uid);
    if (!tile || !counts || !counts.length) return null;
    const key = `${n}|${uid}|${[...off].join()}`;
    let cells = tile.cells.get(key);
    if (!cells) {
      if (tile.cells.size > 4 * MOST_PODS) tile.cells.clear();
      cells = cellsOf(counts, this.marks, n, off);
      tile.cells.set(key, cells);
    }
    return cells;
  }

  /** The whole range, for the strip: asked for now and then. @param {number} now session ns @returns {Cut|null} */
  whole(now) {
    const { known } = this;
    if (!known.length) this.#begin();
    else if (this.clock() - this.overviewAt > OVERVIEW_MS && !this.busy) {
      const [width] = known.find(([each]) => (now - this.since) / each < OVERVIEW) ?? known[known.length - 1];
      this.overviewAt = this.clock();
      const { session } = this;
      this.options.ask({ width, from: Math.max(0, this.since, now - 4000 * width), to: Math.max(now, this.since) + 1, pods: [] }).then((cut) => {
        if (cut.session !== session || session !== this.session) return;
        this.overview = cut;
        this.revision += 1;
        this.options.changed();
      }, () => {});
    }
    return this.overview;
  }
}

/** Of a flat list with places from a cut's first bin: those of one tile, from its own first. @param {number[]} flat @param {number} stride @param {number} at */
function part(flat, stride, at) {
  const found = [];
  for (let i = 0; i < flat.length; i += stride) {
    if (flat[i] < at || flat[i] >= at + TILE) continue;
    found.push(flat[i] - at, ...flat.slice(i + 1, i + stride));
  }
  return found;
}

/** Both in order, each once, the newest of too many. @template T @param {T[]} known @param {T[]} more @param {(one: T) => number} time */
function merged(known, more, time) {
  const all = new Map([...known, ...more].map((one) => [time(one), one]));
  return [...all.values()].sort((a, b) => time(a) - time(b)).slice(-MOST_KEPT);
}

/** Asks the server. @param {string} address @param {string} [source] the query that names a recording @returns {(wanted: Wanted) => Promise<Cut>} */
export function asking(address, source = "") {
  return async ({ width, from, to, pods }) => {
    const query = new URLSearchParams(source);
    for (const [name, value] of Object.entries({ width, from_t: Math.floor(from), to_t: Math.ceil(to) })) query.set(name, String(value));
    for (const uid of pods) query.append("pod", uid);
    const answer = await fetch(`${address}?${query}`, { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`bins: ${answer.status}`);
    return answer.json();
  };
}
