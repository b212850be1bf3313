// @ts-check
/**
 * The kinds of marks as the legend knows them: what each means in one line, and what it filters.
 *
 * @typedef {{id: string, glyph: string, name: string, line: string, off?: boolean}} Kind
 */

/** In the order of the legend: said, asked, found, not known. @type {Kind[]} */
export const KINDS = [
  { id: "stop", glyph: "stop", name: "stop events", line: "The runtime said that a container stopped." },
  { id: "ignored", glyph: "ignored", name: "ignored", line: "An event that could not be used." },
  { id: "other", glyph: "other", name: "other events", line: "Created, started, deleted: asks for nothing." },
  { id: "wait", glyph: "wait", name: "waiting", line: "A relist was asked for and is in the queue." },
  { id: "relist", glyph: "relist", name: "relists by a hint", line: "One pod was listed because a hint asked." },
  { id: "own", glyph: "own", name: "after sync", line: "Listed after a sync or a resize: the node's own request." },
  { id: "held", glyph: "held", name: "held", line: "Asked during SyncPod; waits until it ends." },
  { id: "coalesced", glyph: "coalesced", name: "coalesced", line: "Asked while another was held: several become one." },
  { id: "dropped", glyph: "dropped", name: "dropped", line: "The queue was full; the request is gone." },
  { id: "skipped", glyph: "skipped", name: "skipped", line: "A newer global relist had already covered it." },
  { id: "req", glyph: "died-req", name: "found by request", line: "Round: a request found it. Filled ContainerDied, open ContainerStarted, crossed ContainerRemoved." },
  { id: "poll", glyph: "died-poll", name: "found by poll", line: "Square: only the global relist found it." },
  { id: "tail", glyph: "tail", name: "unnoticed", line: "Stopped, but the pod cache still says running." },
  { id: "sync", glyph: "sync", name: "SyncPod", line: "The pod worker is busy; this pod's relists wait." },
  { id: "running", glyph: "running", name: "running", line: "As the pod cache has it; dotted: nothing runs." },
  { id: "global", glyph: "global", name: "global relists", line: "Everything was listed; a band as wide as it took." },
  { id: "down", glyph: "down", name: "stream down", line: "No hints now; rings are tries to connect." },
  { id: "gap", glyph: "hatch", name: "not known", line: "Records lost or not recorded. Hatching means nothing else." },
];

/** The legend's kind of a record, for the table's filter; null: always shown. @param {import("./types.js").Rec} rec */
export function kindOf(rec) {
  switch (rec.kind) {
    case "stream_event": return rec.type === "stopped" ? "stop" : "other";
    case "event_ignored": return "ignored";
    case "request":
    case "request_moved":
      switch (rec.outcome) {
        case "held": return "held";
        case "coalesced": return "coalesced";
        case "dropped": return "dropped";
        case "skipped": return "skipped";
        default: return "wait";
      }
    case "relist_started":
    case "relist_finished":
      return rec.scope === "global" ? "global" : rec.source === "evented_pleg" ? "relist" : "own";
    case "lifecycle": return rec.source === "global" ? "poll" : "req";
    case "sync_started":
    case "sync_finished": return "sync";
    case "stream": return "down";
    case "gap": return "gap";
    default: return null;
  }
}
