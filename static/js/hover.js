// @ts-check
/** The title of the mark under the pointer or the keyboard's cursor, in a few words. */
import { chainOf } from "./chain.js";
import { cells } from "./rows.js";
import { verdict } from "./story.js";

/** @param {import("./store.js").Store} store @param {import("./layout.js").Item} item @param {number} now @param {(wall: number) => string} time */
export function title(store, item, now, time) {
  const rec = item.seq ? store.record(item.seq) : null;
  if (!rec) return item.text ?? "";
  const lane = rec.uid ? store.lanes.get(rec.uid) : null;
  const { what, detail } = cells(rec);
  const chain = chainOf(store, rec.seq);
  const flat = chain && (chain.find || chain.stop || chain.ask)
    ? verdict(chain, now).verdict.map((part) => (typeof part === "string" ? part : part.b)).join("") : "";
  return [time(rec.wall), lane?.label ?? "", what, detail, flat].filter(Boolean).join(" · ");
}
