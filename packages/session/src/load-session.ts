import type { Agent } from './agents/agent.ts';
import { Session } from './session.ts';
import type { LoadSessionOptions } from './session-options.ts';

/**
 * Goes on with a session where its log ends: one pass over the events restores the agents and the counters; transcripts
 * are rebuilt when they are asked for. Tool calls that were open get a result that says `interrupted`, and the dispatch
 * is `running` again. A message that was not answered is answered by `response()`: see `Agent.awaitsResponse`.
 *
 * @throws SESSION_NOT_FULL, SESSION_LOG_INVALID, STORE_DISPATCH_NOT_FOUND, STORE_LOCKED (another process, or
 * another session or run of this one, has it); otherwise as `createSession`
 */
export async function loadSession(options: LoadSessionOptions): Promise<{ root: Agent; session: Session }> {
  const session = await Session.load(options);
  return { root: session.root, session };
}
