import assert from "node:assert/strict";
import { test } from "node:test";
import { takes, typing } from "../../static/js/keys.js";

const input = (/** @type {string} */ type) => ({ tagName: "INPUT", type });
const select = (/** @type {string[]} */ ...texts) => ({ tagName: "SELECT", options: texts.map((text) => ({ text })) });
/** Of these keys, those that the control has for itself. @param {object} target @param {string[]} keys */
const own = (target, keys) => keys.filter((key) => takes(target, key));

test("a slider has what moves it, and nothing else", () => {
  const keys = ["ArrowLeft", "ArrowUp", "Home", "End", "PageUp", "PageDown", "r", "R", " ", ",", "?", "Enter"];
  assert.deepEqual(own(input("range"), keys), keys.slice(0, 6));
  assert.equal(typing(input("range")), false);
});

test("what is typed into has all keys", () => {
  for (const field of [input("search"), input("text"), input("number"), { tagName: "TEXTAREA" }, { tagName: "DIV", isContentEditable: true }]) {
    assert.deepEqual(own(field, ["g", " ", "Enter", "Home", "ArrowLeft"]), ["g", " ", "Enter", "Home", "ArrowLeft"]);
    assert.equal(typing(field), true);
  }
});

test("boxes and buttons are pressed by Space and Enter; a choice of one is moved through, too", () => {
  const keys = [" ", "Enter", "ArrowDown", "g", "Home"];
  assert.deepEqual(own(input("checkbox"), keys), [" ", "Enter"]);
  assert.deepEqual(own(input("radio"), keys), [" ", "Enter", "ArrowDown"]);
  const inside = { tagName: "SPAN", closest: () => ({}) };
  assert.deepEqual(own(inside, keys), [" ", "Enter"]);
  assert.deepEqual(own({ tagName: "CANVAS", closest: () => null }, keys), []);
});

test("a list has the letters by which it is searched: the first, and the next ones soon after", () => {
  assert.deepEqual(own(select("0.1\u00d7", "2\u00d7"), [".", "2", "r", "e", " ", "ArrowDown", "Enter"]), ["2", " ", "ArrowDown", "Enter"]);
  const list = select("By name", "by age");
  assert.deepEqual(["b", "y", " ", "A", "n", "z"].map((key, i) => takes(list, key, i * 10)), [true, true, true, false, false, false]);
  assert.deepEqual(["B", "y"].map((key, i) => takes(list, key, 10_000 + i * 2000)), [true, false]);
  const rate = select("0.1\u00d7", "0.25\u00d7");
  assert.deepEqual(["0", ".", "2", "5"].map((key, i) => takes(rate, key, 20_000 + i)), [true, true, true, true]);
});
