import assert from "node:assert/strict";
import { test } from "node:test";
import { Spoken } from "../../static/js/spoken.js";

const heard = (/** @type {object} */ more = {}) => ({ id: "healthy", state: "Healthy.", stops: "2 containers stopped.", newest: 5, ...more });

/** All that is said while something dies every second. @param {Spoken} spoken @param {number} seconds */
function listen(spoken, seconds) {
  const said = [];
  for (let s = 0; s < seconds; s += 1) {
    const text = spoken.next(heard({ newest: s }), s * 1000);
    if (text !== null) said.push([s, text]);
  }
  return said;
}

test("the state is told at first, and stops once a minute however many there are", () => {
  assert.deepEqual(listen(new Spoken(), 130), [[0, "Healthy. 2 containers stopped."], [60, "2 containers stopped."], [120, "2 containers stopped."]]);
});

test("where nothing stops nothing is said", () => {
  const spoken = new Spoken();
  spoken.next(heard(), 0);
  for (let s = 1; s < 1000; s += 1) assert.equal(spoken.next(heard(), s * 1000), null);
});

test("a state that changed is told at once, alone, and one that flaps every ten seconds at most", () => {
  const spoken = new Spoken();
  spoken.next(heard(), 0);
  const down = heard({ id: "stream-down", state: "Reconnecting." });
  assert.equal(spoken.next(down, 20_000), "Reconnecting.");
  assert.equal(spoken.next(heard(), 21_000), null);
  assert.equal(spoken.next(down, 29_000), null);
  assert.equal(spoken.next(heard(), 31_000), "Healthy.");
});

test("whoever asked to try is told what came of it, whatever was said a moment ago", () => {
  const spoken = new Spoken();
  spoken.next(heard({ id: "gone", waits: true, state: "plegscope is gone." }), 0);
  spoken.asked = true;
  assert.equal(spoken.next(heard({ id: "gone", waits: false, state: "plegscope is gone." }), 100), null);
  assert.equal(spoken.next(heard({ id: "gone", waits: true, state: "plegscope is gone." }), 200), "No answer yet. plegscope is gone.");
  spoken.asked = true;
  assert.equal(spoken.next(heard(), 300), "Connected again. Healthy. 2 containers stopped.");
  assert.equal(spoken.asked, false);
});
