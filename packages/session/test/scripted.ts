import type {
  Awaitable,
  JsonValue,
  LanguageModelProvider,
  ModelRequest,
  ModelResponse,
  ToolAnswer,
  ToolCall,
  ToolOutcome,
  ToolProvider,
} from '@hansard/provider';

export type Reply = Pick<ModelResponse, 'text' | 'toolCalls'> & Partial<ModelResponse>;

/** A model that answers by a function of what it is asked. */
export function model(reply: (request: ModelRequest) => Awaitable<Reply>): LanguageModelProvider {
  return {
    contract: 1,
    generate: async (request) => ({
      model: 'scripted-1',
      usage: { inputTokens: 10, outputTokens: 2 },
      ...(await reply(request)),
    }),
  };
}

/** A model that gives these answers one after the other, for every agent. */
export function answers(...replies: readonly Reply[]): LanguageModelProvider {
  const left = [...replies];
  return model(() => {
    const next = left.shift();
    if (next === undefined) throw new Error('the script has no answer left');
    return next;
  });
}

export function says(text: string, more: Partial<ModelResponse> = {}): Reply {
  return { text, toolCalls: [], ...more };
}

export function calls(tool: string, input: JsonValue = {}, toolCallId = 'call_1', text = ''): Reply {
  return { text, toolCalls: [{ toolCallId, tool, input }] };
}

export type Tool = (call: ToolCall) => Awaitable<ToolAnswer>;

export function tools(byName: Readonly<Record<string, Tool>>): ToolProvider {
  return {
    contract: 1,
    listTools: () =>
      Object.keys(byName).map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    callTool: (call) => {
      const tool = byName[call.tool];
      if (tool === undefined) throw new TypeError(`no tool ${call.tool}`);
      return tool(call);
    },
  };
}

export function done(text: string, more: Partial<ToolOutcome> = {}): ToolOutcome {
  return { status: 'completed', text, ...more };
}

/** The agents of the session in which a tool was called. */
export function hostOf({ agents }: ToolCall) {
  if (agents === undefined) throw new TypeError('The call comes from no session.');
  return agents;
}
