// @ts-check
/**
 * What the server sends, as types only. Field names are those of app/engine/records.py,
 * app/engine/state.py and app/hub/wire.py; all `t` are monotonic nanoseconds of the session, all
 * `wall` nanoseconds since 1970.
 *
 * @typedef {"post_sync"|"post_allocation"|"evented_pleg"|"global"} RelistSource
 * @typedef {"queued"|"held"|"coalesced"|"dropped"|"released"|"skipped"|"cancelled"} Outcome
 * @typedef {"off"|"connecting"|"connected"|"waiting"|"closed"} StreamPhase
 *
 * @typedef {{
 *   kind: string, seq: number, t: number, wall: number, uid?: string|null, name?: string,
 *   namespace?: string, version?: string, endpoint?: string, policy?: "join"|"relist_only",
 *   type?: string, event?: number|null, container_id?: string, container_name?: string,
 *   is_sandbox?: boolean, created_at?: number, latency_ns?: number|null, backlog?: boolean,
 *   request?: number|null, exit_code?: number|null, reason?: string, finished_at?: number,
 *   source?: RelistSource, outcome?: Outcome, depth?: number, relist?: number|null,
 *   scope?: "global"|"pod", waited_ns?: number|null, started?: number, duration_ns?: number,
 *   ok?: boolean, error?: string, pods?: number, containers?: any, changed?: number,
 *   withheld?: number, calls?: number, slowest_method?: string, slowest_ns?: number, slowest_uid?: string,
 *   old_state?: string, new_state?: string, delivery?: "sent"|"filtered"|"discarded",
 *   attempt?: number, stop_t?: number|null, after_ns?: number|null,
 *   since_finished_ns?: number|null, poll_due_t?: number|null, baseline?: boolean, ips?: string[],
 *   state?: StreamPhase, meaning?: string, code?: string|null, detail?: string,
 *   retry_t?: number|null, connected_ns?: number|null, renewed?: boolean, did_work?: boolean,
 *   failed?: boolean, held?: number, healthy?: boolean, message?: string, period_ns?: number,
 *   hung?: boolean, method?: string, age_ns?: number, hop?: string, count?: number,
 *   from_t?: number, behind_ns?: number, level?: "info"|"warning", text?: string, threshold_ns?: number,
 *   profile?: string, queue_capacity?: number, api_version?: string
 * }} Rec One record of the journal; which fields are there depends on `kind`.
 *
 * @typedef {{
 *   relist: number, scope: "global"|"pod", source: RelistSource, started: number, uid: string|null,
 *   duration_ns: number|null, ok: boolean|null, pods: number, containers: number, code: FailCode|null
 * }} RelistState
 *
 * @typedef {"silent"|"unreachable"|"error"|"stopped"} FailCode Why a relist failed: the runtime did not answer in
 *   time, could not be reached, or answered with an error; or plegscope itself was stopped.
 *
 * @typedef {{
 *   t: number, profile: string, period_ns: number, pace_ns: number,
 *   health: {healthy: boolean, message: string, last_start_t: number|null, threshold_ns: number,
 *            last_seen: number|null},
 *   stream: {state: StreamPhase, since_t: number, meaning: string, policy: "join"|"relist_only",
 *            attempt: number, retry_t: number|null, code: string|null, detail: string},
 *   queue: {length: number, capacity: number, held: number, suspended: number},
 *   running: RelistState|null, last_global: RelistState|null, next_global_t: number|null,
 *   pods: number, containers: number, events: Record<string, number>,
 *   requests: Record<string, number>, stream_events: Record<string, number>
 * }} EngineState
 *
 * @typedef {{
 *   session: string, title: string, simulated: boolean, endpoint: string, endpoint_reason: string,
 *   wall: number, engine: EngineState,
 *   cost: {cpu: number, calls_per_s: number, bytes_per_s: number, rss_bytes: number},
 *   runtime: Rec|null, oldest_call: {method: string, since_t: number, hung: boolean}|null,
 *   viewers: number, first_seq: number, last_seq: number, ended?: boolean, speed?: number,
 *   recording?: {well: boolean, trouble: string, file: string, bytes_total: number,
 *                bytes_per_s: number, cpu: number, lost: number}|null,
 *   faults?: FaultAtWork[], unrecorded?: Unrecorded|null
 * }} SessionState `unrecorded`: a player's cursor is in a time that nobody recorded; no server says so.
 *
 * @typedef {{
 *   number: number, name: string, text: string, target: string, since_t: number,
 *   until_t: number|null, imitates: string
 * }} FaultAtWork
 *
 * @typedef {{from: number, to: number, edge?: "before"|"after"}} Unrecorded
 *   `edge`: before all that is recorded of the node, or after it; else between two recordings.
 *
 * @typedef {{
 *   uid: string, name: string, namespace: string, seen_t: number, gone_t: number|null,
 *   last_t: number, running: number, containers: any[], ips: string[], error: string,
 *   syncing: boolean, sandbox_gone?: boolean
 * }} PodRow
 *
 * @typedef {{type: "hello", session: string, version: string, resumed: boolean}} HelloMessage
 * @typedef {{type: "snapshot", state: SessionState, pods: PodRow[], records: Rec[],
 *            truncated: boolean, seq: number, rewind?: boolean, before?: boolean}} SnapshotMessage
 *   `rewind`: a player shows another moment of what it has shown before; no server says so, nor
 *   `before`: the pods are as they were before the first of the records.
 * @typedef {{type: "batch", first: number, last: number, records: Rec[]}} BatchMessage
 * @typedef {{type: "state", state: SessionState}} StateMessage
 * @typedef {{type: "lagging", skipped: number, lost: number}} LaggingMessage
 * @typedef {{type: "bye", reason: string}} ByeMessage
 * @typedef {HelloMessage|SnapshotMessage|BatchMessage|StateMessage|LaggingMessage|ByeMessage} Message
 */
export {};
