import type { Options } from '@anthropic-ai/claude-agent-sdk';
import type { ClaudeMapping } from '@hansard/claude';
import type { AgentRunRequest } from '@hansard/provider';
import { createProjectToolsServer, projectServerName } from './project-tools-server.ts';
import { createToolPermission } from './tool-permission.ts';

/** A hook of the project may ask a person. */
const hookTimeoutSeconds = 24 * 60 * 60;

export interface ProjectOptions {
  readonly request: Pick<AgentRunRequest, 'tools' | 'askHooks'>;
  readonly mapping: Pick<ClaudeMapping, 'noteDenied' | 'noteOutcome'>;
  /** Resolves when the call is in the log. */
  readonly whenRecorded: (toolCallId: string) => Promise<void>;
}

/** Connects the tools and hooks of the project to the engine. */
export async function projectOptions({
  request,
  mapping,
  whenRecorded,
}: ProjectOptions): Promise<Required<Pick<Options, 'mcpServers' | 'hooks'>>> {
  const { tools } = request;
  /** The caller of a tool of the project, by call. */
  const callers = new Map<string, string>();
  const permission = createToolPermission({
    askHooks: (call) => request.askHooks(call),
    whenRecorded,
    onDenied: (toolCallId) => mapping.noteDenied(toolCallId),
    onProjectCall: (toolCallId, agentId) => {
      if (agentId !== undefined) callers.set(toolCallId, agentId);
    },
  });
  const hooks = {
    PreToolUse: [{ hooks: [permission], timeout: hookTimeoutSeconds, onFailure: 'block' as const }],
  };
  if (tools.length === 0) return { hooks, mcpServers: {} };
  const server = await createProjectToolsServer({
    tools,
    whenRecorded,
    agentIdOf: (toolCallId) => callers.get(toolCallId),
    onOutcome: (toolCallId, outcome) => {
      callers.delete(toolCallId);
      mapping.noteOutcome(toolCallId, outcome);
    },
  });
  return { hooks, mcpServers: { [projectServerName]: server } };
}
