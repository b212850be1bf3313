import assert from "node:assert/strict";
import { test } from "node:test";
import { condition, hangsSince } from "../../static/js/condition.js";
import { flat, MS, S, state } from "./kit.mjs";

/** @param {object} [at] */
function say({ engine = {}, more = {}, ...at } = {}) {
  const { word, fact, meaning, action, id, icon } = condition({
    state: state(engine, more), now: 10 * S, link: "open", silence: 0.1 * S, online: true, farewell: "", lagging: 0, usual: 6 * MS, pods: 5,
    downSince: null, opening: false, lost: 0, told: 0, ...at,
  });
  return { id, icon, meaning: meaning.replaceAll("\u00a0", " "), action, text: `${word} ${flat(fact)}` };
}

const health = (/** @type {object} */ more) => ({ health: { healthy: true, message: "", last_start_t: 9.6 * S, threshold_ns: 180 * S, last_seen: null, ...more } });
const stream = (/** @type {object} */ more) => ({ ...health({}), stream: { state: "connected", since_t: 0, meaning: "", policy: "join", attempt: 0, retry_t: null, code: null, detail: "", ...more } });

test("healthy: state, fact, limit", () => {
  assert.equal(say({ engine: health({}) }).text, "Healthy. The last global relist started 0.4 s ago and took 6.9 ms; the limit is 3 min.");
});

test("starting is no fault", () => {
  const { text, icon } = say({ engine: health({ healthy: false, last_start_t: null }) });
  assert.equal(text, "Starting. No relist yet.");
  assert.equal(icon, "waiting");
  // Who looks at a recording has nothing to wait for.
  const played = say({ engine: health({ healthy: false, last_start_t: null }), played: true });
  assert.equal(played.text, "No relist yet. Nothing is known of the pods at this time.");
  assert.match(played.meaning, /Space plays on/);
  assert.equal(say({ state: null }).text, "Starting. Waiting for the first picture.");
});

test("an empty node", () => {
  assert.equal(say({ engine: health({}), pods: 0 }).text, "Healthy. No pods on this node.");
});

test("unhealthy is the only red, and says what a kubelet would do", () => {
  const { text, icon, meaning } = say({ engine: health({ last_start_t: 10 * S - 192 * S }) });
  assert.equal(text, "Unhealthy. No relist began for 3 min 12 s.");
  assert.equal(icon, "bad");
  assert.match(meaning, /Over the limit of 3 min; on a node the kubelet would say NotReady/);
});

test("a hung runtime: age of the oldest call, and when it becomes unhealthy", () => {
  const { text, meaning, icon } = say({ engine: health({ last_start_t: -37 * S }), more: { oldest_call: { method: "ListPodSandbox", since_t: -37 * S, hung: true } } });
  assert.equal(text, "Runtime hung. Oldest call 47 s.");
  assert.match(meaning, /ListPodSandbox has not returned. Unhealthy in 2 min 13 s/);
  assert.equal(icon, "warning");
});

test("a global relist that does not come back is said before anyone calls it hung", () => {
  const running = { relist: 4, scope: "global", source: "global", started: 8 * S, uid: null, duration_ns: null, ok: null, pods: 0, containers: 0 };
  assert.match(say({ engine: { ...health({}), running } }).text, /began 2.0 s ago has not come back/);
  assert.match(say({ engine: { ...health({}), running: { ...running, started: -19 * S } } }).text, /began 29 s ago has not come back/);
  assert.equal(say({ engine: { ...health({}), running: { ...running, started: -25 * S } } }).id, "hung");
  // Its lists have not even come back: a call of it hangs, whether or not a session has looked since.
  const listing = { ...health({ last_start_t: 4 * S }), running: { ...running, started: 4.9 * S } };
  assert.equal(say({ engine: listing }).text, "Runtime hung. Oldest call 5.1 s.");
  assert.match(say({ engine: { ...listing, running: { ...running, started: 5.1 * S } } }).text, /^Healthy\. .* has not come back/);
  assert.equal(say({ engine: { ...listing, ...health({ healthy: false, last_start_t: null }) } }).id, "hung");
  assert.deepEqual([hangsSince(null, 0), hangsSince(state(listing), 10 * S), hangsSince(state(listing), 9 * S)], [null, 4.9 * S, null]);
});

test("one that failed says nothing of how long a relist takes", () => {
  const last_global = { relist: 9, scope: "global", source: "global", started: 9.9 * S, uid: null, duration_ns: 900 * MS, ok: false, pods: 0, containers: 0 };
  assert.equal(say({ engine: { ...health({}), last_global } }).text, "Healthy. The last global relist started 0.4 s ago; the limit is 3 min.");
});

test("the age of the oldest call ticks on with the cursor, and never goes back", () => {
  const more = { oldest_call: { method: "ListPodSandbox", since_t: 3 * S, hung: true } };
  const running = { relist: 4, scope: "global", source: "global", started: 2.9 * S, uid: null, duration_ns: null, ok: null, pods: 0, containers: 0 };
  const at = (/** @type {number} */ now, /** @type {object|null} */ open) => say({ engine: { ...health({}), running: open }, more, now }).text;
  assert.deepEqual([at(9 * S, running), at(9.9 * S, running), at(10.4 * S, null)], [6.0, 6.9, 7.4].map((age) => `Runtime hung. Oldest call ${age.toFixed(1)} s.`));
});

test("relists that fail are said before the limit is reached, one that fails is not", () => {
  const last_global = { relist: 9, scope: "global", source: "global", started: 9.9 * S, uid: null, duration_ns: MS, ok: false, pods: 0, containers: 0 };
  const { id, text, meaning } = say({ engine: { ...health({ last_start_t: -32 * S }), last_global } });
  assert.deepEqual([id, text], ["failing", "Healthy, but relists fail. The last one that came back began 42 s ago."]);
  assert.equal(meaning, "The runtime answers with errors. Unhealthy in 2 min 18 s, if none comes back until then.");
  assert.equal(say({ engine: { ...health({}), last_global } }).id, "healthy");
  const never = { ...health({ healthy: false, last_start_t: null }), last_global };
  assert.match(say({ engine: never, now: 4 * S }).meaning, /^The runtime answers with errors; its lists are asked for again/);
  const unable = say({ engine: never });
  assert.deepEqual([unable.id, unable.icon, unable.text], ["failing", "warning", "No relist succeeds. The runtime answers with errors."]);
  assert.match(unable.meaning, /^On a node the kubelet would say NotReady until one does\./);
  const failing = (/** @type {string|null} */ code) => say({ engine: { ...health({ last_start_t: -32 * S }), last_global: { ...last_global, code } } });
  assert.match(failing("unreachable").meaning, /^The runtime cannot be reached\. Unhealthy in/);
  assert.match(failing("silent").meaning, /^The runtime does not answer in time\./);
  // A recording of an earlier version does not tell.
  for (const code of ["error", null]) assert.match(failing(code).meaning, /^The runtime answers with errors\./);
  assert.equal(failing("stopped").id, "healthy", "the end of plegscope is no failure of the runtime");
});

test("reconnecting counts from the first moment without hints, and says what it costs", () => {
  const { text, meaning } = say({ engine: stream({ state: "waiting", since_t: 9 * S, retry_t: 14 * S, code: "eof" }), downSince: 3.5 * S });
  assert.equal(text, "Reconnecting. Stream down for 6.5 s.");
  assert.equal(meaning, "Next try in 4.0 s. The global relist still finds every stop, up to 1.0 s later.");
});

test("a stream that was given up is not being reconnected: only a restart helps", () => {
  const { text, meaning, action, id } = say({ engine: { ...stream({ state: "closed", since_t: -125 * S, code: "eof" }), profile: "legacy" }, downSince: -130 * S });
  assert.equal(text, "Stream given up 2 min 15 s ago.");
  assert.match(meaning, /profile legacy does not open it again: only a restart does\. The global relist still finds every stop, up to 1\.0 s later/);
  assert.deepEqual([id, action.href], ["given-up", "/help#given-up"]);
});

test("a call that hangs while stop events arrive: the stream is not said to be silent", () => {
  const more = { oldest_call: { method: "ListPodSandbox", since_t: -2 * S, hung: true } };
  const silent = say({ engine: stream({}), more });
  assert.match(silent.meaning, /No stop event has come since; a stream that is open says nothing/);
  const lively = say({ engine: stream({}), more, told: 26 });
  assert.equal(lively.text, "Calls hang, events come. Oldest call 12 s.");
  assert.match(lively.meaning, /26 stop events have come since: the runtime lives/);
  assert.doesNotMatch(lively.meaning, /says nothing/);
  assert.doesNotMatch(say({ engine: stream({ state: "waiting" }), more }).meaning, /stream that is open/);
});

test("a quick try is not worth a sentence", () => {
  assert.equal(say({ engine: stream({ state: "connecting", since_t: 9.5 * S }) }).id, "healthy");
});

test("the session's first try to connect is no loss", () => {
  const engine = stream({ state: "connecting", since_t: 6 * S });
  assert.equal(say({ engine, downSince: 6 * S }).id, "stream-down");
  assert.equal(say({ engine, downSince: 6 * S, opening: true }).id, "healthy");
});

test("polling only: no stream, or for the node's safety with the flag", () => {
  const none = say({ engine: stream({ state: "waiting", code: "unimplemented", meaning: "containerd 1.6 answers Unimplemented.", retry_t: 70 * S }) });
  assert.equal(none.text, "Polling only. This runtime has no event stream.");
  const twice = say({ engine: stream({ state: "waiting", code: "unimplemented", meaning: "This runtime has no event stream. Polling finds every change." }) });
  assert.match(twice.meaning, /^Polling finds every change\. PLEG is healthy/);
  assert.match(none.meaning, /Next try in 1 min. PLEG is healthy: the last global relist/);
  const safe = say({ engine: stream({ state: "off", policy: "relist_only" }), more: { runtime: { reason: "containerd 1.7 shares one channel" } } });
  assert.equal(safe.text, "Polling only, for the node’s safety.");
  assert.match(safe.meaning, /^containerd 1.7 shares one channel\./);
  assert.equal(safe.action.text, "What joining costs");
});

test("slow compared with this node's usual", () => {
  const last_global = { relist: 1, scope: "global", source: "global", started: 0, uid: null, duration_ns: 410 * MS, ok: true, pods: 1, containers: 1 };
  assert.equal(say({ engine: { ...health({}), last_global }, usual: 6.8 * MS }).text, "Healthy, but slow. Relists take 410 ms, 60× this node’s usual.");
  assert.equal(say({ engine: { ...health({}), last_global }, usual: 100 * MS }).id, "healthy");
});

test("slowed down, lagging, gone, offline", () => {
  assert.equal(say({ engine: { ...health({}), pace_ns: 4 * S } }).text, "Healthy, slowed down. A global relist every 4.0 s instead of 1.0 s.");
  assert.equal(say({ engine: health({}), lagging: 214 }).text, "You are lagging. This page skipped 214 records.");
  assert.match(say({ engine: health({}), lagging: 214 }).meaning, /nothing is missing in it/);
  assert.match(say({ engine: health({}), lagging: 214, lost: 60 }).meaning, /60 records are not known here: hatched/);
  const gone = say({ engine: health({}), link: "waiting", silence: 12 * S, farewell: "plegscope ends." });
  assert.equal(gone.text, "plegscope is gone. Last heard 12 s ago; trying now.");
  assert.equal(gone.meaning, "plegscope ends. The picture is frozen, not live.");
  assert.match(say({ engine: health({}), link: "waiting", silence: 12 * S }).meaning, /Start plegscope again if it was stopped\.$/);
  assert.match(say({ engine: health({}), link: "waiting", silence: 12 * S, online: false }).text, /^This browser is offline/);
});

test("without a connection: when it is tried next, and what tries at once", () => {
  const lost = { engine: health({}), link: "waiting", silence: 12 * S };
  const says = (/** @type {object} */ more) => say({ ...lost, ...more }).text.replaceAll("\u00a0", " ");
  assert.equal(says({ next: 3.2 * S }), "plegscope is gone. Last heard 12 s ago; next try in 4 s.");
  assert.equal(says({ next: 0 }), "plegscope is gone. Last heard 12 s ago; next try in 1 s.");
  assert.equal(says({ next: null }), "plegscope is gone. Last heard 12 s ago; trying now.");
  assert.equal(says({ next: 8 * S, online: false }), "This browser is offline. Last heard 12 s ago; next try in 8 s.");
  assert.equal(says({ state: null, next: 2 * S }), "plegscope does not answer. Next try in 2 s.");
  assert.equal(says({ link: "open" }), "plegscope is gone. Last heard 12 s ago; the connection is open still.");
  const barred = say({ ...lost, barred: true });
  assert.deepEqual([barred.id, barred.text], ["barred", "plegscope was started again. This page is of the start before; last heard 12 s ago."]);
  for (const more of [{}, { online: false }, { state: null }]) assert.deepEqual({ ...say({ ...lost, ...more }).action, href: "" }, { text: "Try now", href: "", act: "hurry", key: "r" });
});

test("the worst comes first: a hung runtime before a stream that is down", () => {
  assert.equal(say({ engine: stream({ state: "waiting", code: "eof" }), more: { oldest_call: { method: "Version", since_t: 1 * S, hung: true } } }).id, "hung");
});

test("a recorder in trouble is said with what is missing, before anything that stays as it is", () => {
  const recording = { well: false, trouble: "no space left on device", file: "", bytes_total: 0, bytes_per_s: 0, cpu: 0, lost: 1204 };
  const { id, icon, text, meaning, action } = say({ engine: stream({ state: "off", policy: "relist_only" }), more: { recording } });
  assert.deepEqual([id, icon, text], ["recording-stopped", "warning", "Recording stopped. No space left on device."]);
  assert.match(meaning, /1,204 things are not in the file\. PLEG is healthy/);
  assert.deepEqual([action.text, action.href], ["Choose another place", "/help#recording-stopped"]);
  assert.equal(say({ engine: health({}), more: { recording: { ...recording, well: true } } }).id, "healthy");
});

test("a recording's end and a time between two: what can be done, and where it is explained", () => {
  const end = say({ engine: health({}), more: { ended: true } });
  assert.deepEqual([end.id, end.action.act, end.action.text], ["recorded", "start", "Back to the start"]);
  const between = say({ engine: health({}), more: { unrecorded: { from: 5 * S, to: 100 * S } } });
  assert.deepEqual([between.id, between.action.href, between.text], ["unrecorded", "/help#unrecorded", "Not recorded. The recording before ended 5.0 s ago, the next begins in 1 min 30 s."]);
  const edge = (/** @type {string} */ which) => say({ engine: health({}), more: { unrecorded: { from: 5 * S, to: 100 * S, edge: which } } }).text;
  assert.equal(edge("before"), "Not recorded. What is recorded of this node begins in 1 min 30 s.");
  assert.equal(edge("after"), "Not recorded. What is recorded of this node ended 5.0 s ago.");
});

test("the end of what is played: how it was then, and what can be done", () => {
  const ending = { length: 125 * S, whole: true, read: 1, incidents: 2 };
  const at = (/** @type {object} */ more, engine = health({})) => condition(/** @type {any} */ ({
    state: state(engine, {}), now: 10 * S, link: "open", silence: 0, online: true, farewell: "", lagging: 0, usual: 6 * MS, pods: 5,
    downSince: null, opening: false, lost: 0, told: 0, ending: { ...ending, ...more },
  }));
  const { id, word, fact, meaning, action, also, was } = at({});
  assert.equal(`${word} ${flat(fact)}`, "End of the recording. It tells of 2 min 5 s.");
  assert.match(meaning, /^At its end: Healthy\. The last global relist had started 0\.4\u00a0s before/);
  assert.deepEqual([id, action?.act, action?.key, also?.act, also?.key, was?.id], ["recorded", "start", "Home", "incident", "E", "healthy"]);
  assert.match(at({}, health({ last_start_t: -192 * S })).meaning, /^At its end: Unhealthy\./);
  assert.equal(at({ incidents: 0 }).also, null);
  assert.equal(`${at({ what: "run" }).word} ${flat(at({ what: "run" }).fact)}`, "End of the run. It was played for 2 min 5 s.");
  assert.match(`${at({ whole: false, read: 0.72 }).word} ${flat(at({ whole: false, read: 0.72 }).fact)}`, /^Read up to here\. 72.% of the recording; more is on its way\.$/);
});

test("what cannot be played says why", () => {
  const { id, text, action } = say({ state: null, trouble: "plegscope does not answer" });
  assert.deepEqual([id, text, action.act], ["unplayed", "Not played. plegscope does not answer.", "hurry"]);
  assert.match(say({ engine: health({}), trouble: "It is gone." }).meaning, /what was here before/);
});

test("a stream that ended with plegscope was not given up", () => {
  const closed = stream({ state: "closed", code: null });
  assert.equal(say({ engine: closed }).id, "healthy");
  assert.equal(say({ engine: stream({ state: "closed", code: "eof" }) }).id, "given-up");
});

test("each state but the healthy one says what one can do", () => {
  for (const at of [{ pods: 0 }, { lagging: 3 }, { link: "waiting", silence: 9 * S }, { link: "waiting", silence: 9 * S, online: false }, { state: null }, { state: null, link: "waiting", silence: 9 * S }]) {
    assert.ok(say({ engine: health({}), ...at }).action.text);
  }
});

test("no sentence shouts", () => {
  for (const at of [{}, { pods: 0 }, { lagging: 3 }, { link: "waiting", silence: 9 * S }]) {
    const { text, meaning } = say({ engine: health({}), ...at });
    assert.ok(!`${text}${meaning}`.includes("!"));
  }
});
