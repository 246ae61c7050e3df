import type { CapturedEvent } from '@hansard/events';
import { freezeDeep, newEvent } from '@hansard/events/plain';
import type {
  AgentActivity,
  AgentProvider,
  AgentRunRequest,
  AgentToolCall,
  Awaitable,
  OfferedTool,
  ToolCallVerdict,
} from '@hansard/provider';
import type { CommonFixture } from '../conformance-case.ts';
import { returns, settles } from '../expectations.ts';

/**
 * `slow`: the agent yields at least one item, and then continues for longer than `patienceMs`, unless the signal aborts.
 * `ownTool`: the agent calls a tool of its own once. `offeredTool`: the agent calls the tool `conformance_echo`, which the kit
 * offers, with the input `{ "text": "echo" }`. `messages`: the agent ends only when it has received a message.
 * `recording`: the agent plays a recording.
 */
export type AgentScenario = 'slow' | 'ownTool' | 'offeredTool' | 'messages' | 'recording';

export interface AgentFixture extends CommonFixture {
  readonly provider: AgentProvider;
  /** The request of the scenario. Absent: a short prompt. */
  readonly request?: Partial<Pick<AgentRunRequest, 'prompt' | 'role' | 'model' | 'cwd'>>;
  /**
   * Whether the effect of the scenario exists: of `ownTool`, what the tool does, such as a file; of `messages`, the text in what
   * the model was given. Required for these two.
   */
  readonly hasEffect?: (text: string) => Awaitable<boolean>;
}

/** The text of the message that the kit sends in the scenario `messages`. */
export const messageText = 'a message of the conformance kit';

/** The tool that the kit offers in the scenario `offeredTool`. */
export const offeredToolName = 'conformance_echo';

export interface AgentRunOptions {
  readonly signal?: AbortSignal;
  readonly dispatchId?: string;
  /** Answers `askHooks`. Absent: allows. */
  readonly decide?: (call: AgentToolCall) => Awaitable<ToolCallVerdict>;
  /** Gets the number of items so far, after each; false leaves the run. */
  readonly onItem?: (count: number) => boolean | undefined;
  /** Whether a message is waiting for the agent. */
  readonly message?: boolean;
  readonly offers?: readonly OfferedTool[];
  /** Freezes the plain values of the request. */
  readonly isFrozen?: boolean;
}

export interface AgentRunRecord {
  readonly items: AgentActivity[];
  readonly asked: AgentToolCall[];
}

/** Runs the agent as `runDispatch` does: one item at a time, until its end. */
export async function runToEnd(
  { provider, request = {} }: AgentFixture,
  options: AgentRunOptions,
  record: AgentRunRecord,
): Promise<void> {
  const { signal = new AbortController().signal, dispatchId = 'dispatch-1', onItem, offers = [] } = options;
  const decide = options.decide ?? (({ input }) => ({ decision: 'allow', input, isAltered: false }));
  const over = new AbortController();
  const given: AgentRunRequest = {
    taskDir: 'conformance/tasks/agent',
    dispatchId,
    prompt: 'Say a few words.',
    role: 'tester',
    model: null,
    cwd: null,
    fidelity: 'full',
    messages: messagesUntil(AbortSignal.any([signal, over.signal]), options.message === true),
    signal,
    tools: offers,
    async askHooks(call) {
      signal.throwIfAborted();
      record.asked.push(structuredClone(call));
      return decide(call);
    },
    ...request,
  };
  if (options.isFrozen === true) {
    freezeDeep(given.tools.map(({ definition }) => definition));
    Object.freeze(given);
  }
  try {
    for await (const item of provider.run(given)) {
      record.items.push(item);
      if (onItem?.(record.items.length) === false) return;
    }
  } finally {
    over.abort();
  }
}

/** Runs the agent to its end. Fails where it throws, or does not end in time. */
export async function completeRun(
  fixture: AgentFixture,
  patienceMs: number,
  options: AgentRunOptions = {},
): Promise<AgentRunRecord> {
  const record: AgentRunRecord = { items: [], asked: [] };
  await returns('the run', patienceMs, () => runToEnd(fixture, options, record));
  return record;
}

/** Runs the agent until it stops. Fails only where it does not stop in time. */
export async function stoppedRun(
  what: string,
  fixture: AgentFixture,
  patienceMs: number,
  options: AgentRunOptions,
): Promise<AgentRunRecord> {
  const record: AgentRunRecord = { items: [], asked: [] };
  await settles(what, patienceMs, () => runToEnd(fixture, options, record));
  return record;
}

export function eventsOf({ items }: AgentRunRecord) {
  return items.flatMap((item) => (item.kind === 'event' ? [item.event] : []));
}

async function* messagesUntil(
  signal: AbortSignal,
  hasMessage: boolean,
): AsyncGenerator<CapturedEvent, undefined> {
  if (hasMessage)
    yield {
      ...newEvent('user:message', { text: messageText, source: { kind: 'user' } }),
      id: 'conformance-message-1',
      timestamp: '2026-03-01T09:00:00.000Z',
    };
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  return undefined;
}
