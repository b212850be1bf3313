// @ts-check
/**
 * The causal chain behind a record: stop event -> request -> relist -> lifecycle event.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {import("./lane.js").Stop} Stop
 * @typedef {import("./lane.js").Ask} Ask
 * @typedef {import("./lane.js").Relist} Relist
 * @typedef {import("./lane.js").Find} Find
 * @typedef {import("./lane.js").Sync} Sync
 * @typedef {import("./store.js").Store} Store
 * @typedef {{
 *   seq: number, rec: Rec, lane: Lane|null, stop: Stop|null, ask: Ask|null,
 *   relist: Relist|null, find: Find|null, finds: Find[], sync: Sync|null, next: Sync|null,
 *   own: Relist|null, started: Find|null, pollT: number|null
 * }} Chain
 *   `relist` carried the request out; `find` may be another relist's. `sync` held the request;
 *   `next` is the SyncPod that followed, `own` the relist after it, `started` what that found.
 *   `pollT`: when the next global relist would have begun, if a request found it.
 */

/** How long after a death its consequences are looked for (ns). */
const AFTERMATH = 60e9;

/**
 * @param {Store} store @param {number} seq number of any record of the chain
 * @returns {Chain|null} null if the record is not kept
 */
export function chainOf(store, seq) {
  const rec = store.record(seq);
  if (!rec) return null;
  const lane = rec.uid ? store.lanes.get(rec.uid) ?? null : null;
  /** @type {Chain} */
  const chain = {
    seq, rec, lane, stop: null, ask: null, relist: null, find: null, finds: [], sync: null, next: null,
    own: null, started: null, pollT: null,
  };
  start(store, chain, rec);
  spread(store, chain);
  if (chain.lane) follow(chain, chain.lane);
  const poll = chain.find?.rec.poll_due_t;
  if (chain.find && chain.find.rec.source !== "global" && typeof poll === "number" && poll > chain.find.t) chain.pollT = poll;
  return chain;
}

/** Where the record itself stands. @param {Store} store @param {Chain} chain @param {Rec} rec */
function start(store, chain, rec) {
  switch (rec.kind) {
    case "lifecycle":
      chain.find = chain.lane?.finds.find((find) => find.seq === rec.seq) ?? { t: rec.t, seq: rec.seq, rec, from: null, fan: 0, again: false };
      chain.relist = store.relists.get(rec.relist ?? -1) ?? null;
      chain.stop = store.stops.get(rec.event ?? -1) ?? null;
      break;
    case "stream_event":
      if (rec.type === "stopped") chain.stop = store.stops.get(rec.event ?? -1) ?? null;
      break;
    case "request":
    case "request_moved":
      chain.ask = store.asks.get(rec.request ?? -1) ?? null;
      break;
    case "relist_started":
    case "relist_finished":
      chain.relist = store.relists.get(rec.relist ?? -1) ?? null;
      break;
    case "sync_started":
    case "sync_finished":
      chain.sync = chain.lane?.syncs.find((sync) => sync.seq === rec.seq || sync.rec?.seq === rec.seq) ?? null;
      break;
    default:
  }
}

/** Follow the engine's numbers both ways. @param {Store} store @param {Chain} chain */
function spread(store, chain) {
  const isPod = chain.relist?.scope === "pod";
  if (!chain.ask && isPod && chain.relist?.request != null) chain.ask = store.asks.get(chain.relist.request) ?? null;
  if (!chain.stop && chain.ask?.event != null) chain.stop = store.stops.get(chain.ask.event) ?? null;
  if (!chain.ask && chain.stop?.rec.request != null) chain.ask = store.asks.get(chain.stop.rec.request) ?? null;
  if (!chain.find && chain.stop?.find) chain.find = chain.stop.find;
  if (!chain.relist && chain.ask?.end === "executed") chain.relist = store.relists.get(chain.ask.relist ?? -1) ?? null;
  if (!chain.relist && chain.find) chain.relist = store.relists.get(chain.find.rec.relist ?? -1) ?? null;
  const shown = (/** @type {Find} */ find) => find.rec.delivery !== "filtered";
  if (chain.relist) chain.finds = chain.relist.finds.filter(shown);
  if (chain.lane) chain.finds = chain.finds.filter((find) => find.rec.uid === chain.lane?.uid);
  if (!chain.find && chain.relist?.scope === "pod") {
    chain.find = chain.finds.find((find) => find.rec.type === "ContainerDied") ?? chain.finds[0] ?? null;
  }
}

/** What held the request, and what came of the death. @param {Chain} chain @param {Lane} lane */
function follow(chain, lane) {
  const held = chain.ask?.spans.find((span) => span.what === "held");
  if (held) chain.sync ??= lane.syncs.find((sync) => sync.from <= held.from && (sync.to ?? Infinity) >= held.from) ?? null;
  if (chain.find?.rec.type !== "ContainerDied" || chain.find.rec.is_sandbox) return;
  const { t } = chain.find;
  chain.next = lane.syncs.find((sync) => sync.from >= t && sync.from < t + AFTERMATH) ?? null;
  if (!chain.next) return;
  const after = chain.next.from;
  const last = lane.syncs.find((sync) => sync.from > after)?.from ?? Infinity;
  chain.own = lane.relists.find((relist) => relist.source === "post_sync" && relist.from >= after && relist.from < last) ?? null;
  const name = chain.find.rec.container_name;
  chain.started = lane.finds.find((find) => find.t >= after && find.t < t + AFTERMATH
    && find.rec.type === "ContainerStarted" && find.rec.container_name === name) ?? null;
}

/** From when to when the chain goes (ns). @param {Chain} chain @param {number} now @returns {[number, number]} */
export function extent(chain, now) {
  const times = [chain.rec.t];
  if (chain.stop) times.push(chain.stop.t);
  if (chain.find) times.push(chain.find.from ?? chain.find.t, chain.find.t);
  if (chain.ask) times.push(chain.ask.t, ...chain.ask.spans.map((span) => span.to ?? now));
  if (chain.relist) times.push(chain.relist.from, chain.relist.to ?? now);
  return [Math.min(...times), Math.max(...times)];
}

/** Numbers of all records in the chain, for marking them. @param {Chain} chain */
export function members(chain) {
  const seqs = new Set([chain.seq]);
  for (const item of [chain.stop, chain.ask, chain.relist, chain.find, ...chain.finds]) if (item) seqs.add(item.seq);
  return seqs;
}
