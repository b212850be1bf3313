// @ts-check
/**
 * A record as a row of the table: the canvas's equal, in words.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {{glyph: string, what: string, by: string, after: string, detail: string}} Cells
 */
import { findGlyph } from "./story.js";
import { count, duration, exitMeaning, ignoredBecause, knownBy, lateBy } from "./words.js";
import { kindOf } from "./marks.js";
import { matches } from "./lineup.js";

/** Whether the record tells of a change; the rest is shown on demand. @param {Rec} rec */
export function isNews(rec) {
  switch (rec.kind) {
    case "lifecycle": return rec.delivery !== "filtered";
    case "stream_event": return rec.type === "stopped";
    case "request": return rec.outcome === "held" || rec.outcome === "dropped" || rec.outcome === "coalesced";
    case "request_moved": return rec.outcome === "skipped" || rec.outcome === "dropped" || rec.outcome === "coalesced";
    case "relist_finished": return rec.ok === false;
    case "relist_started": case "relist_listed": case "pod_cached": case "pod_uncached": case "cache_time": case "running_moved": case "sync_started": case "sync_finished": return false;
    case "stream": return !rec.renewed;
    default: return true;
  }
}

/** @param {string|undefined|null} text */
const upper = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");

/** @param {Rec} rec @returns {Cells} */
export function cells(rec) {
  const blank = { glyph: "other", what: rec.kind.replaceAll("_", " "), by: "", after: "", detail: "" };
  switch (rec.kind) {
    case "lifecycle": return lifecycle(rec);
    case "stream_event": {
      const who = rec.is_sandbox ? "sandbox" : rec.container_name ?? "";
      const exit = typeof rec.exit_code === "number" ? `, exit ${rec.exit_code}` : "";
      return { ...blank, glyph: rec.type === "stopped" ? "stop" : "other", what: rec.type === "stopped" ? "Stop event" : `Event: ${rec.type}`, detail: `${who}${exit}${rec.backlog ? "; from a backlog" : ""}` };
    }
    case "event_ignored": return { ...blank, glyph: "ignored", what: `Ignored event: ${rec.type}`, detail: ignoredBecause(rec.reason) };
    case "event_refused": return { ...blank, glyph: "ignored", what: `Refused event: ${rec.type}`, detail: `the pod cache had an entry ${duration(rec.behind_ns)} newer` };
    case "cache_time": return { ...blank, what: "Cache time moved", detail: "by the ticker that stands in for the slow global relist" };
    case "running_moved": return { ...blank, what: "Running gauges moved", detail: "by an event that was believed" };
    case "request":
    case "request_moved": {
      const kind = kindOf(rec) ?? "wait";
      const what = { held: "Request held", coalesced: "Request coalesced", dropped: "Request dropped", skipped: "Request skipped", released: "Request released", cancelled: "Request cancelled", queued: "Relist asked for" }[rec.outcome ?? "queued"];
      return { ...blank, glyph: kind, what, detail: `source ${rec.source}; ${count(rec.depth ?? 0, "request")} in the queue${rec.relist ? rec.outcome === "skipped" ? `; covered by global relist #${rec.relist}` : `; result of relist #${rec.relist} withheld` : ""}` };
    }
    case "relist_started": return { ...blank, glyph: kindOf(rec) ?? "relist", what: rec.scope === "global" ? `Global relist #${rec.relist} began` : "Targeted relist began", detail: `source ${rec.source}${rec.waited_ns && rec.waited_ns >= 1e3 ? `, waited ${duration(rec.waited_ns)}` : ""}` };
    case "relist_listed": return { ...blank, glyph: "global", what: `Global relist #${rec.relist} had its list`, after: duration(rec.t - (rec.started ?? rec.t)), detail: "health is renewed; changed pods are inspected" };
    case "relist_finished": {
      const what = `${rec.scope === "global" ? `Global relist #${rec.relist}` : "Targeted relist"} ${rec.ok === false ? "failed" : "ended"}`;
      const changed = rec.changed ? `${count(rec.changed, "pod")} changed` : "nothing changed";
      return { ...blank, glyph: rec.ok === false ? "dropped" : kindOf(rec) ?? "relist", what, after: duration(rec.duration_ns), detail: rec.ok === false ? rec.error ?? "" : `${changed}, ${count(rec.calls ?? 0, "call")}` };
    }
    case "sync_started": return { ...blank, glyph: "sync", what: "SyncPod began" };
    case "sync_finished": return { ...blank, glyph: "sync", what: `SyncPod ${rec.failed ? "failed" : "ended"}`, after: duration(rec.duration_ns), detail: rec.held ? `${count(rec.held, "request")} had waited` : "" };
    case "stream": return { ...blank, glyph: rec.state === "connected" ? "stream" : rec.state === "off" ? "alone" : "down", what: rec.renewed ? "Stream renewed" : `Stream ${rec.state}`, detail: rec.meaning ?? "" };
    case "gap": return { ...blank, glyph: "hatch", what: "Not known", after: duration(rec.t - (rec.from_t ?? rec.t)), detail: `${count(rec.count ?? 0, "record")} lost (${rec.hop}): ${rec.reason}` };
    case "health": return { ...blank, glyph: rec.healthy ? "ok" : "bad", what: rec.healthy ? "PLEG healthy" : "PLEG unhealthy", detail: rec.message ?? "" };
    case "pace": return { ...blank, glyph: "global", what: "Pace changed", detail: `a global relist every ${duration(rec.period_ns)}; ${rec.reason}` };
    case "retuned": return { ...blank, glyph: "global", what: "Period changed", detail: `a global relist every ${duration(rec.period_ns)}, healthy within ${duration(rec.threshold_ns)}` };
    case "runtime_hung": return { ...blank, glyph: rec.hung ? "warning" : "ok", what: rec.hung ? "Runtime hung" : "Runtime answers again", detail: `${rec.method}, ${duration(rec.age_ns)}` };
    case "note": return { ...blank, glyph: rec.level === "warning" ? "warning" : "other", what: "Note", detail: rec.text ?? "" };
    case "pod_seen": return { ...blank, glyph: "running", what: "Pod seen" };
    case "pod_gone": return { ...blank, glyph: "quiet", what: "Pod gone" };
    case "pod_cached": return { ...blank, glyph: "running", what: "Pod cache updated", detail: rec.error || `${count(Array.isArray(rec.containers) ? rec.containers.length : 0, "container")}, ${rec.relist ? `relist #${rec.relist}` : "as an event said"}` };
    case "pod_uncached": return { ...blank, glyph: "quiet", what: "Pod cache entry deleted" };
    case "runtime": return { ...blank, what: "Runtime answered", detail: `${rec.name} ${rec.version}; ${rec.reason}` };
    case "watching": return { ...blank, what: "Watching began", detail: `profile ${rec.profile}, global relist every ${duration(rec.period_ns)}` };
    default: return { ...blank, what: upper(blank.what), detail: rec.message ?? "" };
  }
}

/** @param {Rec} rec @returns {Cells} */
function lifecycle(rec) {
  const late = typeof rec.after_ns === "number" ? rec.after_ns : rec.old_state === "running" && rec.type === "ContainerDied" ? rec.since_finished_ns : null;
  const exit = rec.type === "ContainerDied" && typeof rec.exit_code === "number" ? `${rec.exit_code}, ${exitMeaning(rec.exit_code, rec.reason).short}` : "";
  const who = rec.is_sandbox ? "sandbox" : rec.container_name ?? "";
  const first = rec.baseline ? "there from the beginning" : "";
  const lost = rec.delivery === "discarded" ? "discarded, channel full" : "";
  return {
    glyph: findGlyph(rec), what: rec.type ?? "", by: knownBy(rec), after: typeof late === "number" ? lateBy(late) : "",
    detail: [exit, who, first, lost].filter(Boolean).join(" · "),
  };
}

/**
 * The records for the table, newest first, or pod by pod and newest first of each.
 * @param {import("./store.js").Store} store
 * @param {{
 *   filter: string, off: Set<string>, all: boolean, until: number, near?: [number, number]|null,
 *   order?: ((lanes: Iterable<import("./lane.js").Lane>) => import("./lane.js").Lane[])|null
 * }} want `until`: no newer ones (seq); `near`: only of this time (ns); `order`: of the pods
 */
export function pick(store, want) {
  const rows = [];
  for (let i = store.records.length - 1; i >= 0; i -= 1) {
    const rec = store.records[i];
    if (rec.seq > want.until || (want.near && rec.t > want.near[1])) continue;
    if (want.near && rec.t < want.near[0]) break;
    if (!want.all && !isNews(rec)) continue;
    const kind = kindOf(rec);
    if (kind && want.off.has(kind)) continue;
    const lane = rec.uid ? store.lanes.get(rec.uid) ?? null : null;
    if (want.filter && !(lane && matches(lane, want.filter))) continue;
    rows.push({ rec, lane });
  }
  if (!want.order) return rows;
  const lanes = new Set(rows.flatMap(({ lane }) => lane ?? []));
  const place = new Map(want.order(lanes).map((lane, i) => [lane, i]));
  const at = (/** @type {{lane: import("./lane.js").Lane|null}} */ { lane }) => (lane ? place.get(lane) ?? Infinity : Infinity);
  return rows.sort((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b)));
}
