import { describeIssues } from '@hansard/events';
import type { AgentHost, JsonObject, JsonValue, ToolDefinition, ToolOutcome } from '@hansard/provider';
import { z } from 'zod';
import { Refusal } from './refusal.ts';

export interface SessionTool {
  readonly definition: ToolDefinition;
  call(input: JsonValue, host: AgentHost, signal: AbortSignal): Promise<ToolOutcome>;
}

interface SessionToolParts<Input extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  run(input: z.output<Input>, host: AgentHost, signal: AbortSignal): Promise<ToolOutcome>;
}

/** A tool whose input is checked by the schema that the model is shown. */
export function sessionTool<Input extends z.ZodObject>(parts: SessionToolParts<Input>): SessionTool {
  const { name, description, input: schema, run } = parts;
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  return {
    definition: { name, description, inputSchema: inputSchema as JsonObject },
    async call(input, host, signal) {
      const checked = schema.safeParse(input);
      if (checked.success) return run(checked.data, host, signal);
      const { text } = describeIssues(checked.error, { input }, 'input');
      throw new Refusal(`${name} was called with the wrong input. ${text}`);
    },
  };
}
