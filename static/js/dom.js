// @ts-check
/** Small helpers for the document. Data only ever becomes text, never markup. */

import { splitName } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/** Characters that steer the text's direction or are not seen: hostile names use them. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text with nothing hidden in it. @param {string} text */
export function plain(text) {
  return text.replace(UNSEEN, "\ufffd");
}

/** The element with this id, which the page is known to have. @param {string} id @returns {any} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * An element with attributes and children; strings become text nodes.
 * @param {string} tag @param {Record<string, string|number|boolean|null|undefined>} [attributes]
 * @param {...(Node|string|null|undefined)} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same in SVG. @param {string} tag @param {Record<string, string|number|boolean|null|undefined>} [attributes] @param {...(Node|string|null|undefined)} children @returns {any} */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** @param {Element} element @param {Record<string, string|number|boolean|null|undefined>} attributes @param {(Node|string|null|undefined)[]} children */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined) element.append(typeof child === "string" ? plain(child) : child);
  }
  return element;
}

/** Where a pod's name leads: to its story, if it is a pod of the node that the server watches. @param {string} uid */
export function podPath(uid) {
  return byId("main").dataset.stream ? `/pods/${encodeURIComponent(uid)}` : "#plot";
}

/**
 * A pod's name with its generated hash set apart. The hyphen between them is not seen, but is there for
 * whoever hears the name or copies it.
 * @param {string} full @param {(name: string) => Node|string} [made] of the name alone
 * @returns {(Node|string)[]}
 */
export function podName(full, made = (name) => name) {
  const [name, hash] = splitName(full);
  return [made(name), ...(hash ? [h("span", { class: "joint" }, "-"), h("span", { class: "hash" }, hash)] : [])];
}

/** One of the sprite's glyphs. @param {string} name @param {string} [className] */
export function glyph(name, className = "glyph") {
  return s("svg", { class: className, "aria-hidden": "true" }, s("use", { href: `#g-${name}` }));
}

/** Parts of a sentence; stressed ones in bold. @param {import("./story.js").Parts} parts */
export function parts(parts) {
  return parts.map((part) => (typeof part === "string" ? document.createTextNode(plain(part)) : h("b", {}, part.b)));
}

/** Write only what changed, so that a selection in the text survives. @param {Node} node @param {string} text */
export function setText(node, text) {
  const safe = plain(text);
  if (node.textContent !== safe) node.textContent = safe;
}

/** @param {Element} element @param {string} key @param {() => (Node|string)[]} make */
export function setChildren(element, key, make) {
  if (/** @type {any} */ (element).shownKey === key) return;
  /** @type {any} */ (element).shownKey = key;
  element.replaceChildren(...make());
}

/** The server has made the children already, as this key would have them. @param {Element} element @param {string} key */
export function hasChildren(element, key) {
  /** @type {any} */ (element).shownKey = key;
}

/** A setting that outlives the page; storage may be switched off. @param {string} name @param {string|null} [value] */
export function setting(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(`plegscope.${name}`);
    if (value === null) localStorage.removeItem(`plegscope.${name}`);
    else localStorage.setItem(`plegscope.${name}`, value);
  } catch {
    // Then it is forgotten when the page closes.
  }
  return value ?? null;
}
