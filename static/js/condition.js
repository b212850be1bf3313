// @ts-check
/**
 * How things are, in one sentence: state, fact, limit; what it means; what one can do.
 *
 * @typedef {import("./types.js").SessionState} SessionState
 * @typedef {import("./story.js").Parts} Parts
 * @typedef {{
 *   id: string, icon: "ok"|"warning"|"bad"|"waiting", word: string, fact: Parts, meaning: string,
 *   action: Action|null, also?: Action|null, was?: Condition, waits?: boolean
 * }} Condition `also`: what else can be done. `was`: how things were at the end of what is played.
 *   `waits`: nothing comes from the server, and whether there is a pause before the next try.
 * @typedef {"hurry"|"start"|"incident"} Act
 * @typedef {{text: string, href: string, act?: Act, key?: string}} Action
 *   `act`: what a button does here, where the page can; else the link leads on. `key` does the same.
 * @typedef {{length: number, whole: boolean, read: number, incidents: number, what?: "run"}} Ending
 *   What is played, where the cursor is at its end: how long it is (ns), and how many incidents it
 *   has; not `whole`: it has only been `read` so far (0 to 1). `what`: it is no recording, but a run.
 * @typedef {{
 *   state: SessionState|null, now: number, link: "connecting"|"open"|"waiting", silence: number,
 *   online: boolean, farewell: string, lagging: number, usual: number|null, pods: number,
 *   downSince: number|null, opening: boolean, lost: number, told: number, next?: number|null,
 *   barred?: boolean, trouble?: string, ending?: Ending|null, played?: boolean
 * }} Situation
 *   `silence`: since the last message (ns). `lagging`: records skipped a moment ago. `usual`: this
 *   node's usual global relist (ns). `downSince`: since when there are no hints (t).
 *   `opening`: the session's first try to connect goes on. `lost`: those of the skipped that are not
 *   known here. `told`: stop events that came since the oldest call began. `next`: until the next try
 *   to connect (ns); null: one is under way. `barred`: it wants another token. `trouble`: why
 *   nothing can be played. `ending`: the cursor of a player is at the end. `played`: there
 *   is a player: what is shown is not of now.
 */
import { age, count, duration, sentence } from "./words.js";

/** Silence that counts as gone (ns): the server speaks twice a second. */
const GONE = 3e9;
/** As in app/engine/hanging.py: a call that waits for so long hangs, and so does a relist whose lists have not come back (ns). */
const HUNG = 5e9;
/** The same of a global relist that inspects pods (ns). */
const LONG = 30e9;
/** What the runtime does while relists fail, by what the failure means: as FAILS in app/web/nowfacts.py. @type {Record<import("./types.js").FailCode, string|null>} */
const FAILS = { silent: "does not answer in time", unreachable: "cannot be reached", error: "answers with errors", stopped: null };
const SLOW_FACTOR = 10;
const SLOW_LEAST = 100e6;

/**
 * Since when the runtime hangs: the call that waits, or else the relist in progress, as a session
 * looks at its calls now and then only. Null: it does not.
 * @param {SessionState|null} state @param {number} now ns
 */
export function hangsSince(state, now) {
  if (!state) return null;
  const { oldest_call: call, engine: { running, health } } = state;
  if (call?.hung) return call.since_t;
  if (!running) return null;
  const listed = running.scope === "global" && health.last_start_t !== null && health.last_start_t >= running.started;
  return now - running.started > (listed ? LONG : HUNG) ? running.started : null;
}

/** @param {string} id */
const help = (id, text = "What this means") => ({ text, href: `/help#${id}` });
/** @param {string} id @param {Act} act @param {string} text @param {string} [key] */
const press = (id, act, text, key) => ({ text, href: `/help#${id}`, act, key });

/** Whether the stream is closed because plegscope ended, as at the end of a recording, and not given up. @param {SessionState["engine"]["stream"]} stream */
export function wasStopped(stream) {
  return stream.state === "closed" && stream.code === null;
}

/** @param {Situation} at @returns {Condition} */
export function condition(at) {
  return unheard(at) ?? recorded(at) ?? unrecorded(at) ?? atEnd(at) ?? present(at);
}

/** What the runtime does, if the last global relist failed for what it does. @param {SessionState["engine"]} engine */
function failing({ last_global: last }) {
  // Recordings of earlier versions don't tell.
  return last?.ok === false ? FAILS[last.code ?? "error"] : null;
}

/** How things are where all is known. @param {Situation} at @returns {Condition} */
function present(at) {
  return ill(at) ?? passing(at) ?? well(at);
}

/** A recording, at its end. @param {Situation} at @returns {Condition|null} */
function recorded(at) {
  if (!at.state?.ended) return null;
  return {
    id: "recorded", icon: "waiting", word: "End of the recording.", fact: ["It tells of ", { b: age(at.now) }, "."],
    meaning: "What came after is not known. Time stands still here: drag, or press the left arrow, to look back.", action: press("recorded", "start", "Back to the start"),
  };
}

/** What is played, at its end: how it was then is still what one wants to know. @param {Situation} at @returns {Condition|null} */
function atEnd(at) {
  const { ending } = at;
  if (!ending || !at.state) return null;
  const was = present(at);
  const { whole, read } = ending;
  const last = `At its end: ${was.word} ${flat(was.fact)} ${was.meaning}`.trim();
  const action = press("recorded", "start", "Back to the start", "Home");
  const also = ending.incidents ? press("recorded", "incident", "The incident before", "E") : null;
  if (!whole) {
    return {
      id: "recorded", icon: "waiting", word: "Read up to here.", fact: [{ b: `${Math.round(read * 100)}\u00a0%` }, " of the recording; more is on its way."],
      meaning: last.replace("At its end:", "Here:"), action, also, was,
    };
  }
  const fact = [ending.what === "run" ? "It was played for " : "It tells of ", { b: duration(ending.length) }, "."];
  return { id: "recorded", icon: "waiting", word: `End of the ${ending.what ?? "recording"}.`, fact, meaning: last, action, also, was };
}

/** A time between two recordings: how the node was is not known. @param {Situation} at @returns {Condition|null} */
function unrecorded(at) {
  const gap = at.state?.unrecorded;
  if (!gap) return null;
  const next = { b: duration(gap.to - at.now) };
  const before = { b: duration(at.now - gap.from) };
  /** @type {Parts} */
  const fact = gap.edge === "before" ? ["What is recorded of this node begins in ", next, "."]
    : gap.edge === "after" ? ["What is recorded of this node ended ", before, " ago."]
      : ["The recording before ended ", before, " ago, the next begins in ", next, "."];
  return {
    id: "unrecorded", icon: "waiting", word: "Not recorded.", fact,
    meaning: "plegscope was not running, or its recording is not among these files.", action: help("unrecorded"),
  };
}

/** Nothing comes from the server. @param {Situation} at @returns {Condition|null} */
function unheard(at) {
  const waits = typeof at.next === "number";
  if (at.trouble) {
    return {
      id: "unplayed", icon: "waiting", word: "Not played.", fact: [sentence(at.trouble)],
      meaning: at.state ? "What is shown is what was here before." : "", action: press("unplayed", "hurry", "Try again"),
    };
  }
  if (!at.state) {
    return at.link === "waiting" && at.silence > GONE
      ? { waits, id: "gone", icon: "waiting", word: "plegscope does not answer.", fact: nextTry(at, true), meaning: "If it was stopped, start it again with the same command.", action: press("gone", "hurry", "Try now", "r") }
      : { waits, id: "starting", icon: "waiting", word: "Starting.", fact: ["Waiting for the first picture."], meaning: "It comes as soon as plegscope answers.", action: help("starting", "Why this is not a fault") };
  }
  if (at.barred) {
    return {
      waits, id: "barred", icon: "waiting", word: "plegscope was started again.", fact: ["This page is of the start before; last heard ", { b: age(at.silence) }, " ago."],
      meaning: "The picture is frozen, not live. Each start has a token of its own: open the address that plegscope printed this time.", action: press("barred", "hurry", "Try now", "r"),
    };
  }
  if (at.link === "open" ? at.silence < 2 * GONE : at.silence < GONE) return null;
  if (!at.online) {
    return { waits, id: "offline", icon: "waiting", word: "This browser is offline.", fact: ["Last heard ", { b: age(at.silence) }, " ago; ", ...nextTry(at)], meaning: "The picture is frozen, not live, until the network is back.", action: press("offline", "hurry", "Try now", "r") };
  }
  return {
    waits, id: "gone", icon: "waiting", word: "plegscope is gone.", fact: ["Last heard ", { b: age(at.silence) }, " ago; ", ...nextTry(at)],
    // Its last words say what to do.
    meaning: at.farewell ? `${at.farewell} The picture is frozen, not live.` : "The picture is frozen, not live. Start plegscope again if it was stopped.",
    action: press("gone", "hurry", "Try now", "r"),
  };
}

/** When it is tried again. @param {Situation} at @param {boolean} [first] it begins the sentence @returns {Parts} */
function nextTry(at, first = false) {
  if (at.link === "open") return ["the connection is open still."];
  if (at.next === null || at.next === undefined) return [first ? "Trying now." : "trying now."];
  return [first ? "Next try in " : "next try in ", { b: `${Math.max(1, Math.ceil(at.next / 1e9))}\u00a0s` }, "."];
}

/** The loop or the runtime is not well. @param {Situation} at @returns {Condition|null} */
function ill(at) {
  const state = /** @type {SessionState} */ (at.state);
  const { health, period_ns: period } = state.engine;
  const fails = failing(state.engine);
  const limit = duration(health.threshold_ns);
  const hangs = hangsSince(state, at.now);
  if (health.last_start_t === null) {
    if (hangs !== null) return hung(at, hangs);
    // The first ones may fail while both are still starting.
    if (fails !== null && at.now > HUNG) {
      return {
        id: "failing", icon: "warning", word: "No relist succeeds.", fact: [`The runtime ${fails}.`],
        meaning: "On a node the kubelet would say NotReady until one does. Nothing is known of the pods yet; their lists are asked for again every second.", action: help("failing", "What to check first"),
      };
    }
    if (at.played) {
      return {
        id: "starting", icon: "waiting", word: "No relist yet.", fact: ["Nothing is known of the pods at this time."],
        meaning: "What is played begins before its first relist: Space plays on, > goes to the end of that relist.", action: help("starting", "Why this is not a fault"),
      };
    }
    return { id: "starting", icon: "waiting", word: "Starting.", fact: ["No relist yet."], meaning: `${fails === null ? "" : `The runtime ${fails}; its lists are asked for again every second. `}Normal for the first seconds; turns green by itself.`, action: help("starting", "Why this is not a fault") };
  }
  const since = at.now - health.last_start_t;
  if (!health.healthy || since > health.threshold_ns) {
    return {
      id: "unhealthy", icon: "bad", word: "Unhealthy.", fact: ["No relist began for ", { b: duration(since) }, "."],
      meaning: `Over the limit of ${limit}; on a node the kubelet would say NotReady.${state.oldest_call?.hung ? ` ${state.oldest_call.method} has not returned for ${age(at.now - state.oldest_call.since_t)}.` : ""}`,
      action: help("unhealthy", "What to check first"),
    };
  }
  if (hangs !== null) return hung(at, hangs);
  // One that fails in between is passed over: the next one is a second away.
  if (fails !== null && since > 2 * period) {
    return {
      id: "failing", icon: "warning", word: "Healthy, but relists fail.", fact: ["The last one that came back began ", { b: age(since) }, " ago."],
      meaning: `The runtime ${fails}. Unhealthy in ${duration(health.threshold_ns - since)}, if none comes back until then.`,
      action: help("failing", "What to check first"),
    };
  }
  return null;
}

/** @param {Situation} at @param {number} since @returns {Condition} */
function hung(at, since) {
  const state = /** @type {SessionState} */ (at.state);
  const { health } = state.engine;
  const call = state.oldest_call;
  const left = health.last_start_t === null ? null : health.threshold_ns - (at.now - health.last_start_t);
  const events = at.told
    ? ` ${count(at.told, "stop event")} ${at.told === 1 ? "has" : "have"} come since: the runtime lives, but what they ask for waits behind the call.`
    : state.engine.stream.state === "connected" ? " No stop event has come since; a stream that is open says nothing while the runtime hangs." : "";
  return {
    id: "hung", icon: "warning", word: at.told ? "Calls hang, events come." : "Runtime hung.", fact: ["Oldest call ", { b: age(at.now - since) }, "."],
    meaning: `${call?.hung ? call.method : "A runtime call"} has not returned.${left !== null && left > 0 ? ` Unhealthy in ${duration(left)}.` : ""}${events}`,
    action: help("hung", "What to check first"),
  };
}

/** What passes, or is as it is. @param {Situation} at @returns {Condition|null} */
function passing(at) {
  const state = /** @type {SessionState} */ (at.state);
  const { stream, health, pace_ns: pace, period_ns: period, last_global: last } = state.engine;
  if (at.lagging) {
    return { id: "lagging", icon: "warning", word: "You are lagging.", fact: ["This page skipped ", { b: count(at.lagging, "record") }, "."], meaning: `Shown is the state of now${at.lost ? `; ${count(at.lost, "record")} are not known here: hatched` : ", and nothing is missing in it"}. Others are not affected.`, action: help("lagging") };
  }
  const recorder = state.recording;
  if (recorder && !recorder.well) {
    const lost = recorder.lost ? `${count(recorder.lost, "thing")} ${recorder.lost === 1 ? "is" : "are"} not in the file. ` : "";
    const why = sentence(recorder.trouble) || "It does not say why.";
    return {
      id: "recording-stopped", icon: "warning", word: "Recording stopped.", fact: [why[0].toUpperCase() + why.slice(1)],
      meaning: `The page goes on, and recording when it can. ${lost}${healthyWords(at)}`, action: help("recording-stopped", "Choose another place"),
    };
  }
  const healthy = healthyWords(at);
  if (stream.policy === "relist_only") {
    return {
      id: "safety", icon: "waiting", word: "Polling only,", fact: ["for the node’s safety."], meaning: `${sentence(state.runtime?.reason ?? stream.meaning)} ${healthy}`,
      action: help("safety", "What joining costs"),
    };
  }
  if (stream.state !== "connected" && stream.state !== "off" && (stream.code === "unimplemented" || stream.code === "immediate_eof")) {
    const next = stream.retry_t !== null && stream.retry_t > at.now ? ` Next try in ${age(stream.retry_t - at.now)}.` : "";
    const fact = stream.code === "unimplemented" ? "This runtime has no event stream." : "This runtime has its events switched off.";
    const more = sentence(stream.meaning);
    return {
      id: "polling", icon: "waiting", word: "Polling only.", fact: [fact],
      // What the record says may begin as the sentence does.
      meaning: `${more.startsWith(fact) ? more.slice(fact.length).trim() : more}${next} ${healthy}`, action: help("polling", "Which runtimes have one"),
    };
  }
  if (stream.state === "closed" && !wasStopped(stream)) {
    return {
      id: "given-up", icon: "warning", word: "Stream given up", fact: [{ b: age(at.now - stream.since_t) }, " ago."],
      meaning: `After five ends profile ${state.engine.profile} does not open it again: only a restart does. The global relist still finds every stop, up to ${duration(pace)} later.`,
      action: help("given-up"),
    };
  }
  if (stream.state === "waiting" || (stream.state === "connecting" && !at.opening && at.now - (at.downSince ?? stream.since_t) > 1e9)) {
    const next = stream.retry_t !== null && stream.retry_t > at.now ? `Next try in ${age(stream.retry_t - at.now)}. ` : "";
    return {
      id: "stream-down", icon: "warning", word: "Reconnecting.", fact: ["Stream down for ", { b: age(at.now - (at.downSince ?? stream.since_t)) }, "."],
      meaning: `${next}The global relist still finds every stop, up to ${duration(pace)} later.`, action: help("stream-down"),
    };
  }
  if (pace > period) {
    return {
      id: "pace", icon: "warning", word: "Healthy, slowed down.", fact: ["A global relist every ", { b: duration(pace) }, " instead of ", { b: duration(period) }, "."],
      meaning: "Listing took more than a fifth of the period, so the shadow spares the runtime. The kubelet does not.", action: help("pace"),
    };
  }
  const took = (last?.ok !== false && last?.duration_ns) || 0;
  if (health.healthy && at.usual && took > SLOW_LEAST && took > SLOW_FACTOR * at.usual) {
    return {
      id: "slow", icon: "warning", word: "Healthy, but slow.", fact: ["Relists take ", { b: duration(took) }, `, ${Math.round(took / at.usual)}× this node’s usual.`],
      meaning: `The limit is ${duration(health.threshold_ns)}.`, action: help("slow"),
    };
  }
  return null;
}

/** @param {Situation} at @returns {Condition} */
function well(at) {
  const base = { id: "healthy", icon: /** @type {const} */ ("ok"), word: "Healthy.", meaning: "", action: null };
  if (at.pods === 0) return { ...base, id: "empty", fact: ["No pods on this node."], meaning: "Global relists run; there is nothing to find.", action: help("empty", "What comes here") };
  return { ...base, fact: lastRelist(at) };
}

/** @param {Situation} at @returns {Parts} */
function lastRelist(at) {
  const state = /** @type {SessionState} */ (at.state);
  const { health, last_global: last, running } = state.engine;
  const started = { b: age(at.now - (health.last_start_t ?? at.now)) };
  const limit = { b: duration(health.threshold_ns) };
  // At the end of what is played nothing goes on.
  const [did, ago] = at.ending ? ["had started ", " before"] : ["started ", " ago"];
  if (running && running.scope === "global" && at.now - running.started > 1e9) {
    return ["The global relist that began ", { b: age(at.now - running.started) }, " ago has not come back; the limit is ", limit, "."];
  }
  if (last && last.ok !== false && typeof last.duration_ns === "number") {
    return [`The last global relist ${did}`, started, `${ago} and took `, { b: duration(last.duration_ns) }, "; the limit is ", limit, "."];
  }
  return [`The last global relist ${did}`, started, `${ago}; the limit is `, limit, "."];
}

/** The same behind another sentence. @param {Situation} at */
function healthyWords(at) {
  return `PLEG is healthy: t${flat(lastRelist(at)).slice(1)}`;
}

/** @param {Parts} parts */
function flat(parts) {
  return parts.map((part) => (typeof part === "string" ? part : part.b)).join("");
}
