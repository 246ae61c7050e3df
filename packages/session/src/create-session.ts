import { openToolbox } from '@hansard/dispatch';
import type { Agent } from './agents/agent.ts';
import { createAgent } from './agents/create-agent.ts';
import { Session } from './session.ts';
import { checkSessionOptions, type SessionOptions, withDefaults, writerOptions } from './session-options.ts';
import { createSessionParts } from './session-parts.ts';

/**
 * Begins a session: a new dispatch of fidelity `full`, and its root agent. If it rejects, there is at most a dispatch without
 * agents.
 *
 * @throws the errors of `beginDispatch` of the store; the error of a tool provider that cannot list its tools; TypeError for
 * an invalid limit
 */
export async function createSession(given: SessionOptions): Promise<{ root: Agent; session: Session }> {
  checkSessionOptions(given);
  const options = withDefaults(given);
  options.signal?.throwIfAborted();
  const toolbox = await openToolbox(options.tools ?? [], options.signal);
  const { store, role = 'session', languageModel, systemPrompt } = options;
  const dispatch = await store.beginDispatch(
    options.taskDir,
    { role, dispatchId: options.dispatchId, model: languageModel, fidelity: 'full' },
    writerOptions(options),
  );
  const parts = createSessionParts(options, dispatch, toolbox);
  parts.life.start();
  try {
    await createAgent(parts.record, languageModel === undefined ? {} : { languageModel }, systemPrompt);
  } catch (error) {
    dispatch.abandon();
    parts.life.stop(error);
    throw error;
  }
  const session = new Session(parts);
  return { root: session.root, session };
}
