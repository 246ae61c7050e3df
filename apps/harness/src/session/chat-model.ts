import { dirname, resolve } from 'node:path';
import { type ChatOptions, type Harness, harnessErrors } from '@hansard/compose';
import { openScriptedModel, readScenario, type Scenario } from '@hansard/model-scripted';
import { type LoadedPlugins, loadPlugins } from '@hansard/plugin-loader';
import { createSessionTools } from '@hansard/tools-session';
import { packageDirs, withHarness } from '../harness.ts';
import type { CommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';

const scriptedPrefix = 'scripted:';

export interface ConversationOptions extends CommonOptions {
  readonly interactive?: boolean;
  readonly quiet?: boolean;
  readonly parallel?: number;
  readonly attach?: readonly string[];
  readonly view?: boolean;
}

/** Opens the configuration for a conversation, without the console if it is quiet, and closes it after the action. */
export function withConversation(
  context: CliContext,
  { config, root, quiet, json, view }: ConversationOptions,
  action: (harness: Harness) => Promise<void>,
): Promise<void> {
  const load = quiet === true || json === true ? 'record' : 'live';
  return withHarness(context, { config, root, load, view }, action);
}

/** The model of a session: a scenario file, or the language model of a configured plugin. */
export type ModelChoice =
  | { readonly kind: 'scenario'; readonly path: string }
  | { readonly kind: 'plugin'; readonly id: string };

/** The choice for a recorded model name. */
export function toModelChoice(languageModel: string): ModelChoice {
  return languageModel.startsWith(scriptedPrefix)
    ? { kind: 'scenario', path: languageModel.slice(scriptedPrefix.length) }
    : { kind: 'plugin', id: languageModel };
}

/** What a chat of the command has: its model, and besides what is configured the tools for agents and the hooks of a scenario. */
export interface ChatModel {
  readonly chat: Required<Pick<ChatOptions, 'model' | 'tools' | 'hooks'>>;
  /** The lines of the user in the scenario; empty without a scenario. */
  readonly inputs: Scenario['user'];
}

/** Opens the model of a chat, and closes it after the action, including after an error. */
export async function withChatModel(
  choice: ModelChoice,
  action: (model: ChatModel) => Promise<void>,
): Promise<void> {
  const tools = [createSessionTools()];
  if (choice.kind === 'plugin') return action({ chat: { model: choice.id, tools, hooks: [] }, inputs: [] });
  const path = resolve(choice.path);
  const scenario = await readScenario(path);
  const model = await openScriptedModel({ path });
  const own = await loadScenarioHooks(path, scenario);
  try {
    const hooks = own.providers('HookProvider').map(({ provider }) => provider);
    const named = { model, languageModel: `${scriptedPrefix}${path}` };
    await action({ chat: { model: named, tools, hooks }, inputs: scenario.user });
  } finally {
    await own.close();
  }
}

/** A scenario depends on its hooks, so it fails if one can't be loaded. */
async function loadScenarioHooks(path: string, { hooks }: Scenario): Promise<LoadedPlugins> {
  const own = await loadPlugins({ baseDir: dirname(path), packageDirs, plugins: hooks });
  const { length } = own.providers('HookProvider');
  if (own.errors.length === 0 && length === hooks.length) return own;
  const noHook = own.report.plugins.find(({ provides }) => provides !== 'HookProvider');
  const [error] = own.errors;
  await own.close();
  throw harnessErrors.error(
    'HARNESS_CONFIG_INVALID',
    `A hook of ${path} can't be used: ${error === undefined ? `${noHook?.id} is not a hook.` : `${error.code}: ${error.message}`}`,
    { advice: 'Correct "hooks" in the scenario.', cause: error },
  );
}
