// @ts-check
/**
 * Requests and relists by the engine's numbers, and what became of them.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {import("./lane.js").Ask} Ask
 * @typedef {import("./lane.js").Relist} Relist
 * @typedef {import("./lane.js").Stop} Stop
 */

export class Ledger {
  constructor() {
    /** @type {Map<number, Relist>} */
    this.relists = new Map();
    /** @type {Map<number, Ask>} */
    this.asks = new Map();
    /** Stop events by number. @type {Map<number, Stop>} */
    this.stops = new Map();
    /** Global relists in order. @type {Relist[]} */
    this.globals = [];
    /** Global relists met so far, for numbering every tenth. */
    this.met = 0;
    /** Longest global relist that was kept, ns. */
    this.longest = 0;
  }

  /** @param {Rec} rec @param {Lane|null} lane @param {boolean} known @returns {Ask} */
  #ask(rec, lane, known) {
    const id = rec.request ?? 0;
    let ask = this.asks.get(id);
    if (!ask) {
      ask = {
        id, seq: rec.seq, t: rec.t, uid: rec.uid ?? "", source: rec.source ?? "", event: rec.event ?? null,
        spans: [], end: null, endT: null, endSeq: null, relist: null, known,
      };
      this.asks.set(id, ask);
      lane?.asks.push(ask);
      lane?.waiting.add(ask);
    }
    return ask;
  }

  /** @param {Rec} rec @param {Lane|null} lane */
  asked(rec, lane) {
    this.#go(this.#ask(rec, lane, true), rec.outcome ?? "queued", rec, lane);
  }

  /** @param {Rec} rec @param {Lane|null} lane */
  moved(rec, lane) {
    const ask = this.#ask(rec, lane, false);
    if (typeof rec.relist === "number") ask.relist = rec.relist;
    this.#go(ask, rec.outcome ?? "queued", rec, lane);
  }

  /** @param {Ask} ask @param {string} outcome @param {Rec} rec @param {Lane|null} lane */
  #go(ask, outcome, rec, lane) {
    const open = ask.spans[ask.spans.length - 1];
    if (open && open.to === null) open.to = rec.t;
    if (outcome === "queued" || outcome === "released") ask.spans.push({ what: "waiting", from: rec.t, to: null });
    else if (outcome === "held") ask.spans.push({ what: "held", from: rec.t, to: null });
    else {
      ask.end = outcome;
      ask.endT = rec.t;
      ask.endSeq = rec.seq;
      lane?.waiting.delete(ask);
    }
    if (lane) lane.longest.asks = Math.max(lane.longest.asks, rec.t - ask.t);
  }

  /** @param {Rec} rec @param {Lane|null} lane */
  began(rec, lane) {
    const heard = this.relists.get(rec.relist ?? 0);
    if (heard && heard.to === null) {
      // The header's state comes on its own way and may tell of a running relist before its record.
      heard.seq = rec.seq;
      heard.from = rec.t;
      return;
    }
    /** @type {Relist} */
    const relist = {
      id: rec.relist ?? 0, seq: rec.seq, scope: rec.scope ?? "global", source: rec.source ?? "global", uid: rec.uid ?? null,
      request: rec.request ?? null, from: rec.t, to: null, ok: null, done: null, waited: rec.waited_ns ?? null, finds: [], ordinal: 0,
    };
    this.relists.set(relist.id, relist);
    if (relist.scope === "global") relist.ordinal = this.met += 1;
    if (relist.scope === "global") this.globals.push(relist);
    else lane?.relists.push(relist);
    const ask = relist.request === null ? undefined : this.asks.get(relist.request);
    if (ask) {
      const open = ask.spans[ask.spans.length - 1];
      if (open && open.to === null) open.to = rec.t;
      ask.end = "executed";
      lane?.waiting.delete(ask);
      ask.endT = rec.t;
      ask.relist = relist.id;
    }
  }

  /** @param {Rec} rec @param {Lane|null} lane @param {Iterable<Lane>} lanes all of them: a global relist looks at each */
  ended(rec, lane, lanes) {
    const id = rec.relist ?? 0;
    let relist = this.relists.get(id);
    if (!relist) {
      this.began({ ...rec, t: rec.started ?? rec.t }, lane);
      relist = /** @type {Relist} */ (this.relists.get(id));
    }
    relist.to = relist.from + (rec.duration_ns ?? rec.t - relist.from);
    relist.ok = rec.ok ?? true;
    relist.done = rec;
    const took = relist.to - relist.from;
    if (relist.scope === "global") {
      this.longest = Math.max(this.longest, took);
      if (relist.ok) for (const each of lanes) this.#covered(each, relist);
    } else if (lane) {
      lane.longest.relists = Math.max(lane.longest.relists, took);
      if (relist.ok && !rec.withheld) this.#covered(lane, relist);
    }
  }

  /** A relist saw the pod and found nothing for these stops: they were known. @param {Lane} lane @param {Relist} relist */
  #covered(lane, relist) {
    if (!lane.open.size || lane.syncingSince(relist.from)) return;
    for (const [id, stops] of lane.open) {
      for (const stop of stops) stop.moot ||= stop.t < relist.from;
      if (stops.every((stop) => stop.moot)) lane.open.delete(id);
    }
  }

  /** Forget what is older than record `seq` and has ended. @param {number} seq */
  prune(seq) {
    for (const [id, relist] of this.relists) if (relist.seq < seq && relist.to !== null) this.relists.delete(id);
    for (const [id, ask] of this.asks) if (ask.seq < seq && ask.end !== null) this.asks.delete(id);
    for (const [id, stop] of this.stops) if (stop.seq < seq) this.stops.delete(id);
    this.globals = this.globals.filter((relist) => relist.seq >= seq || relist.to === null);
  }
}
