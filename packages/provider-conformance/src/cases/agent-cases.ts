import assert from 'node:assert/strict';
import { type CapturedEvent, isEvent, type NewEvent } from '@hansard/events';
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
import { type CommonFixture, ConformanceKit, caseFamily } from '../conformance-case.ts';
import { expectClosesTwice, expectContract, expectText, preview, returns, settles } from '../expectations.ts';

/** The text of the message that the kit sends in the scenario `messages`. */
const messageText = 'a message of the conformance kit';

/** The tool that the kit offers in the scenario `offeredTool`. */
const offeredToolName = 'conformance_echo';

const deltaTypes = ['delta:text', 'delta:thinking', 'delta:tool_input'];

/** Types that only a working agent yields. */
const workTypes = ['agent:text', 'agent:thinking', 'agent:tool_call', 'agent:tool_result'];

function expectValid(event: NewEvent): void {
  const whole = { id: 'conformance-1', timestamp: '2026-03-01T09:00:00.000Z', ...event };
  if (!isEvent(whole)) assert.fail(`the agent yielded what is not an event: ${preview(event)}`);
}

function expectItems({ items }: AgentRunRecord): void {
  for (const item of items) {
    if (item?.kind === 'event') expectValid(item.event);
    else if (item?.kind !== 'delta')
      assert.fail(`the agent yielded ${preview(item)}, expected an event or a delta`);
    else if (!deltaTypes.includes(item.delta?.type))
      assert.fail(`a delta has the type ${preview(item.delta?.type)}`);
    else expectText(item.delta.text, 'the text of a delta');
  }
}

const callIdOf = ({ data }: NewEvent): unknown => data.toolCallId;
const callsIn = (events: readonly NewEvent[]) => events.filter(({ type }) => type === 'agent:tool_call');

async function effectOf({ hasEffect }: AgentFixture, text: string): Promise<boolean> {
  if (hasEffect === undefined) assert.fail('the fixture of this scenario needs hasEffect');
  return hasEffect(text);
}

const agentCases = caseFamily<AgentScenario, AgentFixture>('agents', [
  {
    name: 'contract',
    title: 'names the version of the contract and has its methods',
    run: ({ provider }) => expectContract(provider, 'AgentProvider', ['run']),
  },
  {
    name: 'valid-items',
    title: 'a run yields at least one event, and only valid events and deltas',
    async run(fixture, patienceMs) {
      const record = await completeRun(fixture, patienceMs);
      expectItems(record);
      assert.ok(eventsOf(record).length > 0, 'the run yielded no event');
    },
  },
  {
    name: 'unique-ids',
    title: 'no two events of a run have one id',
    async run(fixture, patienceMs) {
      const ids = eventsOf(await completeRun(fixture, patienceMs)).flatMap(({ id }) => id ?? []);
      const twice = ids.find((id, index) => ids.indexOf(id) !== index);
      if (twice !== undefined) assert.fail(`two events have the id ${twice}`);
    },
  },
  {
    name: 'stays-ended',
    title: 'a run that has ended yields nothing more',
    async run({ provider, request = {} }, patienceMs) {
      const fixture: AgentFixture = { request, provider: { contract: 1, run: (given) => checked(given) } };
      const checked: AgentFixture['provider']['run'] = async function* (given) {
        const iterator = provider.run(given)[Symbol.asyncIterator]();
        for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
          yield next.value;
        const after = await iterator.next();
        if (after.done !== true) assert.fail(`after its end the run yielded ${preview(after.value)}`);
      };
      await completeRun(fixture, patienceMs);
    },
  },
  {
    name: 'completion-last',
    title: 'the agent neither writes nor calls a tool after its last session:complete',
    async run(fixture, patienceMs) {
      const events = eventsOf(await completeRun(fixture, patienceMs));
      const last = events.findLastIndex(({ type }) => type === 'session:complete');
      const late = last < 0 ? undefined : events.slice(last).find(({ type }) => workTypes.includes(type));
      if (late !== undefined)
        assert.fail(`after the last session:complete the agent yielded ${preview(late)}`);
    },
  },
  {
    name: 'leaves-request',
    title: 'a run with a frozen request ends without an error',
    async run(fixture, patienceMs) {
      await completeRun(fixture, patienceMs, { isFrozen: true });
    },
  },
  {
    name: 'parallel',
    title: 'two runs at the same time end, each with its own events',
    async run(fixture, patienceMs) {
      const runs = ['dispatch-1', 'dispatch-2'].map((dispatchId) =>
        completeRun(fixture, patienceMs, { dispatchId }),
      );
      for (const [index, record] of (await Promise.all(runs)).entries())
        if (eventsOf(record).length === 0)
          assert.fail(`of two runs at the same time, number ${index + 1} has no event`);
    },
  },
  {
    name: 'aborted-before',
    title: 'a run whose signal has aborted stops soon',
    async run(fixture, patienceMs) {
      const signal = AbortSignal.abort(new Error('stopped by the kit'));
      await stoppedRun('a run with an aborted signal', fixture, patienceMs, { signal });
    },
  },
  {
    name: 'aborted-during',
    title: 'a run stops soon after its signal aborts, and what it still yields is valid',
    scenario: 'slow',
    async run(fixture, patienceMs) {
      const stop = new AbortController();
      const onItem = (count: number) => {
        if (count === 1) stop.abort(new Error('stopped by the kit'));
        return undefined;
      };
      const record = await stoppedRun('the run after the abort', fixture, patienceMs, {
        signal: stop.signal,
        onItem,
      });
      assert.ok(record.items.length > 0, 'a run of the scenario slow must yield at least one item');
      expectItems(record);
    },
  },
  {
    name: 'left-early',
    title: 'a run that nobody reads any more can be left',
    scenario: 'slow',
    async run(fixture, patienceMs) {
      const record: AgentRunRecord = { items: [], asked: [] };
      await returns('return of the iterator', patienceMs, () =>
        runToEnd(fixture, { onItem: () => false }, record),
      );
    },
  },
  {
    name: 'asks-hooks',
    title: 'the hooks are asked about each call of an own tool, before it happens',
    scenario: 'ownTool',
    async run(fixture, patienceMs) {
      let acted = false;
      const record = await completeRun(fixture, patienceMs, {
        decide: async ({ input }) => {
          acted ||= await effectOf(fixture, '');
          return { decision: 'allow', input, isAltered: false };
        },
      });
      const calls = callsIn(eventsOf(record)).map(callIdOf);
      assert.ok(calls.length > 0, 'a run of the scenario ownTool must yield agent:tool_call');
      const notAsked = calls.find((id) => !record.asked.some(({ toolCallId }) => toolCallId === id));
      if (notAsked !== undefined) assert.fail(`askHooks was not called for ${String(notAsked)}`);
      assert.ok(!acted, 'the tool had its effect before askHooks was called');
      assert.ok(await effectOf(fixture, ''), 'the hooks allowed the call, and the tool had no effect');
    },
  },
  {
    name: 'obeys-denial',
    title: 'a call that the hooks deny does not happen',
    scenario: 'ownTool',
    async run(fixture, patienceMs) {
      const record = await completeRun(fixture, patienceMs, {
        decide: () => ({ decision: 'deny', hook: 'conformance', reason: 'denied by the kit' }),
      });
      if (await effectOf(fixture, '')) assert.fail('the hooks denied the call, and the tool had its effect');
      const done = eventsOf(record).find(
        ({ type, data }) => type === 'agent:tool_result' && data.status === 'completed',
      );
      if (done !== undefined) assert.fail(`a denied call has the result ${preview(done.data)}`);
    },
  },
  {
    name: 'offered-tool',
    title: 'an offered tool is called through the request, without asking the hooks a second time',
    scenario: 'offeredTool',
    async run(fixture, patienceMs) {
      const made: string[] = [];
      const echo: OfferedTool = {
        definition: {
          name: offeredToolName,
          description: 'Repeats a text.',
          inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        },
        async call({ toolCallId }) {
          made.push(toolCallId);
          return { status: 'completed', text: 'echo' };
        },
      };
      const { items, asked } = await completeRun(fixture, patienceMs, { offers: [echo] });
      assert.equal(made.length, 1, `${offeredToolName} was called ${made.length} times, expected once`);
      const calls = callsIn(eventsOf({ items, asked })).map(callIdOf);
      if (!calls.includes(made[0]))
        assert.fail(`no agent:tool_call has the id ${made[0]} of the call that was made`);
      if (asked.some(({ toolCallId }) => toolCallId === made[0]))
        assert.fail(`askHooks was called for ${offeredToolName}, which asks the hooks itself`);
    },
  },
  {
    name: 'messages',
    title: 'a message reaches the agent, and is not yielded again',
    scenario: 'messages',
    async run(fixture, patienceMs) {
      const record = await completeRun(fixture, patienceMs, { message: true });
      if (!(await effectOf(fixture, messageText))) assert.fail('the message did not reach the agent');
      const again = eventsOf(record).find(
        ({ type, data }) => type === 'user:message' && data.text === messageText,
      );
      if (again !== undefined) assert.fail('the agent yielded the message, which was already recorded');
    },
  },
  {
    name: 'recorded-start',
    title: 'a recording has one start, which is a time and not after its first event',
    scenario: 'recording',
    async run(fixture, patienceMs) {
      const { provider } = fixture;
      const { signal } = new AbortController();
      const startOf = () =>
        returns('recordedStart', patienceMs, async () => provider.recordedStart?.(signal));
      const start = await startOf();
      assert.equal(await startOf(), start, 'a second call of recordedStart');
      if (start === null) return;
      if (typeof start !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(start))
        assert.fail(`recordedStart is ${preview(start)}, expected a time in UTC with milliseconds`);
      const [first] = eventsOf(await completeRun(fixture, patienceMs)).flatMap(
        ({ timestamp }) => timestamp ?? [],
      );
      if (first !== undefined && first < start)
        assert.fail(`recordedStart is ${start}, after the first event at ${first}`);
    },
  },
  {
    name: 'close-twice',
    title: 'closing twice is safe',
    run: ({ provider }, patienceMs) => expectClosesTwice(provider, patienceMs),
  },
]);

/** The cases for an `AgentProvider`. */
export const agentConformance = new ConformanceKit(agentCases);

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

interface AgentRunOptions {
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

interface AgentRunRecord {
  readonly items: AgentActivity[];
  readonly asked: AgentToolCall[];
}

/** Runs the agent as `runDispatch` does: one item at a time, until its end. */
async function runToEnd(
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
async function completeRun(
  fixture: AgentFixture,
  patienceMs: number,
  options: AgentRunOptions = {},
): Promise<AgentRunRecord> {
  const record: AgentRunRecord = { items: [], asked: [] };
  await returns('the run', patienceMs, () => runToEnd(fixture, options, record));
  return record;
}

/** Runs the agent until it stops. Fails only where it does not stop in time. */
async function stoppedRun(
  what: string,
  fixture: AgentFixture,
  patienceMs: number,
  options: AgentRunOptions,
): Promise<AgentRunRecord> {
  const record: AgentRunRecord = { items: [], asked: [] };
  await settles(what, patienceMs, () => runToEnd(fixture, options, record));
  return record;
}

function eventsOf({ items }: AgentRunRecord) {
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
