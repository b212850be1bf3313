// @ts-check
/**
 * The kinds of marks as the legend knows them: what each means in one line, and what it filters.
 *
 * @typedef {{id: string, glyph: string, name: string, short?: string, line: string}} Kind
 *   `short`: its name where there is little room.
 */

import { foundHow } from "./words.js";

/** In the order of the legend: said, asked, found, not known. @type {Kind[]} */
export const KINDS = [
  { id: "stop", glyph: "stop", name: "stop events", short: "stops", line: "The runtime said that a container stopped. Pods’ sandboxes are counted as well." },
  { id: "ignored", glyph: "ignored", name: "ignored", line: "An event that could not be used, or that the pod cache refused." },
  { id: "other", glyph: "other", name: "other events", line: "Created, started, deleted: asks for nothing." },
  { id: "wait", glyph: "wait", name: "waiting", line: "A relist was asked for and is in the queue." },
  { id: "relist", glyph: "relist", name: "relists by a hint", short: "hint relists", line: "One pod was listed because a hint asked." },
  { id: "own", glyph: "own", name: "relists after sync", short: "sync relists", line: "Listed after a sync or a resize: the node’s own request." },
  { id: "held", glyph: "held", name: "held", line: "Asked during SyncPod; waits until it ends." },
  { id: "coalesced", glyph: "coalesced", name: "coalesced", line: "Asked while another was held: several become one." },
  { id: "dropped", glyph: "dropped", name: "dropped", line: "The queue was full; the request is gone." },
  { id: "skipped", glyph: "skipped", name: "skipped", line: "A newer global relist had already covered it." },
  { id: "req", glyph: "died-req", name: "found by request", short: "found", line: "Round: a request found it. Filled ContainerDied, open ContainerStarted, crossed ContainerRemoved." },
  { id: "poll", glyph: "died-poll", name: "found by poll", short: "by poll", line: "Amber square: only the global relist found it, later than a hint would have." },
  { id: "calm", glyph: "removed-calm", name: "by poll, in time", line: "Grey square: the global relist found it and nobody was late: a clean-up, or there from the beginning." },
  { id: "event", glyph: "died-event", name: "believed", line: "Triangle: an event was believed; no relist looked." },
  { id: "tail", glyph: "tail", name: "unnoticed", line: "Stopped, but the pod cache still says running." },
  { id: "sync", glyph: "sync", name: "SyncPod", line: "The pod worker is busy; this pod’s relists wait." },
  { id: "running", glyph: "running", name: "running", line: "As the pod cache has it; dotted: nothing runs." },
  { id: "global", glyph: "global", name: "global relists", line: "Everything was listed; a band as wide as it took." },
  { id: "down", glyph: "down", name: "stream down", line: "No hints now; rings are tries to connect." },
  { id: "gap", glyph: "hatch", name: "not known", line: "Records lost, not recorded, or not read yet. Hatching means nothing else." },
];

/** The legend's kind of a record, for the table's filter; null: always shown. @param {import("./types.js").Rec} rec */
export function kindOf(rec) {
  switch (rec.kind) {
    case "stream_event": return rec.type === "stopped" ? "stop" : "other";
    case "event_ignored":
    case "event_refused": return "ignored";
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
    case "lifecycle": return foundHow(rec);
    case "sync_started":
    case "sync_finished": return "sync";
    case "stream": return "down";
    case "gap": return "gap";
    default: return null;
  }
}

/** How a kind is called beside a number: of one event, stop or relist in the singular. @param {string} name @param {number} n */
export function counted(name, n) {
  return n === 1 ? name.replace(/\b(event|stop|relist)s\b/, "$1") : name;
}
