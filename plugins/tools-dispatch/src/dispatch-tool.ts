import type { DispatchHost, ToolCall, ToolOutcome, ToolProvider } from '@hansard/provider';
import { defineTool, type InputSchema } from '@hansard/provider/tools';

interface DispatchToolParts<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: InputSchema<Input>;
  run(input: Input, host: DispatchHost, call: ToolCall): Promise<ToolOutcome>;
}

/** A tool that works with the workers of the calling dispatch. */
export function dispatchTool<Input>({ run, ...parts }: DispatchToolParts<Input>): ToolProvider {
  const tool = defineTool({
    ...parts,
    // The host is there: see below.
    run: (input: Input, call) => run(input, call.dispatches as DispatchHost, call),
  });
  return {
    ...tool,
    callTool(call) {
      if (call.dispatches !== undefined) return tool.callTool(call);
      // Before the input is checked: without a host, no input helps.
      return {
        status: 'error',
        text: `${call.tool} works with workers, and this agent can have none: do the work yourself.`,
      };
    },
  };
}
