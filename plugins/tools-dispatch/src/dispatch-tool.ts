import type { DispatchHost, ToolCall, ToolOutcome, ToolProvider } from '@hansard/provider';
import { defineTool, type InputSchema } from '@hansard/provider/tools';

interface DispatchToolParts<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: InputSchema<Input>;
  /** The tool needs no workers. */
  readonly isForAll?: boolean;
  run(input: Input, host: DispatchHost, call: ToolCall): Promise<ToolOutcome>;
}

/** A tool that works with the dispatches that run with the calling one. */
export function dispatchTool<Input>({ run, isForAll, ...parts }: DispatchToolParts<Input>): ToolProvider {
  const tool = defineTool({
    ...parts,
    // `callTool` below refuses calls without a host.
    run: (input: Input, call) => run(input, call.dispatches as DispatchHost, call),
  });
  return {
    ...tool,
    callTool(call) {
      if (call.dispatches?.mayStart || (call.dispatches && isForAll)) return tool.callTool(call);
      // Before the input is checked: without a host, no input helps.
      return {
        status: 'error',
        text: `${call.tool} works with workers, and this agent can have none: do the work yourself.`,
      };
    },
  };
}
