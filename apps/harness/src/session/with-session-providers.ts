import { type Harness, withHarness } from '../harness.ts';
import type { CommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { type ModelChoice, openSessionProviders, type SessionProviders } from './session-providers.ts';

export interface ConversationOptions extends CommonOptions {
  readonly interactive?: boolean;
  readonly quiet?: boolean;
  readonly parallel?: number;
  readonly view?: boolean;
}

/** Opens the configuration for a conversation, without the console if it is quiet, and closes it after the action. */
export function withConversation(
  context: CliContext,
  { config, root, quiet, json, view }: ConversationOptions,
  action: (harness: Harness) => Promise<void>,
): Promise<void> {
  const load = quiet === true || json === true ? 'live without communication' : 'live';
  return withHarness(context, { config, root, load, view }, action);
}

/** Opens the providers of a session, and closes them after the action, including after an error. */
export async function withSessionProviders(
  harness: Harness,
  choice: ModelChoice,
  action: (providers: SessionProviders) => Promise<void>,
): Promise<void> {
  const providers = await openSessionProviders(harness, choice);
  try {
    await action(providers);
  } finally {
    await providers.close();
  }
}
