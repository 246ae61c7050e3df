import type {
  HookCallback,
  McpSdkServerConfigWithInstance,
  McpServerConfig,
  Options,
  SessionStore,
} from '@anthropic-ai/claude-agent-sdk';
import type { ClaudeMapping } from '@hansard/claude';
import { definedOnly, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import type {
  AgentRunRequest,
  AgentToolCall,
  OfferedTool,
  ToolCallVerdict,
  ToolOutcome,
} from '@hansard/provider';
import { claudeAgentErrors } from './agent-failures.ts';
import type { ClaudeAgentOptions } from './claude-agent-options.ts';

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

/** A hook of the project may ask a person. */
const hookTimeoutSeconds = 24 * 60 * 60;

interface ProjectOptions {
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

const projectServerName = 'hansard';

/** Whether the model's name of a tool names a tool of the project. */
function isProjectTool(name: string): boolean {
  return name.startsWith(`mcp__${projectServerName}__`);
}

interface ProjectToolsServerOptions {
  readonly tools: readonly OfferedTool[];
  /** Resolves when the call is in the log. */
  readonly whenRecorded: (toolCallId: string) => Promise<void>;
  readonly agentIdOf: (toolCallId: string) => string | undefined;
  readonly onOutcome: (toolCallId: string, outcome: ToolOutcome) => void;
}

/** The tools of the project as an MCP server in this process. Calls of one message run in parallel. */
async function createProjectToolsServer(
  options: ProjectToolsServerOptions,
): Promise<McpSdkServerConfigWithInstance> {
  const { McpServer, CallToolRequestSchema, ListToolsRequestSchema } = await importMcp();
  const instance = new McpServer({ name: projectServerName, version: '1' }, { capabilities: { tools: {} } });
  const byName = new Map(options.tools.map((tool) => [tool.definition.name, tool]));
  // The underlying server accepts JSON Schema; `registerTool` needs zod.
  instance.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: options.tools.map(({ definition: { name, description, inputSchema } }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: 'object' as const },
      annotations: sideBySide,
      _meta: alwaysInSight,
    })),
  }));
  instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, requestId }) => {
    const tool = byName.get(params.name);
    if (tool === undefined) return toolText(`Error: There is no tool ${params.name}.`, true);
    const named = params._meta?.['claudecode/toolUseId'];
    const toolCallId = typeof named === 'string' ? named : `mcp-${requestId}`;
    await options.whenRecorded(toolCallId);
    const agentId = options.agentIdOf(toolCallId);
    const input = (params.arguments ?? {}) as JsonObject;
    const whose = definedOnly({ agentId });
    const outcome = await tool.call({ ...whose, toolCallId, input, signal });
    options.onOutcome(toolCallId, outcome);
    return toolText(outcome.text, outcome.status === 'error');
  });
  return { type: 'sdk', name: projectServerName, instance };
}

/** Offers the tool from the first message, not only after a search for tools. */
const alwaysInSight = { 'anthropic/alwaysLoad': true };

/**
 * The engine makes calls of one message in parallel only for tools that declare this. The hooks of the project decide about
 * its tools, not the engine.
 */
const sideBySide = { readOnlyHint: true };

async function importMcp() {
  try {
    const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
    const types = await import('@modelcontextprotocol/sdk/types.js');
    return { McpServer, ...types };
  } catch (cause) {
    throw claudeAgentErrors.error(
      'AGENT_SDK_MISSING',
      'The project has tools for the agent, and @modelcontextprotocol/sdk, which brings them to it, is not ' +
        'installed. Install it beside @anthropic-ai/claude-agent-sdk.',
      { cause },
    );
  }
}

function toolText(text: string, isError: boolean) {
  return { content: [{ type: 'text' as const, text }], isError };
}
