// @ts-check
/**
 * A chain told in words: the verdict, and hop by hop what happened when.
 *
 * @typedef {import("./chain.js").Chain} Chain
 * @typedef {{glyph: string, what: string, detail: string, value: string, t: number, seq: number}} Hop
 * @typedef {(string|{b: string})[]} Parts Text with stressed pieces.
 */
import { count, duration, exitMeaning, foundHow, ignoredBecause, knownBy } from "./words.js";

/** The glyph of a finding. @param {import("./types.js").Rec} rec */
export function findGlyph(rec) {
  const how = foundHow(rec);
  switch (rec.type) {
    case "ContainerDied": return `died-${how}`;
    case "ContainerStarted": return `started-${how}`;
    case "ContainerRemoved": return `removed-${how}`;
    case "PodSync": return `sync-${how}`;
    default: return "other";
  }
}

/** @param {string} source */
const BY = (source) => ({
  evented_pleg: "by a hint", post_sync: "by the relist after a sync", post_allocation: "by the relist after a resize", global: "only by the global relist",
})[source] ?? "by a relist";

/** @param {Chain} chain @param {number} now @returns {{verdict: Parts, next: Parts}} */
export function verdict(chain, now) {
  const { find, stop, ask, rec } = chain;
  if (rec.kind === "event_ignored") {
    return { verdict: ["Ignored: " + ignoredBecause(rec.reason) + "."], next: ["A hint that cannot name its pod asks for nothing; the global relist finds what changed."] };
  }
  if (rec.kind === "event_refused") {
    return { verdict: [`Refused: the pod cache had an entry `, { b: duration(rec.behind_ns) }, ` newer than this event (${rec.type}).`], next: ["What it said was not written and not told; the next event or the global relist will tell."] };
  }
  if (find && find.rec.type === "ContainerDied") return died(chain, find);
  if (find?.rec.baseline) return { verdict: [`${find.rec.type}: so it was when plegscope began to watch.`], next: ["The first global relist finds everything; nobody was late."] };
  if (find && foundHow(find.rec) === "event") return { verdict: [`${find.rec.type}: an event was believed, no relist looked.`], next: [`The event said: ${find.rec.old_state}, now ${find.rec.new_state}.`] };
  if (find && foundHow(find.rec) === "calm") {
    return { verdict: [`${find.rec.type}, found by the global relist.`], next: [find.rec.type === "PodSync" ? "It looked again, and nothing else had changed." : "A clean-up asks for nothing, so the poll finds it; nobody was late."] };
  }
  if (find) {
    return { verdict: [`${find.rec.type}, found `, { b: BY(find.rec.source ?? "") }, "."], next: find.rec.old_state ? [`The pod cache had it as ${find.rec.old_state}; now it is ${find.rec.new_state}.`] : [] };
  }
  if (stop && !stop.moot) return { verdict: ["Not noticed yet, ", { b: duration(now - stop.t) }, " after the stop event."], next: pending(chain) };
  if (stop) return { verdict: ["Nothing new: the pod cache knew already that it had stopped."], next: [] };
  if (chain.relist && chain.relist.scope === "global") return global(chain);
  if (ask) return { verdict: [asked(ask)], next: pending(chain) };
  if (chain.relist) return { verdict: ["Listed one pod; nothing had changed."], next: [] };
  if (chain.sync) return { verdict: ["SyncPod: the pod worker is busy; this pod’s relists wait."], next: [] };
  if (rec.kind === "stream_event") return { verdict: [`The runtime said: ${rec.type}.`], next: ["Only stop events ask for a relist."] };
  return { verdict: [rec.meaning || rec.message || rec.text || rec.reason || rec.kind], next: [] };
}

/** @param {Chain} chain @param {import("./lane.js").Find} find */
function died(chain, find) {
  const source = find.rec.source ?? "global";
  if (foundHow(find.rec) === "event") return believed(chain, find);
  if (find.again) return { verdict: ["Told again: its end was known already."], next: [] };
  const held = chain.ask?.spans.some((span) => span.what === "held") ?? false;
  /** @type {Parts} */
  const said = [source === "global" ? "Found " : held ? "Held until a sync ended, then found " : "Found ", BY(source)];
  if (typeof find.rec.after_ns === "number") said.push(", ", { b: duration(find.rec.after_ns) }, " after the stop event.");
  else if (find.rec.since_finished_ns && find.rec.old_state !== "non-existent") said.push(", ", { b: duration(find.rec.since_finished_ns) }, " after it stopped, by the runtime’s clock.");
  else if (find.rec.baseline) said.push(": it had stopped before plegscope began to watch.");
  else if (find.rec.old_state === "non-existent") said.push(": it had stopped before it was first seen.");
  else said.push(".");
  /** @type {Parts} */
  const next = [];
  if (chain.pollT !== null) next.push("The next global relist would have found it ", { b: `${duration(chain.pollT - find.t)} later` }, ".");
  else if (source === "global" && chain.ask?.end === "dropped") next.push("Its relist request was dropped: the queue was full.");
  else if (source === "global" && chain.ask?.end === "skipped") next.push("The request was not needed any more: this global relist had covered it.");
  else if (source === "global" && !chain.stop) next.push("No usable stop event told of it.");
  else if (source === "global") next.push("The global relist was quicker than the request.");
  return { verdict: said, next };
}

/** @param {Chain} chain @param {import("./lane.js").Find} find @returns {{verdict: Parts, next: Parts}} */
function believed(chain, find) {
  if (find.again) return { verdict: ["Told again by a later event: its end was known already."], next: [] };
  /** @type {Parts} */
  const next = chain.pollT === null ? [] : ["The next global relist, which would notice if the event were wrong or lost, is due ", { b: `${duration(chain.pollT - find.t)} later` }, "."];
  return { verdict: ["Believed at once: ", { b: "the event itself" }, " changed the pod cache; no relist looked."], next };
}

/** @param {Chain} chain @returns {{verdict: Parts, next: Parts}} */
function global(chain) {
  const relist = /** @type {import("./lane.js").Relist} */ (chain.relist);
  const done = relist.done;
  if (!done) return { verdict: [`Global relist #${relist.id} has not come back.`], next: [] };
  if (relist.ok === false) return { verdict: [`Global relist #${relist.id} failed.`], next: [done.error ?? ""] };
  return {
    verdict: [`Global relist #${relist.id} took `, { b: duration(done.duration_ns) }, `: ${count(done.pods ?? 0, "pod")}, ${count(done.containers ?? 0, "container")}, ${done.changed ? count(done.changed, "pod") + " changed" : "nothing changed"}.`],
    next: done.withheld ? [`${count(done.withheld, "pod")} withheld because of SyncPod.`] : [],
  };
}

/** @param {import("./lane.js").Ask} ask */
function asked(ask) {
  switch (ask.end) {
    case "dropped": return "Dropped: the queue was full; the request is gone.";
    case "coalesced": return "Coalesced: another request of this pod was held already; one relist serves both.";
    case "skipped": return "Skipped: a newer global relist had already covered it.";
    case "cancelled": return "Cancelled: plegscope was stopping.";
    case "executed": return "A relist of this pod was asked for and carried out.";
    default: return ask.spans[ask.spans.length - 1]?.what === "held" ? "Held until SyncPod ends." : "A relist of this pod waits in the queue.";
  }
}

/** @param {Chain} chain @returns {Parts} */
function pending(chain) {
  if (!chain.ask) return ["It asked for nothing; the next global relist will see."];
  return chain.stop ? [asked(chain.ask)] : chain.ask.event === null ? [`Source ${chain.ask.source}.`] : [];
}

/** What an event claims of an end; a relist looks for itself. @param {import("./types.js").Rec} rec */
function carried(rec) {
  const said = [typeof rec.exit_code === "number" ? `exit ${rec.exit_code}` : "", rec.reason ? `reason ${rec.reason}` : ""].filter(Boolean);
  return said.length ? `; it carried ${said.join(", ")}` : "";
}

/** Every hop with its time; the first is the zero of the others. @param {Chain} chain @returns {Hop[]} */
export function hops(chain) {
  /** @type {Hop[]} */
  const list = [];
  const { stop, ask, relist, find, sync, next, own, started } = chain;
  const zero = stop?.t ?? find?.from ?? ask?.t ?? relist?.from ?? find?.t ?? chain.rec.t;
  const since = (/** @type {number} */ t) => (t === zero ? "0" : `+${duration(t - zero)}`);
  if (stop) {
    const early = stop.rec.latency_ns;
    list.push({ glyph: "stop", what: "Stop event received", detail: `${typeof early === "number" ? `created by the runtime ${duration(early)} ${early < 0 ? "later" : "earlier"}, by its clock` : "from a backlog: older than the stream"}${carried(stop.rec)}`, value: since(stop.t), t: stop.t, seq: stop.seq });
  }
  if (ask) {
    if (ask.known) list.push({ glyph: "wait", what: "Relist asked for", detail: `source ${ask.source}`, value: since(ask.t), t: ask.t, seq: ask.seq });
    for (const span of ask.spans) {
      if (span.what === "held") list.push({ glyph: "held", what: "Held by SyncPod", detail: span.to === null ? "not released yet" : `released after ${duration(span.to - span.from)}`, value: since(span.from), t: span.from, seq: ask.seq });
    }
    if (ask.end && ask.end !== "executed" && ask.endT !== null) {
      const detail = ask.end === "skipped" && ask.relist !== null ? `global relist #${ask.relist} had covered it` : "";
      const glyph = ask.end === "cancelled" ? "dropped" : ask.end;
      list.push({ glyph, what: ask.end[0].toUpperCase() + ask.end.slice(1), detail, value: since(ask.endT), t: ask.endT, seq: ask.endSeq ?? ask.seq });
    }
  }
  if (relist) {
    const done = relist.done;
    const slow = done?.slowest_method ? `, slowest ${done.slowest_method} ${duration(done.slowest_ns)}` : "";
    const glyph = relist.scope === "global" ? "global" : relist.source === "evented_pleg" ? "relist" : "own";
    const what = relist.scope === "global" ? `Global relist #${relist.id}` : "Targeted relist";
    list.push({ glyph, what: `${what} began`, detail: done ? `took ${duration(done.duration_ns)}, ${count(done.calls ?? 0, "call")}${slow}` : "has not come back", value: since(relist.from), t: relist.from, seq: relist.seq });
    if (done && relist.ok === false) list.push({ glyph: "dropped", what: "It failed", detail: done.error ?? "", value: since(done.t), t: done.t, seq: done.seq });
  }
  const finds = chain.lane ? chain.finds : chain.finds.slice(0, 20);
  for (const each of finds.length ? finds : find ? [find] : []) {
    const of = each.rec.is_sandbox ? "of the sandbox" : each.rec.container_name ? `of ${each.rec.container_name}` : "";
    const lost = each.rec.delivery === "discarded" ? "; discarded, the event channel was full" : "";
    list.push({ glyph: findGlyph(each.rec), what: foundHow(each.rec) === "event" ? `${each.rec.type} told` : `${each.rec.type} found`, detail: `${of}${of ? ", " : ""}by ${knownBy(each.rec)}${lost}`, value: since(each.t), t: each.t, seq: each.seq });
  }
  if (find && !list.some((hop) => hop.seq === find.seq)) {
    list.push({ glyph: findGlyph(find.rec), what: find.rec.relist ? `${find.rec.type} found` : `${find.rec.type} told`, detail: `by ${knownBy(find.rec)}${find.rec.relist ? `, relist #${find.rec.relist}` : ""}`, value: since(find.t), t: find.t, seq: find.seq });
  }
  if (sync && !next) list.push({ glyph: "sync", what: "SyncPod", detail: sync.to === null ? "still running" : `took ${duration(sync.to - sync.from)}`, value: since(sync.from), t: sync.from, seq: sync.seq });
  if (next) list.push({ glyph: "sync", what: "SyncPod began", detail: next.to === null ? "still running" : `took ${duration(next.to - next.from)}${next.rec?.held ? `, held ${count(next.rec.held, "request")}` : ""}`, value: since(next.from), t: next.from, seq: next.seq });
  if (own) list.push({ glyph: "own", what: "Relist after sync", detail: own.done ? `took ${duration(own.done.duration_ns)}, source post_sync` : "source post_sync", value: since(own.from), t: own.from, seq: own.seq });
  if (started) list.push({ glyph: findGlyph(started.rec), what: "ContainerStarted found", detail: `restart ${started.rec.attempt ?? 0}, by ${knownBy(started.rec)}`, value: since(started.t), t: started.t, seq: started.seq });
  if (!list.length) list.push({ glyph: "other", what: chain.rec.kind.replaceAll("_", " "), detail: exitDetail(chain.rec), value: since(chain.rec.t), t: chain.rec.t, seq: chain.rec.seq });
  return list.sort((a, b) => a.t - b.t || a.seq - b.seq);
}

/** @param {import("./types.js").Rec} rec */
function exitDetail(rec) {
  return typeof rec.exit_code === "number" ? `exit ${rec.exit_code}, ${exitMeaning(rec.exit_code, rec.reason).short}` : rec.detail ?? "";
}
