import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentScenario, agentConformance } from '@hansard/provider-conformance';
import { describe, it } from 'vitest';
import { cleanClaudeEnvironment, requireClaudeEngine } from '../../../../scripts/engines/claude-engine.ts';
import { type MessagesScript, toolResultsIn } from '../../../../scripts/engines/scripted-messages-api.ts';
import { createClaudeAgent } from '../../src/index.ts';
import { useLiveAgents } from './live-agent.ts';

const live = useLiveAgents();
const done = [{ type: 'text', text: 'Done.' }] as const;

const callOnce =
  (name: string, input: object): MessagesScript =>
  (request) =>
    toolResultsIn(request).size > 0 ? done : [{ type: 'tool_use', id: 'toolu_1', name, input }];

const scripts: Readonly<Partial<Record<AgentScenario | 'plain', MessagesScript>>> = {
  slow: () => ({ content: done, hold: new Promise(() => {}) }),
  ownTool: callOnce('Bash', { command: 'touch written.txt', description: 'x' }),
  offeredTool: callOnce('mcp__hansard__conformance_echo', { text: 'echo' }),
};

agentConformance.define({
  name: 'the live agent',
  describe,
  it,
  patienceMs: 30_000,
  scenarios: ['slow', 'ownTool', 'offeredTool', 'messages'],
  create: (scenario) => {
    const endpoint = live.api.serve(scripts[scenario] ?? (() => done));
    const folder = live.newFolder();
    const cwd = join(folder, 'work');
    mkdirSync(cwd);
    return {
      provider: createClaudeAgent({
        executable: requireClaudeEngine(),
        model: 'claude-sonnet-4-5',
        permissionMode: 'bypassPermissions',
        env: cleanClaudeEnvironment(folder, endpoint.url),
      }),
      request: { cwd },
      hasEffect: (text) =>
        scenario === 'messages'
          ? JSON.stringify(endpoint.requests).includes(text)
          : existsSync(join(cwd, 'written.txt')),
    };
  },
});
