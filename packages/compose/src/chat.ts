import type { DispatchRef } from '@hansard/dispatch';
import { definedOnly, type Fidelity } from '@hansard/events';
import type { ContextPolicy } from '@hansard/prompt';
import { createTokenCounter } from '@hansard/prompt/tokens';
import type { HookProvider, LanguageModelProvider, ToolProvider } from '@hansard/provider';
import { type OpenSessionOptions, openSession } from '@hansard/session';
import { contextPolicy } from './configuration.ts';
import { inWords, noteTo } from './context.ts';
import { modelNotRecorded } from './harness-errors.ts';
import { type Chat, languageModelOf, type OpenParts } from './open-parts.ts';
import { earlierOutcomes } from './run/earlier-outcomes.ts';
import { dispatchLimits } from './run/run-in-harness.ts';
import { isLogFile, resolveSession } from './sessions/resolve-session.ts';
import { type SessionOfFile, sessionOfFile } from './sessions/session-of-file.ts';
import { toTaskDir } from './sessions/task-name.ts';

/** Milliseconds. A claim with a longer lease is refused. */
const longestWait = 60_000;

/** A language model of the program, with the name that the log keeps. */
interface NamedModel {
  readonly model: LanguageModelProvider;
  readonly languageModel: string;
}

/** What a program adds to the tools and hooks of the configuration. */
interface AddedProviders {
  readonly tools?: readonly ToolProvider[];
  readonly hooks?: readonly HookProvider[];
  /** How many tool calls of one answer are made at the same time. Absent: as the configuration says, or 1. */
  readonly parallelToolCalls?: number;
  /** As `onIncoming` of a session. */
  readonly onIncoming?: OpenSessionOptions['onIncoming'];
  /** As `onPending` of a session. */
  readonly onPending?: OpenSessionOptions['onPending'];
}

export interface ChatOptions extends AddedProviders {
  /** The task, as PROJECT/SLUG or a whole `taskDir`. */
  readonly task: string;
  /** The id of the plugin of a language model, or a model of the program. */
  readonly model: string | NamedModel;
  /** Absent: `agent`. */
  readonly role?: string;
  readonly systemPrompt?: string;
  /** Gives the agent the outcomes of earlier sessions of the task, before the system prompt. */
  readonly withHistory?: boolean;
  /** Absent: the bot of the configuration. */
  readonly bot?: string;
  /** Absent: `full`. What a narrative can not continue with: see `fidelity` of a session. */
  readonly fidelity?: Fidelity;
}

export interface ResumeChatOptions extends AddedProviders {
  /** Absent: the model that the session had, which a plugin of the configuration must provide. */
  readonly model?: string | NamedModel;
  /** Of a file: the task with its copy, as PROJECT/SLUG or a whole `taskDir`. Absent: where it is, or else `chat/` and the name of the file. */
  readonly task?: string;
}

export async function beginChat(harness: OpenParts, options: ChatOptions): Promise<Chat> {
  const { store, context, communication, loaded } = harness;
  const taskDir = toTaskDir(options.task);
  const priorOutcomes = options.withHistory === true ? await earlierOutcomes(store, taskDir) : undefined;
  const session = await openSession({
    store,
    taskDir,
    communication,
    onTaskProblem: (error) =>
      noteTo(
        context,
        `hansard: ${inWords(error)}\n  Only listings need the record of a task; recording continues.`,
      ),
    ...(await providersOf(harness, options.model, options)),
    ...definedOnly({
      systemPrompt: options.systemPrompt || undefined,
      priorOutcomes,
      fidelity: options.fidelity,
      role: options.role,
      botId: options.bot ?? loaded.config.bot,
      signal: context.signal,
    }),
  });
  return { root: session.root, session };
}

export async function resumeChat(
  harness: OpenParts,
  session: string | DispatchRef | SessionOfFile,
  options: ResumeChatOptions,
): Promise<Chat> {
  const { store, context, communication } = harness;
  const named =
    typeof session === 'string' && isLogFile(context.cwd, session)
      ? await sessionOfFile(harness, session, options.task)
      : session;
  const file = typeof named === 'object' && 'copy' in named ? named : null;
  const stored =
    file?.copied ?? (typeof named === 'string' ? await resolveSession(store, named) : (named as DispatchRef));
  const recorded = file?.copied === null ? null : (await store.openDispatch(stored)).envelope.model;
  const model = options.model ?? recorded ?? file?.languageModel ?? null;
  if (model === null) throw modelNotRecorded(file?.name ?? stored.dispatchId);
  // Before a file is copied.
  const providers = await providersOf(harness, model, options);
  const { taskDir, dispatchId } = file === null ? stored : await file.copy();
  const continued = await openSession({
    store,
    taskDir,
    dispatchId,
    expect: 'existing',
    needsRoot: true,
    communication,
    ...definedOnly({ signal: context.signal, events: file?.events }),
    ...providers,
    wait: {
      waitMs: longestWait,
      onWait: ({ message }, waitMs) =>
        noteTo(context, `hansard: ${message}\nhansard: waiting for up to ${Math.ceil(waitMs / 1_000)} s`),
    },
  });
  for (const { message } of continued.diagnostics) noteTo(context, `hansard: ${message}`);
  return { root: continued.root, session: continued };
}

type SessionProviders = NamedModel &
  Pick<
    OpenSessionOptions,
    | 'tools'
    | 'hooks'
    | 'workers'
    | 'limits'
    | 'loopDetector'
    | 'hookTimeoutMs'
    | 'parallelToolCalls'
    | 'onIncoming'
    | 'onPending'
    | 'context'
    | 'tokens'
  >;

/** The providers and settings of a session, by the configuration and what the program adds. Hooks of the program are asked first. */
async function providersOf(
  { plugins, loaded: { config } }: OpenParts,
  model: string | NamedModel,
  {
    tools = [],
    hooks = [],
    parallelToolCalls = config.parallelToolCalls,
    onIncoming,
    onPending,
  }: AddedProviders,
): Promise<SessionProviders> {
  const watched = dispatchLimits(config);
  const agents = plugins.providers('AgentProvider').map(({ id, provider }) => [id, provider] as const);
  const workers = { agents: Object.fromEntries(agents), ...definedOnly({ limits: watched.limits }) };
  return {
    ...(typeof model === 'string'
      ? { model: languageModelOf({ plugins }, model), languageModel: model }
      : model),
    tools: [...tools, ...plugins.providers('ToolProvider').map(({ provider }) => provider)],
    hooks: [...hooks, ...plugins.providers('HookProvider').map(({ provider }) => provider)],
    ...watched,
    ...(agents.length === 0 ? {} : { workers }),
    ...definedOnly({ parallelToolCalls, onIncoming, onPending }),
    ...(await contextSettings(contextPolicy(config))),
  };
}

/** Loads the tokenizer only for a policy that counts tokens. */
async function contextSettings(
  context: ContextPolicy | undefined,
): Promise<Pick<SessionProviders, 'context' | 'tokens'>> {
  if (context === undefined) return {};
  return context.name === 'faded' ? { context, tokens: await createTokenCounter() } : { context };
}
