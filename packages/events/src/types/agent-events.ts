import { z } from 'zod';
import { jsonObjectSchema, jsonValueSchema } from '../json/json-value-schema.ts';
import { contentPartSchema, outputPartSchema } from './content-part.ts';
import { costSchema, idSchema, millisecondsSchema, usageSchema } from './fields.ts';

/** Whether surfaces that people watch leave out the content: an answer that nobody may have heard is in it. Absent: false. */
const withheld = z.boolean().optional();

const toolFields = {
  toolCallId: z.string().min(1),
  tool: z.string().min(1),
  /** The target of the call in one line: a path, a command, a query, the name of a sub-agent. */
  target: z.string().optional(),
  /** Further facts about the call (D7). Never contents of files or output of commands. */
  metadata: jsonObjectSchema,
  withheld,
};

/** How a tool changed a file, whole contents included. At `full` fidelity. */
const fileChangeSchema = z.object({
  /** Absolute, or relative to the working folder of the dispatch. */
  path: z.string().min(1),
  /** The path before, if the change renamed the file. */
  from: z.string().min(1).optional(),
  /** The content before. Null: there was no file. Absent: not known; the change then wrote every line that no earlier record has. */
  before: z.string().nullable().optional(),
  /** The content after. Null: the file was deleted. */
  after: z.string().nullable(),
  /** Whether a person changed the edit before it was made. */
  mixed: z.boolean().optional(),
});

export type FileChange = z.infer<typeof fileChangeSchema>;

export const sourceSchema = z.object({
  /** `system`: the engine, a hook or the orchestrator. `external`: the outside world, which may be a person. */
  kind: z.enum(['user', 'agent', 'system', 'external']),
  /** Of `external` only: what sent it. `session`: another session of the same product. Absent: not known. */
  what: z.enum(['file', 'timer', 'webhook', 'service', 'session']).optional(),
  /** Not of `system`: who sent it, in the words of the channel, such as a user of Slack or an agent by its name. Absent: not known. */
  name: z.string().optional(),
  agentId: idSchema.optional(),
  dispatchId: idSchema.optional(),
  /** The hook that sent it, as the system or with the agent. Absent: no hook did. */
  hook: z.string().optional(),
});

const messageFields = {
  /** Empty: the message has attachments only. */
  text: z.string(),
  source: sourceSchema,
  /** What is attached to the text, in the order of the source. Absent: nothing. */
  parts: z.array(contentPartSchema).optional(),
};

/** Actions of agents (D2, D6; the session log; the inference trace; the unified event log). */
export const agentEventData = {
  'agent:created': z.object({
    name: z.string().optional(),
    languageModel: z.string().optional(),
    /** No other agent created it, and it is not the root. */
    peer: z.boolean().optional(),
    /** The hook that created it for itself. */
    hook: z.string().optional(),
    /**
     * Its transcript begins with the transcript of another agent, through this event (inclusive). The log does not repeat those events. Without `agentId`
     * it is that of the dispatched agent.
     */
    inherits: z.object({ agentId: idSchema.optional(), through: idSchema }).optional(),
  }),
  'agent:given': z.object({
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    /** Of all roles but `tool`. Absent: an answer without text. */
    text: z.string().optional(),
    thinking: z.object({ text: z.string(), signature: z.string().optional() }).optional(),
    /** Of `assistant`. */
    toolCalls: z
      .array(
        z.object({
          toolCallId: z.string().min(1),
          tool: z.string().min(1),
          input: jsonValueSchema.optional(),
        }),
      )
      .optional(),
    /** Of `tool`: the call that it answers, its tool, what it gave, and whether that is an error. */
    toolCallId: z.string().min(1).optional(),
    tool: z.string().min(1).optional(),
    output: jsonValueSchema.optional(),
    isError: z.boolean().optional(),
    /** Of `user`. Absent: a person. */
    source: sourceSchema.optional(),
    /** Of `user`: what is attached to the text. */
    parts: z.array(contentPartSchema).optional(),
  }),
  'agent:terminated': z.object({ reason: z.string().optional() }),
  'agent:revived': z.object({
    reason: z.string().optional(),
    /** The `agent:undelivered` events since it ended. */
    missed: z.array(idSchema),
    /** The tools that its transcript calls and that the session does not have now. */
    missingTools: z.array(z.string()).optional(),
  }),
  'agent:undelivered': z.object(messageFields),
  'agent:system_prompt': z.object({
    text: z.string(),
    /** The dispatches of the task whose outcomes the text gives. Absent: the text is instructions. */
    outcomesOf: z.array(z.string()).optional(),
  }),
  'agent:text': z.object({ text: z.string(), withheld }),
  /** An answer that a hook rejected before anybody received it. Its author's model reads it with the reason. */
  'agent:rejected': z.object({
    text: z.string(),
    thinking: z.string().optional(),
    reason: z.string(),
    /** The hook that rejected it. Absent: the answer was stopped before hooks had decided. */
    hook: z.string().optional(),
    /** Whether the agent is asked to answer again. */
    retry: z.boolean(),
  }),
  'agent:thinking': z.object({ text: z.string(), signature: z.string().optional(), withheld }),
  'agent:tool_call': z.object({ ...toolFields, input: jsonValueSchema.optional() }),
  'agent:tool_result': z.object({
    ...toolFields,
    status: z.enum(['completed', 'error']),
    durationMs: millisecondsSchema.optional(),
    error: z.string().optional(),
    /** Text or JSON. An image, a document or a sound in it, at any depth, is a part as in `contentPartSchema`. */
    output: jsonValueSchema.optional(),
    /** The files that the call changed. Absent: the tool does not say. */
    changes: z.array(fileChangeSchema).optional(),
  }),
  'agent:piece_of_text': z.object({ text: z.string() }),
  'agent:inference': z.object({
    model: z.string(),
    durationMs: millisecondsSchema.optional(),
    usage: usageSchema,
    costUsd: costSchema.optional(),
    stopReason: z.string().optional(),
    /** The manifest of the prompt, written by its renderer: `ContextManifest` of `@hansard/views`. */
    context: jsonObjectSchema.optional(),
    /**
     * The `request:stored` events with the tools and the parameters that the model was given. Null: it was given none. Absent: not recorded.
     */
    request: z
      .object({ tools: idSchema.nullable().optional(), parameters: idSchema.nullable().optional() })
      .optional(),
    /** What the provider of the model gets back with this answer in later calls, such as signed reasoning. */
    replay: jsonValueSchema.optional(),
  }),
  'agent:message_sent': z.object({
    text: z.string(),
    to: z.object({
      /** Another dispatch. */
      dispatchId: idSchema.optional(),
      /** An agent of the dispatch, by the name that the sender uses for it; '' is the dispatched agent. */
      agent: z.string().optional(),
    }),
  }),
  'agent:output': z.object({ parts: z.array(outputPartSchema) }),
} as const;

/** Messages to an agent from a person, another agent, the system or the outside world. */
export const userEventData = {
  'user:message': z.object({
    ...messageFields,
    /** Whether it is a command for the engine, without words for the model. Such a message never counts as a prompt. */
    command: z.boolean().optional(),
    /** The text as the model received it, with the markup of its engine. Absent: as `text`. */
    wrapped: z.string().optional(),
    withheld,
  }),
} as const;

/** A tool as a model was given it. A source may record less than the whole definition. */
const requestToolSchema = z.object({
  name: z.string(),
  /** Absent: not recorded. */
  description: z.string().optional(),
  /** JSON Schema of the input. Absent: not recorded. */
  inputSchema: jsonValueSchema.optional(),
  /** Further fields of the source, such as those of a tool that the vendor runs. */
  details: jsonObjectSchema.optional(),
});

export type RequestTool = z.infer<typeof requestToolSchema>;

/** What model calls were given beside their messages: the tools or the parameters. `agent:inference` names it. */
export const requestEventData = {
  'request:stored': z.object({
    tools: z.array(requestToolSchema).optional(),
    /** The parameters in the words of their source, such as `temperature`. */
    parameters: jsonObjectSchema.optional(),
  }),
} as const;
