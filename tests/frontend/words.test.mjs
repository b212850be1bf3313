import assert from "node:assert/strict";
import { test } from "node:test";
import { age, bytes, count, duration, exitMeaning, foundBy, foundHow, ignoredBecause, knownBy, lateBy, median, quantile, recordingWords, splitName, timeOfDay, zone, sentence } from "../../static/js/words.js";

const plain = (text) => text.replaceAll("\u00a0", " ");

test("durations have two significant digits and a unit", () => {
  const said = [0, 17e3, 0.32e6, 6.94e6, 9.96e6, 640e6, 999.4e6, 999.6e6, 1.234e9, 9.96e9, 47e9, 59.6e9, 192e9, 180e9, 8040e9, 90000e9].map((ns) => plain(duration(ns)));
  assert.deepEqual(said, ["0 µs", "17 µs", "0.32 ms", "6.9 ms", "10 ms", "640 ms", "999 ms", "1.0 s", "1.2 s", "10 s", "47 s", "1 min", "3 min 12 s", "3 min", "2 h 14 min", "1 d 1 h"]);
});

test("what is no number is not known", () => {
  for (const value of [null, undefined, Number.NaN, Infinity]) assert.equal(duration(value), "not known");
});

test("ages tick in tenths and never below zero", () => {
  assert.deepEqual([-5e9, 0.04e9, 0.44e9, 9.94e9, 9.99e9, 61e9].map((ns) => plain(age(ns))), ["0.0 s", "0.0 s", "0.4 s", "9.9 s", "10 s", "1 min 1 s"]);
});

test("counts and sizes", () => {
  assert.deepEqual([count(1, "pod"), count(0, "pod"), count(1214, "record")].map(plain), ["1 pod", "0 pods", "1,214 records"]);
  assert.deepEqual([bytes(12), bytes(38_000), bytes(61e6)].map(plain), ["12 B", "38 kB", "61 MB"]);
});

test("times of day, with the digits asked for", () => {
  const wall = Date.UTC(2026, 10, 29, 14, 32, 29) * 1e6 + 83_300_000;
  assert.equal(timeOfDay(wall, true), "14:32:29");
  assert.equal(timeOfDay(wall, true, 3), "14:32:29.083");
  assert.equal(timeOfDay(Number.NaN, true), "not known");
  const since = (/** @type {number} */ ns, digits = 3) => timeOfDay(wall + ns, wall, digits).replaceAll("\u00a0", " ");
  assert.deepEqual([since(6.3e6), since(-12e6, 4), since(47e9, 0), since(123.456e9), since(-123e9, 0), since(3723.5e9)], ["+0.006 s", "−0.0120 s", "+47 s", "+2:03.456", "−2:03", "+1:02:03.500"]);
  assert.deepEqual([since(-20e3, 4), since(0)], ["+0.0000 s", "+0.000 s"]);
  assert.equal(zone(wall), "since the mark");
});

test("the zone is always written", () => {
  assert.equal(zone(true), "UTC");
  assert.equal(zone(false, /** @type {any} */ ({ getTimezoneOffset: () => -330 })), "UTC+5:30");
  assert.equal(zone(false, /** @type {any} */ ({ getTimezoneOffset: () => 480 })), "UTC−8");
});

test("137 is SIGKILL, and out of memory only if the runtime says so", () => {
  assert.equal(exitMeaning(137, "OOMKilled").short, "out of memory");
  assert.equal(exitMeaning(137).short, "killed");
  assert.match(exitMeaning(137).long, /does not say out of memory/);
  assert.deepEqual([0, 1, 127, 139, 143, 130, 255, 77].map((code) => exitMeaning(code).short), ["finished", "error", "not found", "segfault", "terminated", "interrupted", "error", "error"]);
  assert.equal(exitMeaning(null).short, "not known");
});

test("sources and reasons in words", () => {
  assert.deepEqual(["evented_pleg", "post_sync", "post_allocation", "global", "x"].map(foundBy), ["hint", "after sync", "after resize", "global poll", ""]);
  assert.equal(ignoredBecause("missing_uid"), "it names no pod");
});

test("how an event came to be known", () => {
  const how = (/** @type {object} */ rec) => foundHow(/** @type {any} */ (rec));
  assert.equal(how({ type: "ContainerDied", source: "global", relist: 4 }), "poll");
  assert.equal(how({ type: "ContainerDied", source: "global", relist: 1, baseline: true }), "calm");
  assert.equal(how({ type: "ContainerRemoved", source: "global", relist: 4 }), "calm");
  assert.equal(how({ type: "ContainerRemoved", source: "post_sync", relist: 4 }), "req");
  assert.equal(how({ type: "ContainerStarted", source: "evented_pleg", relist: 0 }), "event");
  assert.equal(knownBy(/** @type {any} */ ({ type: "ContainerStarted", source: "evented_pleg", relist: 0 })), "believed event");
  assert.equal(lateBy(0), "at once");
});

test("the middle and the quantiles", () => {
  assert.equal(median([]), null);
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(quantile([5, 1, 4, 2, 3], 0.9), 5);
});

test("generated suffixes are set apart, ordinals and words are not", () => {
  assert.deepEqual(splitName("cart-7d9c6f5b8-4xk2p"), ["cart", "7d9c6f5b8-4xk2p"]);
  assert.deepEqual(splitName("node-exporter-n6rjw"), ["node-exporter", "n6rjw"]);
  assert.deepEqual(splitName("export-nightly-vq9zs"), ["export-nightly", "vq9zs"]);
  assert.deepEqual(splitName("train-worker-0"), ["train-worker-0", ""]);
  assert.deepEqual(splitName("redis"), ["redis", ""]);
});

test("the recorder's cost is said, and what keeps it from recording", () => {
  const well = { well: true, trouble: "", file: "/a", bytes_total: 5e6, bytes_per_s: 1234, cpu: 0.004, lost: 0 };
  assert.equal(plain(recordingWords(well)), " · recording 1.2 kB/s, 0.4 % CPU");
  assert.equal(plain(recordingWords({ ...well, lost: 1 })), " · recording 1.2 kB/s, 0.4 % CPU, 1 thing lost");
  const full = { ...well, well: false, trouble: "No space left on device", lost: 12 };
  assert.equal(plain(recordingWords(full)), " · not recording: No space left on device, 12 things lost");
  assert.equal(recordingWords(null), "");
  assert.equal(recordingWords(undefined), "");
});

test("a sentence ends with one full stop, whatever it is made of", () => {
  assert.deepEqual(["something is missing here.", "the stream is lost", "really?", " "].map(sentence), ["something is missing here.", "the stream is lost.", "really?", ""]);
});
