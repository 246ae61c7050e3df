import { describeIssues } from '@hansard/events';
import type { DispatchHost, JsonObject, ToolCall, ToolDefinition, ToolOutcome } from '@hansard/provider';
import { z } from 'zod';
import { Refusal } from './refusal.ts';

export interface DispatchTool {
  readonly definition: ToolDefinition;
  call(call: ToolCall, host: DispatchHost): Promise<ToolOutcome>;
}

interface DispatchToolParts<Input extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  run(input: z.output<Input>, host: DispatchHost, call: ToolCall): Promise<ToolOutcome>;
}

/** A tool whose input is checked by the schema that the model is shown. */
export function dispatchTool<Input extends z.ZodObject>(parts: DispatchToolParts<Input>): DispatchTool {
  const { name, description, input: schema, run } = parts;
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  return {
    definition: { name, description, inputSchema: inputSchema as JsonObject },
    async call(call, host) {
      const { input } = call;
      const checked = schema.safeParse(input);
      if (checked.success) return run(checked.data, host, call);
      const { text } = describeIssues(checked.error, { input }, 'input');
      const fields = Object.entries(schema.shape).map(([field, { description: of }]) => `${field}: ${of}`);
      throw new Refusal(`${name} was called with the wrong input. ${text}. It takes ${fields.join(' ')}`);
    },
  };
}
