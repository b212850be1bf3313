import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MOST_BRANCHES, branchName, compareLink, inSeconds, pageQuery, parseTime, pressesOf, readPlace, runTime, withPress, withProfile, writeLink,
} from "../../static/js/run-link.js";

const RUN = "scenario=storm&seed=7&profile=kep&duration=120s";
const NOWHERE = { t: null, seq: null, selected: null, branches: [] };

test("a link holds the run, the moment, the selection, the branches and what the page shows, and reads back", () => {
  const fork = `${RUN}&press=3s!kill-container!shop/web-1`;
  const place = { t: 12_345_678_901, seq: 17, selected: 12, branches: [RUN, `${RUN}&press=9s!heal`] };
  const query = writeLink(fork, place, "view=table&filter=cart&select=99");
  assert.ok(query.startsWith(`${fork}&t=12345678901&at=17&sel=12&`), query);
  assert.deepEqual(readPlace(query), place);
  const page = new URLSearchParams(pageQuery(query));
  assert.equal(page.get("select"), "12");
  assert.equal(page.get("filter"), "cart");
  assert.deepEqual([...page.keys()].sort(), ["filter", "select", "view"]);
});

test("a link without anything is a first look", () => {
  assert.deepEqual(readPlace(RUN), NOWHERE);
  assert.equal(writeLink(RUN, NOWHERE), RUN);
  assert.equal(pageQuery(RUN), "?");
});

test("nonsense in a link is as if it were not there", () => {
  for (const bad of ["t=-1", "t=1e9", "t=99999999999999999999", "t=", "t=3700000000000", "sel=x", "at=0x1", "branch=javascript:alert(1)", `branch=scenario=${"x".repeat(5000)}`]) {
    assert.deepEqual(readPlace(`${RUN}&${bad}`), NOWHERE, bad);
  }
});

test("branches are told apart and bounded", () => {
  const many = Array.from({ length: 30 }, (_, n) => `branch=${encodeURIComponent(`${RUN}&press=${n % 20}s!heal`)}`).join("&");
  const { branches } = readPlace(`${RUN}&${many}`);
  assert.equal(branches.length, MOST_BRANCHES);
  assert.equal(new Set(branches).size, MOST_BRANCHES);
  assert.equal(readPlace(writeLink(RUN, { ...NOWHERE, branches: [...branches, "scenario=more"] })).branches.length, MOST_BRANCHES);
});

test("times are exact in a link", () => {
  for (const [ns, text] of [[0, "0s"], [1, "0.000000001s"], [5e8, "0.5s"], [12_500_000_000, "12.5s"], [3_600_000_000_000, "3600s"], [12_500_000_001, "12.500000001s"]]) {
    assert.equal(inSeconds(/** @type {number} */ (ns)), text);
    assert.equal(parseTime(/** @type {string} */ (text)), ns);
  }
});

test("a time can be typed as people write it", () => {
  const typed = { "12.5": 12.5e9, " 12.5 s ": 12.5e9, "1m30s": 90e9, "1m": 60e9, "1min30": 90e9, "2:05.5": 125.5e9, "1h": 3600e9, "1h2m3s": 3723e9, "46 d 6 h 1 min 25.8 s": 3_996_085.8e9 };
  for (const [text, ns] of Object.entries(typed)) assert.equal(parseTime(text), ns, text);
  for (const text of ["", " ", "soon", "-3", "1:2:3", "3ms", "1e9", "12,5", "s"]) assert.equal(parseTime(text), null, text);
});

test("a time is shown to the millisecond", () => {
  assert.equal(runTime(12_345_678_901), "12.345\u00a0s");
  assert.equal(runTime(125_120_000_000), "2\u00a0min 5.120\u00a0s");
  assert.equal(runTime(3_605_120_000_000).replaceAll("\u00a0", " "), "1 h 0 min 5.120 s");
  assert.equal(runTime(3_996_085_823_000_000).replaceAll("\u00a0", " "), "46 d 6 h 1 min 25.823 s");
  assert.equal(runTime(0), "0.000\u00a0s");
});

test("a press stands in the query, its pod too", () => {
  const pressed = withPress(RUN, { t: 12_500_000_000, name: "kill-container", target: "shop/web-1" });
  assert.equal(pressed, `${RUN}&press=12.5s!kill-container!shop/web-1`);
  assert.deepEqual(pressesOf(pressed), [{ t: 12_500_000_000, name: "kill-container", target: "shop/web-1" }]);
  assert.deepEqual(pressesOf(withPress(RUN, { t: 1, name: "heal", target: "" })), [{ t: 1, name: "heal", target: "" }]);
});

test("the same under another profile", () => {
  assert.equal(withProfile(RUN, "1.37"), "scenario=storm&seed=7&profile=1.37&duration=120s");
});

test("a branch is called after what tells it apart", () => {
  const one = withPress(RUN, { t: 12_500_000_000, name: "break-stream", target: "" });
  const two = withPress(one, { t: 20e9, name: "kill-container", target: "shop/web-1" });
  const three = withPress(two, { t: 30e9, name: "heal", target: "" });
  assert.equal(branchName(RUN, one), "nothing pressed");
  assert.equal(branchName(one, RUN), "break-stream at 12.500\u00a0s");
  assert.equal(branchName(two, RUN), "break-stream at 12.500\u00a0s, kill-container shop/web-1 at 20.000\u00a0s");
  assert.equal(branchName(three, RUN), "2 presses, heal at 30.000\u00a0s");
  assert.equal(branchName(one.replace("profile=kep", "profile=legacy"), RUN), "break-stream at 12.500\u00a0s, profile legacy");
});

test("a comparison names each run whole", () => {
  const query = new URLSearchParams(compareLink([RUN, `${RUN}&press=3s!heal`], 5e9).split("?")[1]);
  assert.deepEqual(query.getAll("run"), [RUN, `${RUN}&press=3s!heal`]);
  assert.equal(query.get("t"), "5000000000");
});

test("a branch is called as the buttons that made it", () => {
  assert.equal(branchName(`${RUN}&press=3s!kill-container!shop/web-1`, RUN, (name) => ({ "kill-container": "Kill a container" })[name] ?? name), "Kill a container shop/web-1 at 3.000\u00a0s");
});
