import type { HookCallback, Options } from '@anthropic-ai/claude-agent-sdk';
import type { ClaudeMapping } from '@hansard/claude';
import { definedOnly, isPlainObject, type JsonValue } from '@hansard/events';
import type { AgentRunRequest, AgentToolCall, ToolCallVerdict } from '@hansard/provider';
import { createProjectToolsServer, isProjectTool, projectServerName } from './project-tools-server.ts';

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

interface ToolPermissionOptions {
  readonly askHooks: (call: AgentToolCall) => Promise<ToolCallVerdict>;
  /** Resolves when the call is in the log. */
  readonly whenRecorded: (toolCallId: string) => Promise<void>;
  /** Receives a denial, which is recorded when the engine reports it. */
  readonly onDenied: (toolCallId: string) => void;
  /** Receives the caller of a tool of the project. The hooks decide when the tool is called. */
  readonly onProjectCall: (toolCallId: string, agentId: string | undefined) => void;
}

/** The SDK's PreToolUse hook. It asks the project's hooks after the call is in the log. */
function createToolPermission(options: ToolPermissionOptions): HookCallback {
  return async (question) => {
    if (question.hook_event_name !== 'PreToolUse') return {};
    const { tool_use_id: toolCallId, tool_name: tool, agent_id: agentId } = question;
    if (isProjectTool(tool)) {
      options.onProjectCall(toolCallId, agentId);
      return {};
    }
    await options.whenRecorded(toolCallId);
    const input = question.tool_input as JsonValue;
    const verdict = await options.askHooks({ ...definedOnly({ agentId }), toolCallId, tool, input });
    const hookEventName = 'PreToolUse' as const;
    if (verdict.decision === 'deny') {
      options.onDenied(toolCallId);
      const permissionDecisionReason = verdict.reason;
      return { hookSpecificOutput: { hookEventName, permissionDecision: 'deny', permissionDecisionReason } };
    }
    if (!verdict.isAltered) return {};
    if (!isPlainObject(verdict.input)) {
      throw new TypeError(
        `A hook altered the input of ${tool} to a value that is not an object. The tool needs an object.`,
      );
    }
    // Without a decision, so that the engine's own permissions apply to the altered call.
    return { hookSpecificOutput: { hookEventName, updatedInput: verdict.input as Record<string, unknown> } };
  };
}
