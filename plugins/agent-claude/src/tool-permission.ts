import type { HookCallback } from '@anthropic-ai/claude-agent-sdk';
import { definedOnly, isPlainObject, type JsonValue } from '@hansard/events';
import type { AgentToolCall, ToolCallVerdict } from '@hansard/provider';
import { isProjectTool } from './project-tools-server.ts';

export interface ToolPermissionOptions {
  readonly askHooks: (call: AgentToolCall) => Promise<ToolCallVerdict>;
  /** Resolves when the call is in the log. */
  readonly whenRecorded: (toolCallId: string) => Promise<void>;
  /** Receives a denial, which is recorded when the engine reports it. */
  readonly onDenied: (toolCallId: string) => void;
  /** Receives the caller of a tool of the project. The hooks decide when the tool is called. */
  readonly onProjectCall: (toolCallId: string, agentId: string | undefined) => void;
}

/** The SDK's PreToolUse hook. It asks the project's hooks after the call is in the log. */
export function createToolPermission(options: ToolPermissionOptions): HookCallback {
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
