import { fileURLToPath } from 'node:url';
import type { RunPage } from '@hansard/comm-web';
import {
  type Harness,
  type HarnessContext,
  type HarnessError,
  harnessErrors,
  lookedIn,
  type OpenHarnessOptions,
  openHarness,
  type PlaceOptions,
} from '@hansard/compose';
import { findMalformedEvent } from '@hansard/dispatch';
import { isHansardError } from '@hansard/events/hansard-error';
import type { StoreError } from '@hansard/provider';
import { CliError } from './terminal/cli-error.ts';
import { type CliContext, note } from './terminal/context.ts';

/** Agents that are installed with the command, by the names for `run --agent`. They are loaded even if no configuration names them. */
const knownAgents: Readonly<Record<string, { readonly id: string; readonly plugin: string }>> = {
  claude: { id: 'agent-claude', plugin: '@hansard/agent-claude' },
};

/** The id of the plugin that has the same page as `--view`. */
const runPagePlugin = 'comm-web';

/** The plugins installed with the command are found from its own folder, whatever the current folder. */
export const packageDirs = [fileURLToPath(new URL('.', import.meta.url))];

export interface CommandHarnessOptions extends PlaceOptions, Pick<OpenHarnessOptions, 'load' | 'retryMs'> {
  /** The agent to run, as `run --agent` names it. */
  readonly agent?: string | undefined;
  /** Whether the dispatches have a page, as `run --view` asks for. */
  readonly view?: boolean | undefined;
}

/** What a harness uses of the process of a command. */
export function harnessContext(context: CliContext): HarnessContext {
  const { cwd, env, signal, now } = context;
  return { cwd, env, signal, ...(now === undefined ? {} : { now }), onNote: (line) => note(context, line) };
}

/** Opens the providers of a configuration for an action, and closes them after it, including after an error. */
export async function withHarness(
  context: CliContext,
  { agent, view, ...options }: CommandHarnessOptions,
  action: (harness: Harness) => Promise<void>,
): Promise<void> {
  const known = Object.values(knownAgents).find(({ id }) => id === agentId(agent));
  const page = view === true ? await pageOf(context, options) : null;
  await using harness = await openHarness({
    ...harnessContext(context),
    ...options,
    packageDirs,
    plugins: known === undefined ? [] : [known.plugin],
    communication: page === null ? [] : [page],
  });
  try {
    await action(harness);
  } catch (error) {
    if (isMissing(error)) throw withPlace(error, harness);
    throw isExplained(error) ? error : ((await malformedEventIn(harness)) ?? error);
  }
}

/** The id of the plugin of a named agent. */
export function agentId(name = ''): string {
  return knownAgents[name]?.id ?? name;
}

/** The page of `run --view`, which prints its address when the first dispatch begins. Null: the configuration has it. */
async function pageOf(
  context: CliContext,
  { load, config, root }: CommandHarnessOptions,
): Promise<RunPage | null> {
  const { loadConfig } = await import('@hansard/compose');
  const { communication } = loadConfig(context, { config, root }).config;
  const names = communication.map((use) => (typeof use === 'string' ? use : use.plugin));
  if (load === 'live' && names.some((name) => name.endsWith(runPagePlugin))) return null;
  const { createRunPage } = await import('@hansard/comm-web');
  return createRunPage({ announce: (address) => note(context, `The page of this run: ${address}`) });
}

type Missing = CliError | HarnessError;

/** Whether something is not where the command looked, so that the place helps. */
function isMissing(error: unknown): error is Missing {
  return error instanceof CliError
    ? error.isMissing
    : harnessErrors.is(error) && error.details.isPlace === true;
}

function withPlace(error: Missing, harness: Harness): Missing {
  const advice = `${error.advice}\n  ${lookedIn(harness)}`;
  return error instanceof CliError
    ? new CliError(error.exitCode, error.message, advice, { cause: error.cause })
    : harnessErrors.error(error.code, error.message, { advice, cause: error.cause });
}

function isExplained(error: unknown): boolean {
  return (
    error instanceof CliError ||
    isHansardError(error) ||
    !(error instanceof Error) ||
    error.name === 'AbortError'
  );
}

/** The malformed event that is the likely reason for an error without a code; null if what was read is well-formed. */
async function malformedEventIn({ store, read }: Harness): Promise<StoreError | null> {
  for (const dispatch of [...read.values()]) {
    // A dispatch that cannot be read at all is not the reason.
    const found = await findMalformedEvent(store, dispatch).catch(() => null);
    if (found !== null) return found;
  }
  return null;
}
