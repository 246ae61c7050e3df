import type { Agent } from './agents/agent.ts';
import { loadParts } from './load-parts.ts';
import { Session } from './session.ts';
import type { LoadSessionOptions } from './session-options.ts';

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
