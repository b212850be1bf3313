// @ts-check
/** How numbers, times and findings are said. Pure functions; all durations in nanoseconds. */

/** @typedef {import("./types.js").Rec} Rec */

const NBSP = "\u00a0";
const US = 1e3;
const MS = 1e6;
const S = 1e9;

/** @param {number} value */
function twoDigits(value) {
  if (value >= 9.95) return value.toFixed(0);
  return value >= 0.995 || value === 0 ? value.toFixed(1) : value.toFixed(2);
}

/**
 * Two significant digits and a unit: "4.1 ms", "640 ms", "1.2 s", "3 min 12 s", "2 h 14 min".
 * @param {number|null|undefined} ns
 */
export function duration(ns) {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return "not known";
  const abs = Math.abs(ns);
  if (abs < 0.1 * MS) return `${Math.round(abs / US)}${NBSP}µs`;
  if (abs < 999.5 * MS) return `${twoDigits(abs / MS)}${NBSP}ms`;
  if (abs < 59.5 * S) return `${twoDigits(abs / S)}${NBSP}s`;
  const whole = Math.round(abs / S);
  /** @type {[number, string][]} */
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  for (let i = 0; i < units.length - 1; i += 1) {
    const [size, name] = units[i];
    const [small, smallName] = units[i + 1];
    if (whole >= size) {
      const rest = Math.floor((whole % size) / small);
      const head = `${Math.floor(whole / size)}${NBSP}${name}`;
      return rest ? `${head}${NBSP}${rest}${NBSP}${smallName}` : head;
    }
  }
  return `${whole}${NBSP}s`;
}

/** With a full stop at its end, and one only. @param {string} text */
export function sentence(text) {
  const trimmed = text.trim();
  if (!trimmed) return "";
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** What a sentence quotes like `this`, where there is no markup. @param {string} text */
export function unquoted(text) {
  return text.replace(/`([^`]*)`/g, "$1");
}

/** An age that ticks: like a duration, but never finer than 0.1 s. @param {number} ns */
export function age(ns) {
  const s = Math.max(0, ns) / S;
  if (s < 9.95) return `${s.toFixed(1)}${NBSP}s`;
  return duration(Math.round(s) * S);
}

/** @param {number} n @param {string} one @param {string} [many] */
export function count(n, one, many) {
  return `${n.toLocaleString("en-US")}${NBSP}${n === 1 ? one : many ?? `${one}s`}`;
}

/** @param {number} bytes */
export function bytes(bytes) {
  if (bytes >= 1e6) return `${twoDigits(bytes / 1e6)}${NBSP}MB`;
  return bytes >= 1e3 ? `${twoDigits(bytes / 1e3)}${NBSP}kB` : `${Math.round(bytes)}${NBSP}B`;
}

/**
 * What the recorder costs, or what keeps it from recording; empty when nothing is recorded.
 * @param {import("./types.js").SessionState["recording"]} recorder
 */
export function recordingWords(recorder) {
  if (!recorder) return "";
  const lost = recorder.lost ? `, ${count(recorder.lost, "thing")} lost` : "";
  if (!recorder.well) return ` · not recording: ${recorder.trouble}${lost}`;
  return ` · recording ${bytes(recorder.bytes_per_s)}/s, ${(recorder.cpu * 100).toFixed(1)}${NBSP}% CPU${lost}`;
}

const two = (/** @type {number} */ n) => String(n).padStart(2, "0");

/**
 * How times are written: of day in UTC (true) or in this browser's zone (false), or since a moment
 * (its wall time, ns).
 * @typedef {boolean|number} Times
 */

/** A time since a moment: "+0.012 s", "−2:03". @param {number} ns @param {number} digits of the second */
function since(ns, digits) {
  const s = Math.abs(ns) / S;
  // What is as good as at the mark is not before it.
  const sign = ns < 0 && Number(s.toFixed(digits)) > 0 ? "−" : "+";
  if (s < 60) return `${sign}${s.toFixed(digits)}${NBSP}s`;
  const whole = Math.floor(s);
  const rest = (s % 60).toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${sign}${minutes}:${rest}` : `${sign}${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}

/**
 * A time. @param {number} wall ns since 1970 @param {Times} utc
 * @param {number} digits of the second: 0, 3 or 4
 */
export function timeOfDay(wall, utc, digits = 0) {
  if (typeof utc === "number") return since(wall - utc, digits);
  const date = new Date(wall / MS);
  if (Number.isNaN(date.getTime())) return "not known";
  const [h, m, s] = utc
    ? [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
    : [date.getHours(), date.getMinutes(), date.getSeconds()];
  const clock = `${two(h)}:${two(m)}:${two(s)}`;
  if (!digits) return clock;
  const fraction = ((wall / S) % 1 + 1) % 1;
  return `${clock}.${String(Math.floor(fraction * 10 ** digits)).padStart(digits, "0")}`;
}

/** The zone that times are written in. @param {Times} utc @param {Date} [at] */
export function zone(utc, at = new Date()) {
  if (typeof utc === "number") return "since the mark";
  if (utc) return "UTC";
  const minutes = -at.getTimezoneOffset();
  if (minutes === 0) return "UTC+0";
  const sign = minutes < 0 ? "−" : "+";
  const abs = Math.abs(minutes);
  return `UTC${sign}${Math.floor(abs / 60)}${abs % 60 ? `:${two(abs % 60)}` : ""}`;
}

const SIGNALS = /** @type {Record<number, string>} */ ({
  1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS",
  8: "SIGFPE", 9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE",
  14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
});

/**
 * What an exit code means, short (for rows) and as a sentence (for the drawer).
 * Out of memory only if the runtime says so: 137 alone is any SIGKILL.
 * @param {number|null|undefined} code @param {string} [reason]
 * @returns {{short: string, long: string}}
 */
export function exitMeaning(code, reason = "") {
  if (reason === "OOMKilled") {
    return { short: "out of memory", long: "Killed by SIGKILL: out of memory." };
  }
  if (code === 255 && reason === "Unknown") {
    return { short: "lost track", long: "The runtime lost track of it and does not know how it ended." };
  }
  if (code === null || code === undefined) {
    return { short: "not known", long: "The exit code is not known." };
  }
  switch (code) {
    case 0: return { short: "finished", long: "Finished without an error." };
    case 1: return { short: "error", long: "Ended with an error of its own." };
    case 126: return { short: "not executable", long: "The command could not be executed." };
    case 127: return { short: "not found", long: "The command was not found." };
    case 128: return { short: "could not start", long: "The runtime could not start it." };
    case 255: return { short: "error", long: "Ended with an error, or a code out of range." };
  }
  if (code === 137) {
    return {
      short: "killed",
      long: "Killed by SIGKILL. The runtime does not say out of memory: someone killed it, often after the grace period.",
    };
  }
  if (code > 128 && code <= 192) {
    const name = SIGNALS[code - 128] ?? `signal ${code - 128}`;
    const word = /** @type {Record<string, string>} */ ({
      SIGTERM: "terminated", SIGSEGV: "segfault", SIGABRT: "aborted", SIGINT: "interrupted",
    })[name] ?? name;
    const long = /** @type {Record<string, string>} */ ({
      SIGTERM: "Ended by SIGTERM: it was asked to stop.",
      SIGSEGV: "Crashed: SIGSEGV, a bad memory access.",
      SIGABRT: "Aborted itself: SIGABRT.",
    })[name] ?? `Ended by ${name}.`;
    return { short: word, long };
  }
  return { short: "error", long: "Ended with an error of its own." };
}

/**
 * How a lifecycle event came to be known: "req" a request's relist found it, "poll" only the global
 * relist did, "calm" the global relist did and nobody was late (what was there from the beginning, a
 * clean-up, a second look), "event" an event was believed and no relist looked.
 * @param {Rec} rec @returns {"req"|"poll"|"calm"|"event"}
 */
export function foundHow(rec) {
  if (rec.source === "evented_pleg" && rec.relist === 0) return "event";
  if (rec.source !== "global") return "req";
  return rec.baseline || rec.type === "ContainerRemoved" || rec.type === "PodSync" ? "calm" : "poll";
}

/** The same in words, for rows and lists. @param {Rec} rec */
export function knownBy(rec) {
  return foundHow(rec) === "event" ? "believed event" : foundBy(rec.source);
}

/** How late something was noticed. @param {number|null|undefined} ns */
export function lateBy(ns) {
  return typeof ns === "number" && Math.abs(ns) < US ? "at once" : duration(ns);
}

/** How a relist source is said. @param {string|undefined|null} source */
export function foundBy(source) {
  switch (source) {
    case "evented_pleg": return "hint";
    case "post_sync": return "after sync";
    case "post_allocation": return "after resize";
    case "global": return "global poll";
    default: return "";
  }
}

/** @param {number[]} values */
export function median(values) {
  if (!values.length) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {number[]} values @param {number} q from 0 to 1 */
export function quantile(values, q) {
  if (!values.length) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

/** Why an event was ignored. @param {string|undefined} reason */
export function ignoredBecause(reason) {
  switch (reason) {
    case "missing_sandbox_status": return "it has no sandbox status";
    case "missing_metadata": return "its sandbox has no metadata";
    case "missing_uid": return "it names no pod";
    default: return "it could not be used";
  }
}

/**
 * A pod's name with its generated hash apart, without the hyphen between them: ["cart", "7d9c6f5b8-4xk2p"].
 * Kubernetes' generated suffixes have no vowels; a StatefulSet's ordinal is shorter and stays.
 * @param {string} name @returns {[string, string]}
 */
export function splitName(name) {
  const match = /^(.+?)-((?:[bcdfghjklmnpqrstvwxz0-9]{6,10}-)?[bcdfghjklmnpqrstvwxz0-9]{5})$/.exec(name);
  return match ? [match[1], match[2]] : [name, ""];
}
