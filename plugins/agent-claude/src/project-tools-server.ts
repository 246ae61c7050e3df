import type { McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk';
import { definedOnly, type JsonObject } from '@hansard/events';
import type { OfferedTool, ToolOutcome } from '@hansard/provider';
import { claudeAgentErrors } from './claude-agent-errors.ts';

export const projectServerName = 'hansard';

/** Whether the model's name of a tool names a tool of the project. */
export function isProjectTool(name: string): boolean {
  return name.startsWith(`mcp__${projectServerName}__`);
}

export interface ProjectToolsServerOptions {
  readonly tools: readonly OfferedTool[];
  /** Resolves when the call is in the log. */
  readonly whenRecorded: (toolCallId: string) => Promise<void>;
  readonly agentIdOf: (toolCallId: string) => string | undefined;
  readonly onOutcome: (toolCallId: string, outcome: ToolOutcome) => void;
}

/** The tools of the project as an MCP server in this process. Calls of one message run in parallel. */
export async function createProjectToolsServer(
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
