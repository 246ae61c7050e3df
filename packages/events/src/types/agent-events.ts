import * as z from 'zod/mini';
import { jsonObjectSchema, jsonValueSchema } from '../json/json-value-schema.ts';
import { contentPartSchema, outputPartSchema } from './content-part.ts';
import { costSchema, idSchema, millisecondsSchema, usageSchema } from './fields.ts';

/** Whether surfaces that people watch leave out the content: an answer that nobody may have heard is in it. Absent: false. */
const withheld = z.optional(z.boolean());

const toolFields = {
  toolCallId: z.string().check(z.minLength(1)),
  tool: z.string().check(z.minLength(1)),
  /** The target of the call in one line: a path, a command, a query, the name of a sub-agent. */
  target: z.optional(z.string()),
  /** Further facts about the call (D7). Never contents of files or output of commands. */
  metadata: jsonObjectSchema,
  withheld,
};

/** How a tool changed a file, whole contents included. At `full` fidelity. */
const fileChangeSchema = z.object({
  /** Absolute, or relative to the working folder of the dispatch. */
  path: z.string().check(z.minLength(1)),
  /** The path before, if the change renamed the file. */
  from: z.optional(z.string().check(z.minLength(1))),
  /** The content before. Null: there was no file. Absent: not known; the change then wrote every line that no earlier record has. */
  before: z.optional(z.nullable(z.string())),
  /** The content after. Null: the file was deleted. */
  after: z.nullable(z.string()),
  /** Whether a person changed the edit before it was made. */
  mixed: z.optional(z.boolean()),
});

export type FileChange = z.infer<typeof fileChangeSchema>;

export const sourceSchema = z.object({
  /** `system`: the engine, a hook or the orchestrator. `external`: the outside world, which may be a person. */
  kind: z.enum(['user', 'agent', 'system', 'external']),
  /** Of `external` only: what sent it. `session`: another session of the same product. Absent: not known. */
  what: z.optional(z.enum(['file', 'timer', 'webhook', 'service', 'session'])),
  /** Not of `system`: who sent it, in the words of the channel, such as a user of Slack or an agent by its name. Absent: not known. */
  name: z.optional(z.string()),
  agentId: z.optional(idSchema),
  dispatchId: z.optional(idSchema),
  /** The hook that sent it, as the system or with the agent. Absent: no hook did. */
  hook: z.optional(z.string()),
});

const messageFields = {
  /** Empty: the message has attachments only. */
  text: z.string(),
  source: sourceSchema,
  /** What is attached to the text, in the order of the source. Absent: nothing. */
  parts: z.optional(z.array(contentPartSchema)),
};

/** Actions of agents (D2, D6; the session log; the inference trace; the unified event log). */
export const agentEventData = {
  'agent:created': z.object({
    name: z.optional(z.string()),
    languageModel: z.optional(z.string()),
    /** No other agent created it, and it is not the root. */
    peer: z.optional(z.boolean()),
    /** The hook that created it for itself. */
    hook: z.optional(z.string()),
    /**
     * Its transcript begins with the transcript of another agent, through this event (inclusive). The log does not repeat those events. Without `agentId`
     * it is that of the dispatched agent.
     */
    inherits: z.optional(z.object({ agentId: z.optional(idSchema), through: idSchema })),
  }),
  'agent:given': z.object({
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    /** Of all roles but `tool`. Absent: an answer without text. */
    text: z.optional(z.string()),
    thinking: z.optional(z.object({ text: z.string(), signature: z.optional(z.string()) })),
    /** Of `assistant`. */
    toolCalls: z.optional(
      z.array(
        z.object({
          toolCallId: z.string().check(z.minLength(1)),
          tool: z.string().check(z.minLength(1)),
          input: z.optional(jsonValueSchema),
        }),
      ),
    ),
    /** Of `tool`: the call that it answers, its tool, what it gave, and whether that is an error. */
    toolCallId: z.optional(z.string().check(z.minLength(1))),
    tool: z.optional(z.string().check(z.minLength(1))),
    output: z.optional(jsonValueSchema),
    isError: z.optional(z.boolean()),
    /** Of `user`. Absent: a person. */
    source: z.optional(sourceSchema),
    /** Of `user`: what is attached to the text. */
    parts: z.optional(z.array(contentPartSchema)),
  }),
  'agent:terminated': z.object({ reason: z.optional(z.string()) }),
  'agent:revived': z.object({
    reason: z.optional(z.string()),
    /** The `agent:undelivered` events since it ended. */
    missed: z.array(idSchema),
    /** The tools that its transcript calls and that the session does not have now. */
    missingTools: z.optional(z.array(z.string())),
  }),
  'agent:undelivered': z.object(messageFields),
  'agent:system_prompt': z.object({
    text: z.string(),
    /** The dispatches of the task whose outcomes the text gives. Absent: the text is instructions. */
    outcomesOf: z.optional(z.array(z.string())),
  }),
  'agent:text': z.object({ text: z.string(), withheld }),
  /** An answer that a hook rejected before anybody received it. Its author's model reads it with the reason. */
  'agent:rejected': z.object({
    text: z.string(),
    thinking: z.optional(z.string()),
    reason: z.string(),
    /** The hook that rejected it. Absent: the answer was stopped before hooks had decided. */
    hook: z.optional(z.string()),
    /** Whether the agent is asked to answer again. */
    retry: z.boolean(),
  }),
  'agent:thinking': z.object({ text: z.string(), signature: z.optional(z.string()), withheld }),
  'agent:tool_call': z.object({ ...toolFields, input: z.optional(jsonValueSchema) }),
  'agent:tool_result': z.object({
    ...toolFields,
    status: z.enum(['completed', 'error']),
    durationMs: z.optional(millisecondsSchema),
    error: z.optional(z.string()),
    /** Text or JSON. An image, a document or a sound in it, at any depth, is a part as in `contentPartSchema`. */
    output: z.optional(jsonValueSchema),
    /** The files that the call changed. Absent: the tool does not say. */
    changes: z.optional(z.array(fileChangeSchema)),
  }),
  'agent:piece_of_text': z.object({ text: z.string() }),
  'agent:inference': z.object({
    model: z.string(),
    durationMs: z.optional(millisecondsSchema),
    usage: usageSchema,
    costUsd: z.optional(costSchema),
    stopReason: z.optional(z.string()),
    /** The manifest of the prompt, written by its renderer: `ContextManifest` of `@hansard/views`. */
    context: z.optional(jsonObjectSchema),
    /**
     * The `request:stored` events with the tools and the parameters that the model was given. Null: it was given none. Absent: not recorded.
     */
    request: z.optional(
      z.object({ tools: z.optional(z.nullable(idSchema)), parameters: z.optional(z.nullable(idSchema)) }),
    ),
    /** What the provider of the model gets back with this answer in later calls, such as signed reasoning. */
    replay: z.optional(jsonValueSchema),
  }),
  'agent:message_sent': z.object({
    text: z.string(),
    to: z.object({
      /** Another dispatch. */
      dispatchId: z.optional(idSchema),
      /** An agent of the dispatch, by the name that the sender uses for it; '' is the dispatched agent. */
      agent: z.optional(z.string()),
    }),
  }),
  'agent:output': z.object({ parts: z.array(outputPartSchema) }),
} as const;

/** Messages to an agent from a person, another agent, the system or the outside world. */
export const userEventData = {
  'user:message': z.object({
    ...messageFields,
    /** Whether it is a command for the engine, without words for the model. Such a message never counts as a prompt. */
    command: z.optional(z.boolean()),
    /** The text as the model received it, with the markup of its engine. Absent: as `text`. */
    wrapped: z.optional(z.string()),
    withheld,
  }),
} as const;

/** A tool as a model was given it. A source may record less than the whole definition. */
const requestToolSchema = z.object({
  name: z.string(),
  /** Absent: not recorded. */
  description: z.optional(z.string()),
  /** JSON Schema of the input. Absent: not recorded. */
  inputSchema: z.optional(jsonValueSchema),
  /** Further fields of the source, such as those of a tool that the vendor runs. */
  details: z.optional(jsonObjectSchema),
});

export type RequestTool = z.infer<typeof requestToolSchema>;

/** What model calls were given beside their messages: the tools or the parameters. `agent:inference` names it. */
export const requestEventData = {
  'request:stored': z.object({
    tools: z.optional(z.array(requestToolSchema)),
    /** The parameters in the words of their source, such as `temperature`. */
    parameters: z.optional(jsonObjectSchema),
  }),
} as const;
