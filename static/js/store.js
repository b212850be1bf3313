// @ts-check
/**
 * Everything this page knows: the newest records, bounded, and what they add up to.
 *
 * Records come in order of `seq`. What is older than the oldest kept record is not known here; a
 * hole between two records is a gap. Chains are tied by the engine's numbers: event -> request ->
 * relist -> lifecycle events.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./types.js").SessionState} SessionState
 * @typedef {import("./types.js").PodRow} PodRow
 * @typedef {import("./lane.js").Find} Find
 * @typedef {{from: number, to: number|null, state: string, meaning: string, seq: number,
 *   tries: number[], code: string|null, first: boolean}} Stretch
 *   A stretch of the event stream's life: connected, down, or off. `first`: none came before it in
 *   the session, or the stream was off until then.
 * @typedef {{from: number, to: number, hop: string, count: number, reason: string, seq: number}} Hole
 */
import { Lane } from "./lane.js";
import { Ledger } from "./ledger.js";
import { isOpening } from "./stretch.js";

/** As many as a server keeps: whatever it can still tell one by one can be here. */
export const CAPACITY = 65_536;

/** How a simulated node tells of faults (app/sim/faultplan.py, hand.py). */
const NOTE = /^(?:Fault begins: (.+?)\. It imitates: |Fault is over: (.+)\.$|Pressed: (.+?)\. It imitates: )/;

/** Its name; older journals have its kind instead (`lists-slow`). @param {string} name */
function words(name) {
  return /^[a-z]+(-[a-z]+)+$/.test(name) ? name.replaceAll("-", " ") : name;
}

/** @typedef {{name: string, from: number, to: number|null, seq: number}} FaultSpan `to` null: still at work */

export class Store {
  /** Records that the next snapshot does not bring, as the server says; null: it did not say. @type {number|null} */
  #lost = null;

  /** @type {Rec[]} */ records = [];
  /** @type {Map<string, Lane>} */ lanes = new Map();
  /** Every event of the stream, for its row. @type {{t: number, seq: number, rec: Rec}[]} */
  ticks = [];
  /** @type {Find[]} */ finds = [];
  /** @type {Stretch[]} */ stretches = [];
  /** @type {Hole[]} */ gaps = [];
  /** Faults of a simulated node, as its notes tell of them. @type {FaultSpan[]} */
  faults = [];
  /** Length of the request queue from `t` on. @type {{t: number, seq: number, depth: number}[]} */
  depths = [];
  /** Until when (t) two requests or more were in the queue at the same time. */
  queuedT = -Infinity;
  /** Started containers by id: when the stream said so. @type {Map<string, number>} */
  startedAt = new Map();

  /** @param {number} capacity records kept */
  constructor(capacity = CAPACITY) {
    this.capacity = capacity;
    /** @type {SessionState|null} */
    this.state = null;
    this.session = "";
    /** Counts changes: a picture of revision n is still right while this is n. */
    this.revision = 0;
    this.lastSeq = 0;
    /** Older records than the oldest here exist or existed. */
    this.truncated = false;
    this.ledger = new Ledger();
  }

  #clear() {
    this.records = [];
    this.lanes = new Map();
    this.ledger = new Ledger();
    this.ticks = [];
    this.finds = [];
    this.stretches = [];
    this.gaps = [];
    this.faults = [];
    this.depths = [];
    this.queuedT = -Infinity;
    this.startedAt = new Map();
  }

  get relists() {
    return this.ledger.relists;
  }

  get asks() {
    return this.ledger.asks;
  }

  get stops() {
    return this.ledger.stops;
  }

  /** Global relists in order. */
  get globals() {
    return this.ledger.globals;
  }

  /** Where to resume from: {session, since}; since 0 asks for a snapshot. */
  resume() {
    return { session: this.session, since: this.state ? this.lastSeq : 0 };
  }

  /** Take a message. @param {Message} message */
  apply(message) {
    switch (message.type) {
      case "hello":
        if (message.session !== this.session) {
          this.session = message.session;
          this.state = null;
          this.lastSeq = 0;
          this.#clear();
        }
        break;
      case "snapshot": this.#snapshot(message); break;
      case "batch": this.#batch(message); break;
      case "state": this.#take(message.state); break;
      case "lagging": this.#lost = message.lost; break;
      default: return;
    }
    this.revision += 1;
  }

  /** @param {SessionState} state */
  #take(state) {
    this.state = state;
    if (this.gaps.some((gap) => gap.seq === 0)) this.gaps = this.gaps.filter((gap) => gap.seq !== 0);
    if (state.unrecorded) {
      this.gaps.push({ from: state.unrecorded.from, to: state.engine.t, hop: "journal", count: 0, reason: "Nothing was recorded here.", seq: 0 });
    }
    this.session = state.session;
    const stream = state.engine.stream;
    if (!this.stretches.length) {
      const first = stream.state === "connecting" && stream.attempt <= 1;
      this.stretches.push({ from: stream.since_t, to: null, state: stream.state, meaning: stream.meaning, seq: 0, tries: [], code: stream.code, first });
    }
    // A relist that hangs may have begun before the oldest record here.
    const { running } = state.engine;
    if (running && running.scope === "global" && !this.relists.has(running.relist)) {
      this.ledger.began({ kind: "relist_started", seq: 0, wall: 0, t: running.started, relist: running.relist, scope: "global", source: "global" }, null);
    }
  }

  /** @param {import("./types.js").SnapshotMessage} message */
  #snapshot(message) {
    const first = message.records.length ? message.records[0].seq : message.seq + 1;
    const kept = this.session === message.state.session && !message.rewind ? this.records.filter((rec) => rec.seq < first) : [];
    const last = kept[kept.length - 1];
    this.#clear();
    for (const pod of message.pods) {
      this.#row(pod);
      if (message.before) this.#settle(pod);
    }
    for (const rec of kept) this.#add(rec);
    if (last && last.seq + 1 < first && message.records.length) {
      this.#hole(last, message.records[0], this.#lost || first - last.seq - 1);
    }
    this.#lost = null;
    for (const rec of message.records) this.#add(rec);
    if (!message.before) for (const pod of message.pods) this.#settle(pod);
    this.truncated = message.truncated && !kept.length;
    this.lastSeq = message.seq;
    this.#take(message.state);
  }

  /** Records that end where those here begin. @param {Rec[]} older */
  prepend(older) {
    const { records, lanes, state } = this;
    const holes = this.gaps.filter((gap) => gap.hop === "viewer");
    this.#clear();
    for (const before of lanes.values()) {
      const lane = this.lane(before.uid, before.seenT);
      lane.name = before.name;
      lane.namespace = before.namespace;
      lane.error = before.error;
      lane.lastT = before.lastT;
      lane.goneT = before.goneT;
    }
    for (const rec of older) this.#add(rec);
    for (const rec of records) this.#add(rec);
    this.gaps = [...holes, ...this.gaps].sort((a, b) => a.to - b.to);
    for (const before of lanes.values()) {
      const lane = this.lane(before.uid, before.seenT);
      lane.goneT = before.goneT;
      lane.running = before.running;
      // What only the snapshot knew.
      if (!lane.cached.length) lane.cached = before.cached.filter((each) => each.seq === 0);
      const [open, last] = [before.syncs[before.syncs.length - 1], lane.syncs[lane.syncs.length - 1]];
      if (open?.seq === 0 && open.to === null && (!last || last.to !== null)) lane.syncs.push({ ...open, from: this.firstT });
    }
    this.truncated = this.records[0].seq > 1;
    if (state) this.#take(state);
    this.revision += 1;
  }

  /** @param {import("./types.js").BatchMessage} message */
  #batch(message) {
    const last = this.records[this.records.length - 1];
    if (message.first > this.lastSeq + 1 && last && message.records.length) {
      this.#hole(last, message.records[0], message.first - this.lastSeq - 1);
    }
    for (const rec of message.records) if (rec.seq > this.lastSeq) this.#add(rec);
    this.lastSeq = Math.max(this.lastSeq, message.last);
    if (this.records.length > this.capacity * 1.1) this.#prune();
  }

  /** @param {Rec} last @param {Rec} next @param {number} count */
  #hole(last, next, count) {
    this.gaps.push({ from: last.t, to: next.t, hop: "viewer", count, seq: next.seq, reason: "This page did not get these records." });
  }

  /** A pod of the snapshot, before its records. @param {PodRow} pod */
  #row(pod) {
    const lane = this.lane(pod.uid, pod.seen_t);
    lane.name = pod.name;
    lane.namespace = pod.namespace;
    lane.seenT = pod.seen_t;
    lane.lastT = pod.last_t;
    lane.error = pod.error;
  }

  /** What only the snapshot knows, after its records. @param {PodRow} pod */
  #settle(pod) {
    const lane = this.lane(pod.uid, pod.seen_t);
    lane.goneT = pod.gone_t;
    lane.running = pod.running;
    const on = lane.told(pod.containers);
    if (!lane.cached.length) lane.cached.push({ t: pod.seen_t, seq: 0, running: pod.running, before: null, on });
    const last = lane.syncs[lane.syncs.length - 1];
    if (pod.syncing && (!last || last.to !== null)) {
      lane.syncs.push({ seq: 0, from: this.records.length ? this.records[0].t : pod.last_t, to: null, rec: null });
    }
  }

  /** A pod that was gone before the oldest record here; or (`ahead`) that comes after the newest. @param {import("./bins.js").Outline} pod */
  remember(pod, ahead = false) {
    if (this.lanes.has(pod.uid)) return;
    const lane = this.lane(pod.uid, pod.seen_t);
    lane.name = pod.name;
    lane.namespace = pod.namespace;
    lane.ahead = ahead;
    // As of now it is not there, however long it will be.
    lane.goneT = ahead ? Infinity : pod.gone_t;
    lane.lastT = ahead ? pod.seen_t : pod.gone_t ?? pod.seen_t;
  }

  /** Pods that come after `t` are not in view any more. @param {number} t */
  forgetAhead(t) {
    for (const [uid, lane] of this.lanes) if (lane.ahead && lane.seenT > t) this.lanes.delete(uid);
  }

  /** The pod's lane, made if need be. @param {string} uid @param {number} t */
  lane(uid, t) {
    let lane = this.lanes.get(uid);
    if (!lane) {
      lane = new Lane(uid, t);
      this.lanes.set(uid, lane);
    }
    return lane;
  }

  /** @param {Rec} rec */
  #add(rec) {
    this.records.push(rec);
    const lane = rec.uid ? this.lane(rec.uid, rec.t) : null;
    lane?.touch(rec.t);
    if (lane?.ahead) {
      lane.ahead = false;
      lane.goneT = null;
    }
    switch (rec.kind) {
      case "pod_seen":
        if (lane) {
          lane.name = rec.name || lane.name;
          lane.namespace = rec.namespace || lane.namespace;
          lane.goneT = null;
        }
        break;
      case "pod_gone": if (lane) this.#gone(lane, rec); break;
      case "stream_event": this.#event(rec, lane); break;
      case "event_refused": lane?.refused.push({ t: rec.t, seq: rec.seq, rec }); break;
      case "event_ignored": this.ticks.push({ t: rec.t, seq: rec.seq, rec }); break;
      case "request": this.ledger.asked(rec, lane); this.#queue(rec, rec.depth ?? 0); break;
      case "request_moved": this.ledger.moved(rec, lane); this.#queue(rec, rec.depth ?? 0); break;
      case "relist_started":
        this.ledger.began(rec, lane);
        if (rec.scope === "pod") this.#queue(rec, Math.max(0, (this.depths[this.depths.length - 1]?.depth ?? 0) - 1));
        break;
      case "relist_finished": this.ledger.ended(rec, lane, this.lanes.values()); break;
      case "lifecycle": if (lane) this.#found(rec, lane); break;
      case "pod_cached": lane?.addCached(rec); break;
      case "pod_uncached": lane?.addUncached(rec); break;
      case "sync_started": lane?.syncs.push({ seq: rec.seq, from: rec.t, to: null, rec: null }); break;
      case "sync_finished": if (lane) this.#synced(rec, lane); break;
      case "stream": this.#stream(rec); break;
      case "gap":
        this.gaps.push({ from: rec.from_t ?? rec.t, to: rec.t, hop: rec.hop ?? "", count: rec.count ?? 0, reason: rec.reason ?? "", seq: rec.seq });
        break;
      case "note": this.#note(rec); break;
      default: // Watching, runtime, health, pace, hung: rows of the table, no marks.
    }
  }

  /** A fault begins, or is over, or something was pressed that happens once. @param {Rec} rec */
  #note(rec) {
    const told = NOTE.exec(rec.text ?? "");
    if (!told) return;
    const [, begins, over, pressed] = told;
    if (over !== undefined) {
      const open = this.faults.find((fault) => fault.to === null && fault.name === words(over));
      if (open) open.to = rec.t;
    } else this.faults.push({ name: begins === undefined ? pressed : words(begins), from: rec.t, to: begins === undefined ? rec.t : null, seq: rec.seq });
  }

  /** @param {Rec} rec @param {number} depth */
  #queue(rec, depth) {
    const last = this.depths[this.depths.length - 1];
    if ((last?.depth ?? 0) === depth) return;
    this.depths.push({ t: rec.t, seq: rec.seq, depth });
    if (depth > 1 || (last?.depth ?? 0) > 1) this.queuedT = rec.t;
  }

  /** @param {Lane} lane @param {Rec} rec */
  #gone(lane, rec) {
    lane.goneT = rec.t;
    lane.running = 0;
    for (const stop of lane.stops) if (!stop.find) stop.moot = true;
  }

  /** @param {Rec} rec @param {Lane|null} lane */
  #event(rec, lane) {
    this.ticks.push({ t: rec.t, seq: rec.seq, rec });
    if (!lane) return;
    if (rec.type === "stopped") {
      const stop = lane.addStop(rec);
      if (typeof rec.event === "number") this.stops.set(rec.event, stop);
      return;
    }
    lane.ticks.push({ t: rec.t, seq: rec.seq, rec });
    if (rec.type === "started" && !rec.backlog && rec.container_id) this.startedAt.set(rec.container_id, rec.t);
  }

  /** @param {Rec} rec @param {Lane} lane */
  #found(rec, lane) {
    const find = lane.addFind(rec);
    const relist = this.relists.get(rec.relist ?? -1);
    relist?.finds.push(find);
    if (rec.delivery !== "filtered") this.finds.push(find);
  }

  /** @param {Rec} rec @param {Lane} lane */
  #synced(rec, lane) {
    let sync = lane.syncs[lane.syncs.length - 1];
    if (!sync || sync.to !== null) {
      sync = { seq: rec.seq, from: rec.t - (rec.duration_ns ?? 0), to: null, rec: null };
      lane.syncs.push(sync);
    }
    sync.to = rec.t;
    sync.rec = rec;
    lane.longest.syncs = Math.max(lane.longest.syncs, rec.t - sync.from);
  }

  /**
   * Before the first change that is told here it was connected, if that renews it, says how long it
   * was, or events came: since then nothing changed, or there were a record of it.
   * @param {Rec} rec
   */
  #wasUp(rec) {
    const lasted = rec.connected_ns ?? null;
    const brought = this.ticks.some((tick) => tick.rec.kind === "stream_event" && !tick.rec.backlog);
    if (lasted === null && !rec.renewed && !brought) return;
    const from = lasted === null ? this.firstT : rec.t - lasted;
    this.stretches.push({ from, to: null, state: "connected", meaning: rec.renewed ? rec.meaning ?? "" : "", seq: 0, tries: [], code: null, first: false });
  }

  /** @param {Rec} rec */
  #stream(rec) {
    if (!this.stretches.length) this.#wasUp(rec);
    if (rec.renewed) return;
    const phase = rec.state ?? "off";
    const last = this.stretches[this.stretches.length - 1];
    const down = phase !== "connected" && phase !== "off";
    if (last && last.to === null && down && last.state !== "connected" && last.state !== "off") {
      // Still down: another try, or another pause.
      if (phase === "connecting") last.tries.push(rec.t);
      last.meaning = rec.meaning || last.meaning;
      last.code = rec.code ?? last.code;
      return;
    }
    if (last && last.to === null) last.to = rec.t;
    this.stretches.push({
      from: rec.t, to: null, state: phase, meaning: rec.meaning ?? "", seq: rec.seq, tries: phase === "connecting" ? [rec.t] : [], code: rec.code ?? null,
      first: this.stretches.every((stretch) => stretch.state === "off"),
    });
  }

  #prune() {
    this.records.splice(0, this.records.length - this.capacity);
    this.truncated = true;
    const { seq } = this.records[0];
    const young = (/** @type {{seq: number}} */ item) => item.seq >= seq;
    for (const [uid, lane] of this.lanes) {
      lane.prune(seq);
      if (lane.goneT !== null && lane.isEmpty) this.lanes.delete(uid);
    }
    this.ledger.prune(seq);
    for (const [id, t] of this.startedAt) if (t < this.records[0].t) this.startedAt.delete(id);
    this.ticks = this.ticks.filter(young);
    this.finds = this.finds.filter(young);
    this.gaps = this.gaps.filter(young);
    this.depths.splice(0, Math.max(0, this.depths.findIndex(young) - 1));
    this.faults = this.faults.filter((fault) => fault.to === null || fault.to >= this.records[0].t);
    this.stretches = this.stretches.filter((stretch) => stretch.to === null || stretch.to >= this.records[0].t);
  }

  /** Since when there are no hints, null while there are. @returns {number|null} */
  get downSince() {
    const last = this.stretches[this.stretches.length - 1];
    return !last || last.state === "connected" ? null : last.from;
  }

  /** The session's first try to connect, which has not failed. @param {number} now */
  opening(now) {
    const last = this.stretches[this.stretches.length - 1];
    return last !== undefined && isOpening(last, now);
  }

  /** The record with this number, if it is kept. @param {number} seq @returns {Rec|null} */
  record(seq) {
    const first = this.records.length ? this.records[0].seq : 0;
    const guess = this.records[seq - first];
    if (guess?.seq === seq) return guess;
    return this.records.find((rec) => rec.seq === seq) ?? null;
  }

  /** Since when this page knows: time of the oldest record. */
  get firstT() {
    return this.records.length ? this.records[0].t : 0;
  }
}
