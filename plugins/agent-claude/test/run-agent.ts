import { join } from 'node:path';
import type { AgentActivity, AgentProvider, AgentRunRequest } from '@hansard/provider';
import {
  claudeStreamFixtures,
  corpus as examples,
  type RecordedActivities,
  recorded,
} from '@hansard/testing';

export { dataOf, ofType } from '@hansard/testing';
export const fixtures = claudeStreamFixtures;
export const corpus = join(examples, 'claude-stream');
export const start = Date.parse('2026-03-01T09:30:00.000Z');

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
): Promise<RecordedActivities> {
  const activities: AgentActivity[] = [];
  for await (const activity of agent.run(runRequest(overrides))) activities.push(activity);
  return recorded(activities);
}
