import type { AgentRunRequest, JsonValue, ToolCall, ToolOutcome, ToolProvider } from '@hansard/provider';

type Act = (call: ToolCall) => ToolOutcome | Promise<ToolOutcome>;

/** A provider of tools that do what they are given to do. */
export function tools(acts: Readonly<Record<string, Act>>): ToolProvider {
  return {
    contract: 1,
    listTools: () =>
      Object.keys(acts).map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    callTool: (call) => {
      const act = acts[call.tool];
      if (act === undefined) throw new Error(`the test has no tool ${call.tool}`);
      return act(call);
    },
  };
}

export const done = (text: string): ToolOutcome => ({ status: 'completed', text });

/** Calls an offered tool as an agent does. */
export function use(
  request: AgentRunRequest,
  tool: string,
  input: JsonValue = {},
  more: { readonly toolCallId?: string; readonly agentId?: string; readonly signal?: AbortSignal } = {},
): Promise<ToolOutcome> {
  const offered = request.tools.find(({ definition }) => definition.name === tool);
  if (offered === undefined) throw new Error(`the agent was not offered ${tool}`);
  return offered.call({ toolCallId: 'c1', input, signal: new AbortController().signal, ...more });
}
