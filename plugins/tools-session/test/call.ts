import type { AgentHost, JsonValue, ToolOutcome } from '@hansard/provider';
import { createSessionTools } from '../src/index.ts';

export const tools = createSessionTools();

export async function call(
  tool: string,
  input: JsonValue,
  agents?: AgentHost,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolOutcome> {
  const answer = await tools.callTool({
    taskDir: 'lab/tasks/cafe',
    dispatchId: 'd1',
    toolCallId: 'c1',
    tool,
    input,
    signal,
    observe: async () => 'o1',
    ...(agents === undefined ? {} : { agents }),
  });
  return answer as ToolOutcome;
}
