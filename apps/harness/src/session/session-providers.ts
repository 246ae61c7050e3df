import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { definedOnly } from '@hansard/events';
import { openScriptedModel, readScenario, type Scenario } from '@hansard/model-scripted';
import { type LoadedPlugins, loadPlugins } from '@hansard/plugin-loader';
import type { ContextPolicy } from '@hansard/prompt';
import { createTokenCounter, type TokenCounter } from '@hansard/prompt/tokens';
import type { HookProvider, LanguageModelProvider, ToolProvider } from '@hansard/provider';
import { createSessionTools } from '@hansard/tools-session';
import { contextPolicy } from '../config.ts';
import type { Harness } from '../harness.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';

const scriptedPrefix = 'scripted:';

/** The model of a session: a scenario file, or the language model of a configured plugin. */
export type ModelChoice =
  | { readonly kind: 'scenario'; readonly path: string }
  | { readonly kind: 'plugin'; readonly id: string };

/** The providers of a session. */
export interface SessionProviders {
  readonly model: LanguageModelProvider;
  /** The name of the model in the log, which `resume` uses. */
  readonly languageModel: string;
  readonly tools: readonly ToolProvider[];
  readonly hooks: readonly HookProvider[];
  /** The limit of one model call; absent: no limit. */
  readonly modelTimeoutMs?: number;
  /** How many tool calls of one answer are made at the same time; absent: 1. */
  readonly parallelToolCalls?: number;
  /** The limit of one decision of a hook; absent: the default of sessions. */
  readonly hookTimeoutMs?: number;
  /** The part of the log that models receive; absent: everything. */
  readonly context?: ContextPolicy;
  /** Counts the tokens of a fading context. */
  readonly tokens?: TokenCounter;
  /** The lines of the user in the scenario; empty without a scenario. */
  readonly inputs: Scenario['user'];
  close(): Promise<void>;
}

/** The choice for a recorded model name. */
export function toModelChoice(languageModel: string): ModelChoice {
  return languageModel.startsWith(scriptedPrefix)
    ? { kind: 'scenario', path: languageModel.slice(scriptedPrefix.length) }
    : { kind: 'plugin', id: languageModel };
}

export async function openSessionProviders(harness: Harness, choice: ModelChoice): Promise<SessionProviders> {
  const { plugins, loaded } = harness;
  const { limits, parallelToolCalls } = loaded.config;
  const settings = {
    ...definedOnly({ modelTimeoutMs: limits.stallMs, hookTimeoutMs: limits.hookMs, parallelToolCalls }),
    ...(await contextSettings(contextPolicy(loaded.config))),
  };
  const tools = [createSessionTools(), ...plugins.providers('ToolProvider').map(({ provider }) => provider)];
  const hooks = plugins.providers('HookProvider').map(({ provider }) => provider);
  if (choice.kind === 'plugin') {
    const model = findModel(plugins, choice.id);
    return { model, languageModel: choice.id, tools, hooks, ...settings, inputs: [], close: async () => {} };
  }
  const path = resolve(choice.path);
  const scenario = await readScenario(path);
  const model = await openScriptedModel({ path });
  const own = await loadScenarioHooks(path, scenario);
  return {
    model,
    languageModel: `${scriptedPrefix}${path}`,
    tools,
    hooks: [...own.providers('HookProvider').map(({ provider }) => provider), ...hooks],
    ...settings,
    inputs: scenario.user,
    close: () => own.close(),
  };
}

/** Loads the tokenizer only for a policy that counts tokens. */
async function contextSettings(
  context: ContextPolicy | undefined,
): Promise<Pick<SessionProviders, 'context' | 'tokens'>> {
  if (context === undefined) return {};
  return context.name === 'faded' ? { context, tokens: await createTokenCounter() } : { context };
}

/** A scenario depends on its hooks, so it fails if one can't be loaded. */
async function loadScenarioHooks(path: string, { hooks }: Scenario): Promise<LoadedPlugins> {
  const own = await loadPlugins({
    baseDir: dirname(path),
    packageDirs: [fileURLToPath(new URL('.', import.meta.url))],
    plugins: hooks,
  });
  const { length } = own.providers('HookProvider');
  if (own.errors.length === 0 && length === hooks.length) return own;
  const noHook = own.report.plugins.find(({ provides }) => provides !== 'HookProvider');
  const [error] = own.errors;
  await own.close();
  throw new CliError(
    exitCode.usage,
    `A hook of ${path} can't be used: ${error === undefined ? `${noHook?.id} is not a hook.` : `${error.code}: ${error.message}`}`,
    'Correct "hooks" in the scenario.',
    { cause: error },
  );
}

function findModel(plugins: LoadedPlugins, id: string): LanguageModelProvider {
  const models = plugins.providers('LanguageModelProvider');
  const found = models.find((entry) => entry.id === id);
  if (found !== undefined) return found.provider;
  const known = models.map((entry) => entry.id).join(', ') || 'none';
  throw new CliError(
    exitCode.usage,
    `There is no language model ${JSON.stringify(id)} (loaded: ${known}).`,
    'Name its plugin under "plugins" in hansard.config.json, or use a scenario file.',
  );
}
