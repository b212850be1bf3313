import assert from "node:assert/strict";
import { test } from "node:test";
import { chainOf, extent, members } from "../../static/js/chain.js";
import { findGlyph, hops, verdict } from "../../static/js/story.js";
import { flat, MS, Play, row, S, stored } from "./kit.mjs";

const NOW = 60_000 * MS;

/** @param {Play} play @param {number} seq */
function told(play, seq, pods = [row("a")]) {
  const store = stored(play, pods);
  const chain = chainOf(store, seq);
  const { verdict: said, next } = verdict(chain, NOW);
  return { chain, said: flat(said), next: flat(next), hops: hops(chain).map((hop) => `${hop.what} ${hop.value}`.replaceAll("\u00a0", " ")) };
}

test("from whichever mark, the same chain", () => {
  const play = new Play();
  play.pod(0, "a");
  play.hint(100, "a");
  const store = stored(play, [row("a")]);
  const kinds = ["stream_event", "request", "relist_started", "relist_finished", "lifecycle"];
  for (const rec of play.records.filter((each) => kinds.includes(each.kind))) {
    const chain = chainOf(store, rec.seq);
    assert.deepEqual([chain.stop?.rec.event, chain.ask?.id, chain.relist?.id, chain.find?.rec.type], [1, 1, 1, "ContainerDied"], rec.kind);
  }
});

test("found by a hint: how late, and what polling would have cost", () => {
  const play = new Play();
  const { found } = play.hint(100, "a");
  const { said, next, hops: list } = told(play, found.seq);
  assert.equal(said, "Found by a hint, 5.0 ms after the stop event.");
  assert.equal(next, "The next global relist would have found it 695 ms later.");
  assert.deepEqual(list, ["Stop event received 0", "Relist asked for 0", "Targeted relist began +3.0 ms", "ContainerDied found +5.0 ms"]);
});

test("dropped: only the poll found it", () => {
  const play = new Play();
  const { event } = play.stop(100, "a", { outcome: "dropped" });
  play.begin(740);
  const found = play.found(740, "a", "ContainerDied", { event, stop_t: 100 * MS, after_ns: 640 * MS });
  play.end(745, 740);
  const { said, next, chain } = told(play, found.seq);
  assert.equal(said, "Found only by the global relist, 640 ms after the stop event.");
  assert.match(next, /dropped: the queue was full/);
  assert.equal(chain.pollT, null);
});

test("held until a sync ended", () => {
  const play = new Play();
  play.rec("sync_started", 10, { uid: "a" });
  const { event, request } = play.stop(100, "a", { outcome: "held" });
  play.moved(2000, "a", "released", { request });
  play.rec("sync_finished", 2000, { uid: "a", duration_ns: 1990 * MS, did_work: true, failed: false, held: 1 });
  play.begin(2001, { scope: "pod", source: "evented_pleg", uid: "a", request });
  const found = play.found(2003, "a", "ContainerDied", { source: "evented_pleg", request, event, stop_t: 100 * MS, after_ns: 1903 * MS });
  const { said, chain, hops: list } = told(play, found.seq);
  assert.equal(said, "Held until a sync ended, then found by a hint, 1.9 s after the stop event.");
  assert.equal(chain.sync.from, 10 * MS);
  assert.ok(list.includes("Held by SyncPod 0"));
});

test("what came of a death: SyncPod, the relist after it, the restart", () => {
  const play = new Play();
  const { found } = play.hint(100, "a");
  play.rec("sync_started", 108, { uid: "a" });
  play.rec("sync_finished", 2900, { uid: "a", duration_ns: 2792 * MS, did_work: true, failed: false, held: 0 });
  const request = play.ask(2900, "a");
  play.begin(2901, { scope: "pod", source: "post_sync", uid: "a", request });
  play.found(2904, "a", "ContainerStarted", { source: "post_sync", container_id: "a-d", attempt: 1 });
  play.end(2904, 2901, { scope: "pod", source: "post_sync", uid: "a", request, changed: 1 });
  const { hops: list } = told(play, found.seq);
  assert.deepEqual(list.slice(-3), ["SyncPod began +8.0 ms", "Relist after sync +2.8 s", "ContainerStarted found +2.8 s"]);
});

test("not noticed yet, and by the runtime's clock", () => {
  const play = new Play();
  const stop = play.stop(59_000, "a");
  assert.equal(told(play, stop.seq).said, "Not noticed yet, 1.0 s after the stop event.");
  const polled = new Play();
  polled.begin(1000);
  const found = polled.found(1004, "a", "ContainerDied", { since_finished_ns: 700 * MS });
  const { said, next } = told(polled, found.seq);
  assert.equal(said, "Found only by the global relist, 700 ms after it stopped, by the runtime’s clock.");
  assert.equal(next, "No usable stop event told of it.");
});

test("skipped, coalesced, ignored and moot say why nothing happened", () => {
  const play = new Play();
  const skipped = play.moved(60, "a", "skipped", { request: 3, relist: 9 });
  assert.match(told(play, skipped.seq).said, /^Skipped: a newer global relist/);
  const coalesced = play.moved(61, "a", "coalesced", { request: 4 });
  assert.match(told(play, coalesced.seq).said, /^Coalesced/);
  const ignored = play.rec("event_ignored", 70, { event: 8, type: "stopped", container_id: "x", reason: "missing_uid" });
  assert.equal(told(play, ignored.seq).said, "Ignored: it names no pod.");
  const moot = play.stop(80, "b", { backlog: true });
  assert.match(told(play, moot.seq).said, /^Nothing new/);
});

test("a global relist tells what it listed", () => {
  const play = new Play();
  const done = play.global(100, 7);
  assert.equal(told(play, done.seq).said, "Global relist #1 took 7.0 ms: 1 pod, 1 container, nothing changed.");
  play.begin(2000);
  const failed = play.end(2100, 2000, { ok: false });
  assert.equal(told(play, failed.seq).next, "it failed");
});

test("what the first relist found was not late", () => {
  const play = new Play();
  play.begin(0);
  const found = play.found(4, "a", "ContainerDied", { old_state: "non-existent", baseline: true, since_finished_ns: 9e12 });
  assert.match(told(play, found.seq).said, /had stopped before plegscope began/);
});

test("a believed event says that nobody looked, a refused one why, a clean-up that nobody was late", () => {
  const play = new Play();
  const died = play.found(60, "a", "ContainerDied", { source: "evented_pleg", relist: 0, poll_due_t: 240 * S });
  const again = play.found(900, "a", "ContainerDied", { source: "evented_pleg", relist: 0 });
  const refused = play.rec("event_refused", 950, { uid: "a", type: "stopped", container_id: "a-c", behind_ns: 4 * MS });
  play.begin(990);
  const gone = play.found(999, "a", "ContainerRemoved");
  const store = stored(play);
  const told = (/** @type {any} */ rec) => { const { verdict: said, next } = verdict(chainOf(store, rec.seq), NOW); return flat([...said, " ", ...next]); };
  assert.match(told(died), /^Believed at once: the event itself changed the pod cache; no relist looked\. .* due 4 min later\.$/);
  assert.match(told(again), /^Told again/);
  assert.match(told(refused), /^Refused: the pod cache had an entry 4\.0 ms newer than this event \(stopped\)\./);
  assert.match(told(gone), /^ContainerRemoved, found by the global relist\. A clean-up/);
  assert.ok(hops(chainOf(store, died.seq)).some((hop) => hop.what === "ContainerDied told" && hop.detail.includes("believed event")));
});

test("the extent covers the chain, and members are its records", () => {
  const play = new Play();
  const { stop, found } = play.hint(100, "a");
  const chain = chainOf(stored(play), found.seq);
  assert.deepEqual(extent(chain, NOW), [100 * MS, 105 * MS]);
  const seqs = members(chain);
  assert.ok(seqs.has(stop.seq) && seqs.has(found.seq));
});

test("a record that is not kept has no chain", () => {
  assert.equal(chainOf(stored(new Play()), 12), null);
});

test("round for a request, square for the poll", () => {
  const glyphs = ["ContainerDied", "ContainerStarted", "ContainerRemoved", "PodSync", "ContainerChanged"].map((type) => findGlyph(/** @type {any} */ ({ type, source: "global" })));
  assert.deepEqual(glyphs, ["died-poll", "started-poll", "removed-calm", "sync-calm", "other"]);
  assert.equal(findGlyph(/** @type {any} */ ({ type: "ContainerStarted", source: "global", baseline: true })), "started-calm");
  assert.equal(findGlyph(/** @type {any} */ ({ type: "ContainerDied", source: "evented_pleg", relist: 0 })), "died-event");
  assert.equal(findGlyph(/** @type {any} */ ({ type: "ContainerDied", source: "post_sync" })), "died-req");
});
