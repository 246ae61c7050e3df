import { describeIssues, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { z } from '@hansard/events/zod';
import type { ToolDefinition } from './language-model-provider.ts';
import { LoggedString } from './logged-string.ts';
import type { ToolCall, ToolOutcome, ToolProvider } from './tool-provider.ts';

/**
 * A schema of zod (4.2 or newer), or of any library that follows Standard Schema and Standard JSON Schema. The model is shown
 * its JSON Schema.
 */
export interface InputSchema<Input = unknown> {
  readonly '~standard': {
    readonly validate: (value: unknown) => Validated<Input> | Promise<Validated<Input>>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
    readonly types?: { readonly output: Input } | undefined;
  };
}

type Validated<Input> =
  | { readonly value: Input; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The result of a tool: its text, or an outcome. A `LoggedString` is also the `madeFrom` of the result. */
export type ToolResult = string | LoggedString | ToolOutcome;

export interface ToolParts<Input> {
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** See `ToolDefinition.waitsFor`. */
  readonly waitsFor?: ToolDefinition['waitsFor'];
  /** Makes one call. What it throws is the result of the call, with `status: 'error'`; a {@link ToolRefusal} without a prefix. */
  run(input: Input, call: ToolCall): ToolResult | Promise<ToolResult>;
}

/** A call that cannot be carried out as it was made: the message is the result, and says to the model what to change. */
export class ToolRefusal extends Error {}

/**
 * Makes a tool from a typed function. The input is checked before `run` is called; a wrong one is a result from which the model
 * learns what to change: it names the wrong fields, and describes those that the schema describes.
 *
 * @param parts `input` is a schema, such as one of zod, or a JSON Schema; with the latter, the input of `run` is a JSON object
 * @throws Error for a JSON Schema that zod cannot read
 */
export function defineTool<Input>(
  parts: ToolParts<Input> & { readonly input: InputSchema<Input> },
): ToolProvider;
export function defineTool(parts: ToolParts<JsonObject> & { readonly input: JsonObject }): ToolProvider;
export function defineTool({
  name,
  description,
  input: schema,
  run,
  waitsFor,
}: ToolParts<never> & { readonly input: InputSchema | JsonObject }): ToolProvider {
  const validator = isInputSchema(schema) ? schema : (z.fromJSONSchema(schema) as InputSchema);
  const definition = {
    ...{ name, description, inputSchema: isInputSchema(schema) ? shown(schema) : schema },
    ...(waitsFor === undefined ? {} : { waitsFor }),
  };
  return {
    contract: 1,
    listTools: () => [definition],
    async callTool(call) {
      if (call.tool !== name) throw new TypeError(`There is no tool ${call.tool}; this one is ${name}.`);
      const checked = await validator['~standard'].validate(call.input);
      if (checked.issues !== undefined)
        return refusal(`${wrongInput(name, call.input, checked.issues)}${fieldsOf(definition.inputSchema)}`);
      try {
        return outcomeOf(await run(checked.value as never, call));
      } catch (error) {
        if (error instanceof ToolRefusal) return refusal(error.message);
        throw error;
      }
    },
  };
}

/**
 * Several tools as one provider, as a plugin needs it. Of tools with one name, the first gets the calls.
 */
export function combineTools(providers: readonly ToolProvider[]): ToolProvider {
  const lists = async () =>
    Promise.all(providers.map(async (provider) => ({ provider, tools: await provider.listTools() })));
  return {
    contract: 1,
    async listTools() {
      const all = (await lists()).flatMap(({ tools }) => tools);
      return all.filter(({ name }, index) => all.findIndex((one) => one.name === name) === index);
    },
    async callTool(call) {
      const named = (await lists()).find(({ tools }) => tools.some(({ name }) => name === call.tool));
      if (named === undefined) throw new TypeError(`There is no tool ${call.tool}.`);
      return named.provider.callTool(call);
    },
    async close() {
      for (const provider of providers) await provider.close?.();
    },
  };
}

function isInputSchema(schema: InputSchema | JsonObject): schema is InputSchema {
  return '~standard' in schema;
}

function shown(schema: InputSchema): JsonObject {
  const { $schema: _dialect, ...json } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  return json as JsonObject;
}

function wrongInput(name: string, input: JsonValue, issues: readonly Issue[]): string {
  const named = issues.map((issue) => ({
    ...issue,
    path: (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part)),
  }));
  return `${name} was called with the wrong input. ${describeIssues({ issues: named }, { input }, 'input').text}.`;
}

/** The described fields of the input, in words for the model; '' if none is described. */
function fieldsOf({ properties }: JsonObject): string {
  const fields = Object.entries(isPlainObject(properties) ? properties : {}).flatMap(([field, schema]) =>
    isPlainObject(schema) && typeof schema.description === 'string'
      ? [`${field}: ${schema.description}`]
      : [],
  );
  return fields.length === 0 ? '' : ` It takes ${fields.join(' ')}`;
}

function outcomeOf(result: ToolResult): ToolOutcome {
  if (typeof result === 'string') return { status: 'completed', text: result };
  if (!(result instanceof LoggedString)) return result;
  return { status: 'completed', text: result.text, madeFrom: [result.messageId] };
}

function refusal(text: string): ToolOutcome {
  return { status: 'error', text };
}
