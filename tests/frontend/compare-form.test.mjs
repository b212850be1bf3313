import assert from "node:assert/strict";
import { test } from "node:test";
import { boundChoice, chosenWords } from "../../static/js/compare-form.js";

test("how many are chosen, and what may be done about it", () => {
  assert.equal(chosenWords(0, 3), "(0 chosen: choose 2 or 3)");
  assert.equal(chosenWords(1, 3), "(1 chosen: choose 2 or 3)");
  assert.equal(chosenWords(2, 3), "(2 chosen: there is room for one more)");
  assert.equal(chosenWords(3, 3), "(3 chosen: untick one to choose another)");
  assert.equal(chosenWords(5, 3), "(5 chosen: untick 2 of them)");
});

/** A form of five boxes, those ticked that are named. @param {number[]} ticked */
function form(ticked) {
  const boxes = [0, 1, 2, 3, 4].map((n) => ({ checked: ticked.includes(n), disabled: false, problem: "", setCustomValidity(text) { this.problem = text; } }));
  const said = { textContent: "" };
  let change = () => {};
  return {
    boxes, said, changed: () => change(), dataset: { most: "3" },
    querySelectorAll: () => boxes, querySelector: () => said,
    addEventListener: (_, listener) => { change = listener; },
  };
}

test("with three ticked no fourth can be, until one is taken away", () => {
  const made = form([0, 1, 4]);
  boundChoice(made);
  assert.deepEqual(made.boxes.map(({ disabled }) => disabled), [false, false, true, true, false]);
  made.boxes[0].checked = false;
  made.changed();
  assert.deepEqual(made.boxes.map(({ disabled }) => disabled), [false, false, false, false, false]);
});

test("what a link named too many can be taken away, and is not sent before", () => {
  const made = form([0, 1, 2, 3, 4]);
  boundChoice(made);
  assert.ok(made.boxes.every(({ disabled }) => !disabled));
  assert.match(made.boxes[0].problem, /Choose 2 or 3 profiles; 5 are chosen\./);
  made.boxes[0].checked = made.boxes[1].checked = false;
  made.changed();
  assert.ok(made.boxes.every(({ problem }) => problem === ""));
  assert.deepEqual(made.boxes.map(({ disabled }) => disabled), [true, true, false, false, false]);
});
