import assert from "node:assert/strict";
import { test } from "node:test";
import { Reel } from "../../static/js/reel.js";

const FIRST = /** @type {any} */ ({
  session: "r", wall: 1000, last_seq: 0, faults: [], runtime: null,
  engine: { t: 0, pods: 0, requests: { queued: 0, skipped: 0 }, queue: { length: 0 } },
});

/** A run in which each record adds a pod, and every third a request. @param {number} count */
function reel(count) {
  const records = Array.from({ length: count }, (_, i) => /** @type {any} */ ({ kind: i === 4 ? "runtime" : "note", seq: i + 1, t: (i + 1) * 10, wall: 1000 + (i + 1) * 10, name: "containerd" }));
  /** @type {import("../../static/js/reel.js").Change[]} */
  const changes = records.map((rec) => [rec.seq, { pods: rec.seq, ...(rec.seq % 3 ? {} : { "requests.queued": rec.seq / 3 }), ...(rec.seq === 300 ? { faults: [{ number: 1 }], queue: { length: 9 } } : {}) }]);
  return new Reel(FIRST, changes, records);
}

test("every moment adds up from what each record changed", () => {
  const whole = reel(1000);
  for (const seq of [0, 1, 2, 3, 255, 256, 257, 299, 300, 301, 999, 1000]) {
    const state = whole.at(seq, seq * 10 + 3);
    assert.equal(state.engine.pods, seq);
    assert.equal(state.engine.requests.queued, Math.floor(seq / 3));
    assert.equal(state.engine.requests.skipped, 0);
    assert.equal(state.engine.t, seq * 10 + 3);
    assert.equal(state.wall, 1000 + seq * 10 + 3);
    assert.equal(state.last_seq, seq);
    assert.deepEqual(state.faults?.length, seq >= 300 ? 1 : 0);
    assert.equal(state.engine.queue.length, seq >= 300 ? 9 : 0);
    assert.equal(state.runtime?.name, seq >= 5 ? "containerd" : undefined);
  }
});

test("asking back and forth changes nothing", () => {
  const whole = reel(1000);
  const late = JSON.stringify(whole.at(900, 9000));
  const early = JSON.stringify(whole.at(3, 30));
  for (const seq of [1000, 0, 512, 3, 900]) whole.at(seq, seq * 10);
  assert.equal(JSON.stringify(whole.at(900, 9000)), late);
  assert.equal(JSON.stringify(whole.at(3, 30)), early);
  assert.deepEqual(FIRST.engine.requests, { queued: 0, skipped: 0 });
});

test("a call that hangs is told from when it does, until it is over", () => {
  const records = [1, 2, 3, 4].map((seq) => /** @type {any} */ ({ kind: "note", seq, t: seq * 10, wall: seq * 10 }));
  const call = { method: "ListPodSandbox", since_t: 5, hung: true };
  const whole = new Reel(FIRST, [[2, { oldest_call: call }], [4, { oldest_call: null }]], records);
  assert.deepEqual([0, 1, 2, 3, 4].map((seq) => whole.at(seq, seq * 10).oldest_call), [null, null, call, call, null]);
});

test("a run without records has its first state", () => {
  assert.equal(new Reel(FIRST, [], []).at(0, 5).engine.pods, 0);
});
