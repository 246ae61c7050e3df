import type { AgentProvider } from '@hansard/provider';
import type { ClaudeAgentOptions } from './claude-agent-options.ts';
import { ClaudeRun } from './claude-run.ts';

/**
 * The live agent: each dispatch is a process of the Claude Agent SDK's engine, which has exited when the dispatch ends.
 * The SDK is imported when the first dispatch runs.
 *
 * Running it throws AGENT_SDK_MISSING, AGENT_ENGINE_MISSING, AGENT_CWD_MISSING, AGENT_NOT_LOGGED_IN,
 * AGENT_SESSION_MISSING or AGENT_ENGINE_FAILED. An end by the model, a tool or a limit is not an error: `session:complete` records it.
 *
 * @throws TypeError for an MCP server named `hansard`
 */
export function createClaudeAgent(options: ClaudeAgentOptions = {}): AgentProvider {
  if (options.mcpServers !== undefined && Object.hasOwn(options.mcpServers, 'hansard')) {
    throw new TypeError(
      'The MCP server name `hansard` is that of the tools of the project; give yours another name.',
    );
  }
  return { contract: 1, run: (request) => new ClaudeRun(options, request).activities() };
}
