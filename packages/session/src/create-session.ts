import { holdDispatch, openToolbox } from '@hansard/dispatch';
import type { Agent } from './agents/agent.ts';
import { createAgent } from './agents/create-agent.ts';
import { Session } from './session.ts';
import { checkSessionOptions, type SessionOptions } from './session-options.ts';
import { createSessionParts } from './session-parts.ts';

/**
 * Begins a session: a new dispatch of fidelity `full`, and its root agent. Where it rejects, nothing has begun but, at
 * most, a dispatch without agents.
 *
 * @throws what `createDispatch` of the store throws; the error of a tool provider that can't list its tools; TypeError
 * for a limit that makes no sense
 */
export async function createSession(options: SessionOptions): Promise<{ root: Agent; session: Session }> {
  checkSessionOptions(options);
  options.signal?.throwIfAborted();
  const toolbox = await openToolbox(options.tools ?? [], options.signal);
  const { store, taskDir, dispatchId, role = 'session', languageModel, systemPrompt } = options;
  const envelope = await store.createDispatch(taskDir, {
    role,
    dispatchId,
    model: languageModel,
    fidelity: 'full',
  });
  const hold = holdDispatch(store, taskDir, envelope.dispatchId, 'a session');
  const parts = createSessionParts(options, envelope, toolbox, hold);
  parts.start(envelope);
  try {
    await createAgent(parts, languageModel === undefined ? {} : { languageModel }, systemPrompt);
  } catch (error) {
    hold.abandon();
    parts.stop(error);
    throw error;
  }
  const session = new Session(parts);
  return { root: session.root, session };
}
