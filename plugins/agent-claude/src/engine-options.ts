import type { McpServerConfig, Options, SessionStore } from '@anthropic-ai/claude-agent-sdk';
import { definedOnly } from '@hansard/events';
import type { AgentRunRequest } from '@hansard/provider';
import type { ClaudeAgentOptions } from './claude-agent-options.ts';
import { projectServerName } from './project-tools-server.ts';

/** The options of the SDK for a dispatch: those of the agent, overridden by those of the dispatch. */
export function engineOptions(
  options: ClaudeAgentOptions,
  request: AgentRunRequest,
  resumeSessionId: string | undefined,
  spentUsd = 0,
): Options {
  const { executable, permissionMode = 'default', systemPrompt, sessionStore } = options;
  const model = request.model ?? options.model;
  const maxTurns = request.maxTurns ?? options.maxTurns;
  const { outputSchema, cwd, maxCostUsd } = request;
  return {
    ...definedOnly({ model, cwd: cwd ?? undefined, maxTurns }),
    ...(maxCostUsd === undefined ? {} : { maxBudgetUsd: Math.max(leastBudgetUsd, maxCostUsd - spentUsd) }),
    ...definedOnly({ pathToClaudeCodeExecutable: executable, systemPrompt }),
    ...(outputSchema === undefined ? {} : { outputFormat: { type: 'json_schema', schema: outputSchema } }),
    ...definedOnly({ resume: resumeSessionId }),
    // Each entry at once: a batch that waits for the end of the turn is lost if this process exits.
    ...(sessionStore === undefined
      ? {}
      : { sessionStore: sessionStore as SessionStore, sessionStoreFlush: 'eager' }),
    env: { ...(options.env ?? process.env), ...ownVariables },
    permissionMode,
    allowDangerouslySkipPermissions: permissionMode === 'bypassPermissions',
    permissionPrompts: 'none',
    allowedTools: [`mcp__${projectServerName}`, ...(options.allowedTools ?? [])],
    disallowedTools: [...(options.disallowedTools ?? [])],
    settingSources: [...(options.settingSources ?? [])],
    strictMcpConfig: (options.settingSources ?? []).length === 0,
    mcpServers: { ...(options.mcpServers as Record<string, McpServerConfig> | undefined) },
    // Keeps the servers' secrets off the command line, which others on the machine can read.
    mcpServersDelivery: 'initialize',
    includePartialMessages: true,
    includeHookEvents: true,
    forwardSubagentText: true,
  };
}

/** The engine refuses a budget of 0. */
const leastBudgetUsd = 0.000_001;

/** Makes the engine report when it is idle: only then nothing is running, in the background neither. */
const ownVariables = { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' };
