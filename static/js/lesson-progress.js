// @ts-check
/**
 * How far somebody is with a lesson: kept in this browser only, and forgotten when storage is off.
 *
 * @typedef {{step: number, furthest: number, seen: number[], done: boolean, answers: Record<string, string>}} Progress
 *   `step`: where it was left; `furthest`: the last step that was opened; `seen`: all that were, so that
 *   a lesson is done when none is left out. `answers`: the query of
 *   each answer that was given, by the number of its step.
 */

/** An answer's query is never longer. */
const LONGEST = 200;
const MOST_STEPS = 99;

/** @returns {Progress} */
export function nothing() {
  return { step: 1, furthest: 1, seen: [], done: false, answers: {} };
}

/** What was kept, checked: storage may hold anything. @param {string|null} text @returns {Progress} */
export function readProgress(text) {
  const fresh = nothing();
  if (!text) return fresh;
  try {
    const told = JSON.parse(text);
    const number = (/** @type {unknown} */ value) => (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_STEPS ? Number(value) : 1);
    fresh.step = number(told.step);
    fresh.furthest = Math.max(fresh.step, number(told.furthest));
    fresh.seen = Array.isArray(told.seen) ? told.seen.slice(0, MOST_STEPS).filter((/** @type {unknown} */ one) => Number.isInteger(one) && Number(one) >= 1 && Number(one) <= MOST_STEPS) : [];
    fresh.done = told.done === true && fresh.seen.length > 0;
    for (const [step, answer] of Object.entries(told.answers ?? {})) {
      if (/^\d{1,2}$/.test(step) && typeof answer === "string" && answer.length <= LONGEST) fresh.answers[step] = answer;
    }
  } catch {
    return nothing();
  }
  return fresh;
}

/**
 * What is kept after a step was opened.
 * @param {Progress} before @param {{number: number, count: number}} at @param {string} answer its query, empty when none was given
 * @returns {Progress}
 */
export function opened(before, at, answer) {
  const seen = [...new Set([...before.seen, at.number])].sort((a, b) => a - b);
  return {
    step: at.number,
    furthest: Math.max(before.furthest, at.number),
    seen,
    done: before.done || seen.length >= at.count,
    answers: answer && answer.length <= LONGEST ? { ...before.answers, [at.number]: answer } : before.answers,
  };
}

/** The part of a step's address that is an answer. @param {string} address */
export function answerIn(address) {
  const query = new URL(address, "http://lesson.invalid").searchParams;
  // What is shown to a class is nobody's own answer.
  if (query.has("class")) return "";
  const answer = new URLSearchParams();
  for (const key of ["choice", "at", "show"]) {
    const value = query.get(key);
    if (value) answer.set(key, value);
  }
  return answer.toString();
}
