import assert from "node:assert/strict";
import { test } from "node:test";
import { progressShare, progressWords } from "../../static/js/compare.js";
import { runLink } from "../../static/js/compare-chosen.js";
import { Model } from "../../static/js/compare-model.js";
import { differs, happened, noticed, told } from "../../static/js/compare-words.js";
import { MS, report, row, seen, who, wrong } from "./compare-kit.mjs";

const flat = (text) => text.replaceAll("\u00a0", " ");

test("what happened", () => {
  assert.equal(happened(row("start", [seen(1, 2)], [], who("web-0", 3))), "start of main (attempt 3)");
  assert.equal(happened(row("end", [seen(1, 2, { exit_code: 137 }), seen(1, 2, { exit_code: 137 })])), "end of main, exit 137");
  // Matched by what the container is called, not by how it ended.
  assert.equal(happened(row("end", [seen(1, 2, { exit_code: 137 }), seen(1, 2, { exit_code: 0 })])), "end of main, exit 137 or 0");
  assert.equal(happened(wrong([{ t: 0 }])), "cache of main: says that it runs");
});

test("how each run had it", () => {
  const each = row("end", [seen(0, 80, { source: "evented_pleg" }), seen(0, 520), seen(0, 60, { source: "believed" }), seen(0, null), seen(0, null, { fate: "never" }), null, seen(0, 80, { delivered: false })]);
  const words = [0, 1, 2, 3, 4, 5, 6].map((run) => flat(noticed(each, run)));
  assert.deepEqual(words, ["80 ms, hint", "520 ms, global poll", "60 ms, believed event", "unseen at the end", "missed", "did not happen", "80 ms, global poll, missed: nobody was told"]);
  const stale = wrong([{ t: 0, until_t: 4500 * MS }, null, { t: 5 }]);
  assert.deepEqual([0, 1, 2].map((run) => flat(noticed(stale, run))), ["wrong for 4.5 s", "right", "wrong to the end"]);
});

test("a row in one line, for the pointer and for reading aloud", () => {
  const model = new Model(report([row("end", [seen(0, 80), seen(0, 520)], [[0, "sooner", "440 ms sooner"]])]));
  assert.equal(flat(told(model, model.rows[0])), "web-0, end of main: kep 80 ms, global poll; generic 520 ms, global poll. Kep: 440 ms sooner.");
  assert.equal(differs(model, model.rows[0], new Set(["sooner"])), "");
  const same = new Model(report([row("end", [seen(0, 80), seen(0, 80)])]));
  assert.ok(told(same, same.rows[0]).endsWith(" No difference."));
});

test("how far the runs are", () => {
  const run = (state, t = 0) => ({ state, t, duration_ns: 600e9 });
  assert.equal(progressWords([run("absent"), run("absent")]), "0 of 2 runs are played.");
  assert.equal(progressWords([run("ready"), run("playing", 65e9), run("waiting")]), "Playing run 2 of 3: 1:05 of 10:00.");
  assert.equal(progressWords([run("ready"), run("ready")]), "All runs are played; comparing them.");
  assert.equal(progressShare([run("ready"), run("playing", 300e9), run("absent")]), 0.5);
});

test("a run's own page is opened at the moment", () => {
  assert.equal(runLink("scenario=demo&seed=7", 1234567.8, 12), "/run?scenario=demo&seed=7&t=1234568&sel=12");
  assert.equal(runLink("scenario=demo", 5, 0), "/run?scenario=demo&t=5");
});
