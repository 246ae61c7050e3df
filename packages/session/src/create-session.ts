import { ensureTaskOf, openToolbox } from '@hansard/dispatch';
import type { Agent } from './agents/agent.ts';
import { createAgent, createPeers } from './agents/create-agent.ts';
import { loadParts } from './load-parts.ts';
import type { SessionRecord } from './log/session-record.ts';
import { Session } from './session.ts';
import {
  checkSessionOptions,
  type LoadSessionOptions,
  type PeerSessionOptions,
  type SessionOptions,
  withDefaults,
  writerOptions,
} from './session-options.ts';
import { createSessionParts } from './session-parts.ts';

/**
 * Begins a session: a new dispatch of fidelity `full`, its root agent, and the record of the task if it has none. If it rejects, there is at most a dispatch without
 * agents.
 *
 * @throws the errors of `beginDispatch` of the store; the error of a tool provider that cannot list its tools; TypeError for
 * an invalid limit
 */
export async function createSession(given: SessionOptions): Promise<{ root: Agent; session: Session }> {
  const { languageModel, systemPrompt } = given;
  const creation = languageModel === undefined ? {} : { languageModel };
  const session = await begin(given, (record) => createAgent(record, creation, systemPrompt));
  return { root: session.root, session };
}

/**
 * Begins a session without a root, whose agents are all equals. They are created with one append, and `session.createAgent`
 * adds others. An event without `agentId` belongs to the session and to no agent. Load it with `Session.load`.
 *
 * @throws as `createSession`; TypeError without any peer
 */
export async function createPeerSession({
  peers,
  ...options
}: PeerSessionOptions): Promise<{ peers: readonly Agent[]; session: Session }> {
  if (peers.length === 0) throw new TypeError('A session of peers needs at least one peer.');
  let agentIds: readonly string[] = [];
  const session = await begin(options, async (record) => {
    agentIds = await createPeers(record, peers);
  });
  return { peers: await Promise.all(agentIds.map((agentId) => session.getAgent(agentId))), session };
}

/** Begins the dispatch of a session, and creates its first agents. */
async function begin(
  given: Omit<SessionOptions, 'systemPrompt'>,
  createAgents: (record: SessionRecord) => Promise<unknown>,
): Promise<Session> {
  checkSessionOptions(given);
  const options = withDefaults(given);
  options.signal?.throwIfAborted();
  const toolbox = await openToolbox(options.tools ?? [], options.signal);
  const { store, role = 'session', languageModel, botId } = options;
  const dispatch = await store.beginDispatch(
    options.taskDir,
    { role, dispatchId: options.dispatchId, model: languageModel, botId, fidelity: 'full' },
    writerOptions(options),
  );
  const parts = createSessionParts(options, dispatch, toolbox);
  parts.life.start();
  try {
    await ensureTaskOf(store, options.taskDir, dispatch.envelope, options.onTaskProblem);
    await createAgents(parts.record);
  } catch (error) {
    dispatch.abandon();
    parts.life.stop(error);
    throw error;
  }
  return new Session(parts);
}

/**
 * Resumes a session at the end of its log. One pass over the events restores the agents and the counters; transcripts are
 * rebuilt when they are needed. Tool calls that were open get the result `interrupted`, and the dispatch is `running`
 * again. `response()` answers a message that was not answered: see `Agent.awaitsResponse`.
 *
 * @throws SESSION_NOT_FULL, SESSION_LOG_INVALID, SESSION_NO_ROOT (a session of peers: use `Session.load`), STORE_DISPATCH_NOT_FOUND, STORE_LOCKED (another process,
 * or another session or run of this one, writes it); otherwise as `createSession`
 */
export async function loadSession(options: LoadSessionOptions): Promise<{ root: Agent; session: Session }> {
  const { parts, diagnostics } = await loadParts(options, true);
  const session = new Session(parts, diagnostics);
  return { root: session.root, session };
}
