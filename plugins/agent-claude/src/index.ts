import { resolve } from 'node:path';
import { definePlugin } from '@hansard/provider';
import { createReplayAgent } from './create-replay-agent.ts';

export {
  ClaudeStreamError,
  type FormatErrorCode,
  formatErrorCodes,
  isClaudeStreamError,
} from './claude-stream-error.ts';
export {
  type ClaudeMapping,
  type ClaudeMappingOptions,
  createClaudeMapping,
} from './create-claude-mapping.ts';
export { createReplayAgent, type ReplayAgentOptions } from './create-replay-agent.ts';
export type { RecordPlace } from './mapping-step.ts';

export default definePlugin({
  id: 'agent-claude',
  provides: 'AgentProvider',
  create({ replay, delayMs = 0 }: { replay: string; delayMs?: number }, { baseDir }) {
    return createReplayAgent({ path: resolve(baseDir, replay), delayMs });
  },
});
