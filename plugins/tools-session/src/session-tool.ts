import type { AgentHost, ToolOutcome, ToolProvider } from '@hansard/provider';
import { defineTool, type InputSchema } from '@hansard/provider/tools';

interface SessionToolParts<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: InputSchema<Input>;
  run(input: Input, host: AgentHost, signal: AbortSignal): Promise<ToolOutcome>;
}

/** A tool that works with the agents of a session. */
export function sessionTool<Input>({ run, ...parts }: SessionToolParts<Input>): ToolProvider {
  const tool = defineTool({
    ...parts,
    // The host is there: see below.
    run: (input: Input, call) => run(input, call.agents as AgentHost, call.signal),
  });
  return {
    ...tool,
    callTool(call) {
      if (call.agents !== undefined) return tool.callTool(call);
      // Before the input is checked: without a host, no input helps.
      return {
        status: 'error',
        text: `${call.tool} works with the agents of a session, and this call does not come from one.`,
      };
    },
  };
}
