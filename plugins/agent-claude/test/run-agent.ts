import { join } from 'node:path';
import { type CapturedEvent, createIdSource, type Delta, type JsonObject, parseEvent } from '@hansard/events';
import type { AgentActivity, AgentProvider, AgentRunRequest } from '@hansard/provider';

export const fixtures = join(import.meta.dirname, '../../../packages/formats/test/fixtures/claude-stream');
export const corpus = join(
  process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../shared/fixtures'),
  'claude-stream',
);

export const start = Date.parse('2026-03-01T09:30:00.000Z');

export interface AgentRunOutcome {
  readonly events: CapturedEvent[];
  readonly deltas: Delta[];
}

export function runRequest(overrides: Partial<AgentRunRequest> = {}): AgentRunRequest {
  return {
    taskDir: 'project/tasks/task',
    dispatchId: '01JM0000000000000000000000',
    prompt: 'do it',
    role: 'tester',
    model: null,
    cwd: null,
    fidelity: 'narrative',
    messages: (async function* () {})(),
    signal: new AbortController().signal,
    tools: [],
    askHooks: async ({ input }) => ({ decision: 'allow', input, isAltered: false }),
    ...overrides,
  };
}

/** Runs an agent to its end: its events as a store would get them, and its deltas. */
export async function runAgent(
  agent: AgentProvider,
  overrides: Partial<AgentRunRequest> = {},
): Promise<AgentRunOutcome> {
  const activities: AgentActivity[] = [];
  for await (const activity of agent.run(runRequest(overrides))) activities.push(activity);
  return recorded(activities);
}

function recorded(activities: readonly AgentActivity[]): AgentRunOutcome {
  const mint = createIdSource();
  const events: CapturedEvent[] = [];
  const deltas: Delta[] = [];
  for (const activity of activities) {
    if (activity.kind === 'delta') deltas.push(activity.delta);
    else events.push(parseEvent({ ...activity.event, id: activity.event.id ?? mint() }));
  }
  const ids = new Set(events.map(({ id }) => id));
  if (ids.size !== events.length) throw new Error('two events have the same id');
  return { events, deltas };
}

export function ofType(events: readonly CapturedEvent[], type: string): CapturedEvent[] {
  return events.filter((event) => event.type === type);
}

/** The data of the only event of a type. */
export function dataOf(events: readonly CapturedEvent[], type: string): JsonObject {
  const found = ofType(events, type);
  if (found.length !== 1) throw new Error(`${found.length} events of type ${type}, not 1`);
  return found[0]?.data ?? {};
}
