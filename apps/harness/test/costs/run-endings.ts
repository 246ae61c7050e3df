import { type DispatchRun, type DispatchStore, startDispatch } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import type { AgentActivity, AgentRunRequest } from '@hansard/provider';
import { ManualClock } from '@hansard/testing';

type Last = (request: AgentRunRequest) => AsyncIterable<AgentActivity>;

interface Ending {
  readonly status: 'completed' | 'aborted' | 'crashed';
  readonly limits?: { timeMs?: number; stallMs?: number; costUsd?: number };
  /** What the agent does after its work. Absent: it waits until it is stopped. */
  readonly last?: Last;
  readonly stop?: (run: DispatchRun, clock: ManualClock, signal: AbortController) => void;
}

const yields = (event: NewEvent): AgentActivity => ({ kind: 'event', event });
const completes = (status: 'completed' | 'failed' | 'aborted'): Last =>
  async function* () {
    yield yields(newEvent('session:complete', { status, reason: 'as scripted' }));
  };

/** Every way in which a run can end in a running process. */
export const endings: Readonly<Record<string, Ending>> = {
  completed: { status: 'completed', last: completes('completed') },
  'completed without a word': { status: 'completed', last: async function* () {} },
  failed: { status: 'crashed', last: completes('failed') },
  'aborted by its engine': { status: 'aborted', last: completes('aborted') },
  'crashed by an error': {
    status: 'crashed',
    last: async function* () {
      yield yields(newEvent('agent:text', { text: 'where am I?' }));
      throw new Error('lost my way');
    },
  },
  'aborted by a user': { status: 'aborted', stop: (run) => run.abort('enough', 'ann') },
  'aborted by a signal': { status: 'aborted', stop: (_run, _clock, signal) => signal.abort() },
  'aborted at its cost limit': {
    status: 'aborted',
    limits: { costUsd: 1_000 },
    last: async function* ({ signal }) {
      while (!signal.aborted)
        yield yields(
          newEvent('agent:inference', {
            model: 'large',
            usage: { inputTokens: 1, outputTokens: 1 },
            costUsd: 400,
          }),
        );
    },
  },
  'aborted for its time': {
    status: 'aborted',
    limits: { timeMs: 60_000 },
    stop: (_run, clock) => clock.advance(60_000),
  },
  'aborted in silence': {
    status: 'aborted',
    limits: { stallMs: 1_000 },
    stop: (_run, clock) => clock.advance(1_000),
  },
  'aborted in a loop': {
    status: 'aborted',
    last: async function* () {
      for (let count = 0; count < 40; count += 1)
        yield yields(
          newEvent('agent:tool_call', { toolCallId: 'c', tool: 'Bash', target: 'npm test', metadata: {} }),
        );
    },
  },
};

/** Runs an agent that does some work and then ends in one of the ways. */
export async function runTo(
  ending: Ending,
  work: readonly NewEvent[],
  place: { store: DispatchStore; taskDir: string; dispatchId: string; parentDispatchId?: string },
) {
  const clock = new ManualClock();
  const signal = new AbortController();
  const { limits = {}, last = waits, stop } = ending;
  const atWork = Promise.withResolvers<void>();
  const run = await startDispatch({
    ...place,
    clock,
    role: 'worker',
    limits,
    signal: signal.signal,
    agent: {
      contract: 1,
      async *run(request) {
        for (const event of work) yield yields(event);
        atWork.resolve();
        yield* last(request);
      },
    },
  });
  await Promise.race([atWork.promise, run.ended]);
  // The agent waits now, and everything that is ready has run.
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  stop?.(run, clock, signal);
  return run.ended;
}

const waits: Last = async function* ({ signal }) {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
};
