import { resolve } from 'node:path';
import { definePlugin } from '@hansard/provider';
import type { ClaudeAgentOptions } from './claude-agent-options.ts';
import { createClaudeAgent } from './create-claude-agent.ts';
import { createReplayAgent } from './create-replay-agent.ts';

export { claudeAgentErrors } from './agent-failures.ts';
export { createClaudeAgent } from './create-claude-agent.ts';
export { createReplayAgent } from './create-replay-agent.ts';

interface AgentClaudeConfig extends Omit<ClaudeAgentOptions, 'env' | 'loadSdk' | 'sessionStore'> {
  readonly replay?: string;
  readonly delayMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export default definePlugin({
  id: 'agent-claude',
  provides: 'AgentProvider',
  create({ replay, delayMs = 0, env, executable, ...options }: AgentClaudeConfig, { baseDir }) {
    if (replay !== undefined) return createReplayAgent({ path: resolve(baseDir, replay), delayMs });
    return createClaudeAgent({
      ...options,
      ...(executable === undefined ? {} : { executable: resolve(baseDir, executable) }),
      ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
    });
  },
});
