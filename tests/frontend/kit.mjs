/**
 * Builds what the server would send, so that a test reads like a play: a small node with a clock.
 * Times are given in milliseconds and become nanoseconds.
 */
import { Store } from "../../static/js/store.js";

export const MS = 1e6;
export const S = 1e9;
export const WALL = 1_790_000_000_000 * MS;

export class Play {
  constructor() {
    this.seq = 0;
    /** @type {any[]} */
    this.records = [];
    this.relist = 0;
    this.request = 0;
    this.event = 0;
  }

  /** @param {string} kind @param {number} ms @param {object} fields */
  rec(kind, ms, fields = {}) {
    this.seq += 1;
    const record = { kind, seq: this.seq, t: ms * MS, wall: WALL + ms * MS, ...fields };
    this.records.push(record);
    return record;
  }

  pod(ms, uid, name = uid, namespace = "default") {
    return this.rec("pod_seen", ms, { uid, name, namespace });
  }

  cached(ms, uid, relist, running, { name = uid, namespace = "default" } = {}) {
    const containers = running.map((id) => ({ id, name: "main", runtime_state: "running" }));
    return this.rec("pod_cached", ms, { uid, name, namespace, relist, containers, sandboxes: [], ips: [], error: "" });
  }

  /** A stop event with its request. @param {number} ms @param {string} uid @param {object} [more] */
  stop(ms, uid, { id = `${uid}-c`, outcome = "queued", exit_code = 137, backlog = false, asks = true, sandbox = false } = {}) {
    this.event += 1;
    const request = asks ? (this.request += 1) : null;
    const record = this.rec("stream_event", ms, {
      event: this.event, type: "stopped", uid, container_id: id, container_name: sandbox ? "" : "main", is_sandbox: sandbox,
      created_at: 0, latency_ns: backlog ? null : 0.9 * MS, backlog, request, exit_code, reason: "", finished_at: 0,
    });
    if (request !== null) this.rec("request", ms, { request, uid, source: "evented_pleg", event: this.event, outcome, depth: 1 });
    return record;
  }

  ask(ms, uid, source = "post_sync", outcome = "queued") {
    this.request += 1;
    this.rec("request", ms, { request: this.request, uid, source, event: null, outcome, depth: 1 });
    return this.request;
  }

  moved(ms, uid, outcome, { request = this.request, relist = null } = {}) {
    return this.rec("request_moved", ms, { request, uid, source: "evented_pleg", outcome, depth: 0, relist });
  }

  begin(ms, { scope = "global", source = "global", uid = null, request = null, waited = null } = {}) {
    this.relist += 1;
    this.rec("relist_started", ms, { relist: this.relist, scope, source, uid, request, waited_ns: waited });
    return this.relist;
  }

  end(ms, started, { relist = this.relist, scope = "global", source = "global", uid = null, request = null, ok = true, changed = 0, withheld = 0 } = {}) {
    return this.rec("relist_finished", ms, {
      relist, scope, source, uid, request, started: started * MS, duration_ns: (ms - started) * MS, ok, error: ok ? "" : "it failed",
      pods: 1, containers: 1, changed, withheld, calls: 2, slowest_method: "ListContainers", slowest_ns: 0.4 * MS,
    });
  }

  found(ms, uid, type, more = {}) {
    const died = type === "ContainerDied";
    return this.rec("lifecycle", ms, {
      type, uid, container_id: `${uid}-c`, container_name: "main", is_sandbox: false, old_state: died ? "running" : "non-existent",
      new_state: died ? "exited" : "running", relist: this.relist, source: "global", delivery: "sent", attempt: 0, request: null,
      event: null, stop_t: null, after_ns: null, since_finished_ns: null, finished_at: 0, exit_code: died ? 137 : null, reason: "",
      poll_due_t: null, baseline: false, ...more,
    });
  }

  /** The whole of a hint: stop at `ms`, waits 3 ms, relist of 2 ms, found. */
  hint(ms, uid) {
    const stop = this.stop(ms, uid);
    const { event, request } = stop;
    this.begin(ms + 3, { scope: "pod", source: "evented_pleg", uid, request, waited: 3 * MS });
    this.cached(ms + 5, uid, this.relist, []);
    const found = this.found(ms + 5, uid, "ContainerDied", {
      source: "evented_pleg", request, event, stop_t: ms * MS, after_ns: 5 * MS, poll_due_t: (ms + 700) * MS,
    });
    this.end(ms + 5, ms + 3, { scope: "pod", source: "evented_pleg", uid, request, changed: 1 });
    return { stop, found };
  }

  /** A global relist. @param {number} ms @param {number} took */
  global(ms, took = 5) {
    this.begin(ms);
    return this.end(ms + took, ms);
  }
}

/** @param {object} [engine] @param {object} [more] @returns {any} */
export function state(engine = {}, more = {}) {
  return {
    session: "s1", title: "a node", simulated: true, endpoint: "unix:///x", endpoint_reason: "asked for", wall: WALL,
    engine: {
      t: 0, profile: "kep", period_ns: S, pace_ns: S,
      health: { healthy: true, message: "", last_start_t: 0, threshold_ns: 180 * S, last_seen: null },
      stream: { state: "connected", since_t: 0, meaning: "Hints come.", policy: "join", attempt: 0, retry_t: null, code: null, detail: "" },
      queue: { length: 0, capacity: 200, held: 0, suspended: 0 }, running: null,
      last_global: { relist: 1, scope: "global", source: "global", started: 0, uid: null, duration_ns: 6.9 * MS, ok: true, pods: 1, containers: 1 },
      next_global_t: null, pods: 1, containers: 1, events: {}, requests: {}, stream_events: {}, ...engine,
    },
    cost: { cpu: 0.006, calls_per_s: 2.1, bytes_per_s: 38_000, rss_bytes: 6e7 },
    runtime: { kind: "runtime", seq: 0, t: 0, wall: 0, name: "containerd", version: "2.1.4", policy: "join", reason: "every subscriber has its own stream" },
    oldest_call: null, viewers: 1, first_seq: 1, last_seq: 1, ...more,
  };
}

/** @param {string} uid @param {object} [more] */
export function row(uid, more = {}) {
  return { uid, name: uid, namespace: "default", seen_t: 0, gone_t: null, last_t: 0, running: 1, containers: [], ips: [], error: "", syncing: false, ...more };
}

/** A store that was given a play in one snapshot. @param {Play} play @param {any[]} [pods] */
export function stored(play, pods = [], { truncated = false, capacity = undefined, now = undefined } = {}) {
  const store = new Store(capacity);
  store.apply({ type: "hello", session: "s1", version: "1", resumed: false });
  store.apply({ type: "snapshot", state: now ?? state(), pods, records: play.records, truncated, seq: play.seq });
  return store;
}

/** @param {(string|{b: string})[]} parts */
export const flat = (parts) => parts.map((part) => (typeof part === "string" ? part : part.b)).join("").replaceAll("\u00a0", " ");
