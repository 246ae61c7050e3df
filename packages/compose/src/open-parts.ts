import { type CommunicationHub, type DispatchStore, uncountedModels } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import type { LoadedPlugins } from '@hansard/plugin-loader';
import type { AgentProvider, LanguageModelProvider } from '@hansard/provider';
import type { Agent, Session } from '@hansard/session';
import type { LoadedConfig } from './configuration.ts';
import { type HarnessContext, noteTo } from './context.ts';
import { type HarnessError, harnessErrors } from './harness-errors.ts';

/** What a configuration opened. */
export interface OpenParts {
  readonly context: HarnessContext;
  readonly loaded: LoadedConfig;
  readonly plugins: LoadedPlugins;
  readonly store: DispatchStore;
  readonly communication: CommunicationHub;
}

/** A session that a program talks in: the agent that it talks to, and the session. */
export interface Chat {
  readonly root: Agent;
  readonly session: Session;
}

/** @throws HARNESS_PROVIDER_UNKNOWN */
export function agentOf({ plugins }: Pick<OpenParts, 'plugins'>, id: string): AgentProvider {
  const agents = plugins.providers('AgentProvider');
  const found = agents.find((entry) => entry.id === id);
  if (found === undefined) throw unknownProvider('agent', id, agents);
  return found.provider;
}

/** @throws HARNESS_PROVIDER_UNKNOWN */
export function languageModelOf({ plugins }: Pick<OpenParts, 'plugins'>, id: string): LanguageModelProvider {
  const models = plugins.providers('LanguageModelProvider');
  const found = models.find((entry) => entry.id === id);
  if (found === undefined) throw unknownProvider('language model', id, models);
  return found.provider;
}

function unknownProvider(what: string, id: string, loaded: readonly { readonly id: string }[]): HarnessError {
  const known = loaded.map((entry) => entry.id).join(', ') || 'none';
  return harnessErrors.error(
    'HARNESS_PROVIDER_UNKNOWN',
    `There is no ${what} ${JSON.stringify(id)} (loaded: ${known}).`,
  );
}

/** Notes that the cost limit of the configuration did not count a dispatch, or some of its models. */
export function noteUncountedCost(
  { context, loaded: { config } }: Pick<OpenParts, 'context' | 'loaded'>,
  envelope: Pick<DispatchEnvelope, 'cost' | 'models'> | null,
): void {
  const limit = config.limits.costUsd;
  const { cost = null, models = null } = envelope ?? {};
  const names = uncountedModels(models).map(({ model }) => model);
  if (limit === undefined || names.length === 0) return;
  const what = cost === null ? 'did not count this session' : 'did not count all of this session';
  noteTo(
    context,
    `hansard: limits.costUsd (${limit}) ${what}: the log does not state what the calls of ${names.join(', ')} cost. limits.timeMs limits its time.`,
  );
}
