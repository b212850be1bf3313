// Links whose target is copied: what is copied, what is left to the browser, what is said.
import assert from "node:assert/strict";
import test from "node:test";

/** @type {((event: any) => void)[]} */
const listeners = [];
class Anchor {
  /** @param {Record<string, string>} dataset @param {string} href */
  constructor(dataset, href) {
    this.dataset = dataset;
    this.href = href;
    this.said = { textContent: "before" };
  }

  /** @param {string} selector */
  closest(selector) {
    if (selector === "article") return { querySelector: () => this.said };
    return this.dataset.copy ? this : null;
  }
}
/** @type {string[]} */
const written = [];
let allowed = true;
Object.assign(globalThis, { Element: Anchor, HTMLAnchorElement: Anchor });
globalThis.document = /** @type {any} */ ({ addEventListener: (/** @type {string} */ _, /** @type {any} */ run) => listeners.push(run) });
Object.defineProperty(globalThis, "navigator", {
  configurable: true,
  value: { clipboard: { writeText: async (/** @type {string} */ text) => { if (!allowed) throw new Error("no"); written.push(text); } } },
});
const { wireCopies } = await import("../../static/js/copy.js");
wireCopies();

/** @param {Anchor} target @param {object} [more] */
async function press(target, more = {}) {
  let prevented = false;
  listeners[0]({ target, button: 0, preventDefault: () => { prevented = true; }, ...more });
  await new Promise((resolve) => setImmediate(resolve));
  return prevented;
}

test("an address is copied as it is, and that is said", async () => {
  const link = new Anchor({ copy: "link" }, "http://h/pods/a");
  assert.equal(await press(link), true);
  assert.deepEqual(written.splice(0), ["http://h/pods/a"]);
  assert.equal(link.said.textContent, "Copied.");
});

test("content is fetched and copied", async () => {
  globalThis.fetch = /** @type {any} */ (async () => ({ ok: true, text: async () => "{}" }));
  const link = new Anchor({ copy: "content" }, "http://h/x");
  await press(link);
  assert.deepEqual(written.splice(0), ["{}"]);
});

test("what fails is said with what to do", async () => {
  globalThis.fetch = /** @type {any} */ (async () => ({ ok: false, status: 404 }));
  const link = new Anchor({ copy: "content" }, "http://h/x");
  await press(link);
  assert.match(link.said.textContent, /open the link/);
  allowed = false;
  const other = new Anchor({ copy: "link" }, "http://h/x");
  await press(other);
  allowed = true;
  assert.match(other.said.textContent, /open the link/);
  assert.deepEqual(written, []);
});

test("other links, and those with a modifier key, are the browser's", async () => {
  assert.equal(await press(new Anchor({}, "http://h/")), false);
  for (const more of [{ ctrlKey: true }, { metaKey: true }, { shiftKey: true }, { button: 1 }]) {
    assert.equal(await press(new Anchor({ copy: "link" }, "http://h/"), more), false);
  }
  assert.deepEqual(written, []);
});
