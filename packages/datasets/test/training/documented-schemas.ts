import { z } from 'zod';
import type { TrainingFormatId } from '../../src/index.ts';

/*
 * The documented formats of the tools, as schemas:
 * - TRL: huggingface.co/docs/trl/dataset_formats, types "prompt-completion" and "language modeling", conversational, and
 *   "Tool Calling" (a result names its tool; arguments are JSON text, so that all rows have one schema);
 * - TRL, "Vision datasets": a content is a list of parts, an `image` part has no image in it, and the column `images` has them in order;
 * - OpenAI: platform.openai.com/docs/api-reference/fine-tuning/chat-input, and its OpenAPI document
 *   (FineTuneChatRequestInput, FineTuneChatCompletionRequestAssistantMessage: weight 0 or 1, content is required unless
 *   there are tool calls);
 * - LLaMA-Factory: the class OpenAIDatasetConverter of data/converter.py, which needs `tool_calls` in each message, and `tools` as JSON text;
 * - sft: docs/design.md (G5).
 */

const nonEmpty = z.string().min(1);

const jsonObjectText = z.string().refine(isJsonObject, 'arguments are JSON');

const textPart = z.strictObject({ type: z.literal('text'), text: z.string() });
const trlParts = z.array(z.union([z.strictObject({ type: z.literal('image') }), textPart])).min(1);
/** Arrow needs one form in the whole file. */
const trlContent = z.union([z.string(), trlParts]);

const trlMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'user']), content: trlContent }),
  z.strictObject({ role: z.literal('tool'), name: nonEmpty, content: trlContent }),
  z.strictObject({
    role: z.literal('assistant'),
    content: trlContent,
    reasoning_content: z.string().optional(),
    thinking: z.string().optional(),
    tool_calls: z
      .array(
        z.strictObject({
          type: z.literal('function'),
          function: z.strictObject({ name: nonEmpty, arguments: jsonObjectText }),
        }),
      )
      .min(1)
      .optional(),
  }),
]);

const maskedMessage = z
  .looseObject({ train: z.boolean(), role: z.string(), tool_calls: z.array(z.unknown()) })
  .refine(({ train: _, tool_calls, ...message }) => {
    const calls = tool_calls.length === 0 ? {} : { tool_calls };
    return trlMessage.safeParse({ ...message, ...calls }).success;
  }, 'without its mask it is a message of TRL');

const functionTool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({ name: nonEmpty, parameters: z.looseObject({}).optional() }),
});

const dataUrl = z.string().regex(/^data:image\/(?:png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$/);

const trlColumns = {
  images: z.array(dataUrl).optional(),
  tools: z
    .string()
    .refine((text) => z.array(functionTool).safeParse(JSON.parse(text)).success, 'tools are JSON')
    .optional(),
  metadata: z.strictObject({
    dispatch_id: nonEmpty,
    agent_name: nonEmpty,
    agent_role: z.string(),
    turn: z.string(),
    model: z.string(),
    event_id: nonEmpty,
    faded: z.boolean(),
    outcome: z.string(),
    /** Of `trl-chat`: the first event of each answer that the row trains. */
    calls: z.array(nonEmpty).min(1).optional(),
  }),
};

const openaiToolCall = z.strictObject({
  id: nonEmpty,
  type: z.literal('function'),
  function: z.strictObject({
    name: nonEmpty,
    arguments: jsonObjectText,
  }),
});

/** Images are parts of user messages only (guide "Vision fine-tuning"). */
const openaiParts = z
  .array(
    z.union([
      z.strictObject({ type: z.literal('text'), text: nonEmpty }),
      z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: dataUrl }) }),
    ]),
  )
  .min(1);

const openaiMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: z.union([z.string(), openaiParts]) }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: nonEmpty, content: z.string() }),
  z
    .strictObject({
      role: z.literal('assistant'),
      content: z.string().optional(),
      tool_calls: z.array(openaiToolCall).min(1).optional(),
      weight: z.literal([0, 1]).optional(),
    })
    .refine(
      ({ content, tool_calls }) => content !== undefined || tool_calls !== undefined,
      'content is required',
    ),
]);

/** The API refuses a result that does not follow its call, and a call without results before the next message. */
function resultsFollowCalls(messages: readonly z.infer<typeof openaiMessage>[]): boolean {
  let open: string[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) return false;
      open = open.filter((id) => id !== message.tool_call_id);
    } else {
      if (open.length > 0) return false;
      if (message.role === 'assistant' && at < messages.length - 1)
        open = (message.tool_calls ?? []).map(({ id }) => id);
    }
  }
  return open.length === 0;
}

function isJsonObject(text: string): boolean {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const documentedSchemas: Readonly<Record<TrainingFormatId, z.ZodType>> = {
  sft: z.strictObject({
    prompt: nonEmpty,
    completion: nonEmpty,
    metadata: z.strictObject({
      game_id: nonEmpty,
      agent_name: nonEmpty,
      agent_role: z.string(),
      turn: z.string(),
    }),
  }),
  trl: z.strictObject({
    prompt: z.array(trlMessage).min(1),
    completion: z.tuple([trlMessage]).refine(([{ role }]) => role === 'assistant'),
    ...trlColumns,
  }),
  'trl-chat': z
    .strictObject({ messages: z.array(maskedMessage).min(2), ...trlColumns })
    .refine(
      ({ messages, metadata }) =>
        messages.filter(({ train }) => train).length === metadata.calls?.length &&
        messages.every(({ train, role }) => !train || role === 'assistant'),
      'each call of the row is a message that is trained',
    ),
  openai: z.strictObject({
    messages: z
      .array(openaiMessage)
      .min(2)
      .refine(resultsFollowCalls, 'results follow their calls')
      .refine((messages) => messages.at(-1)?.role === 'assistant', 'the last message is an answer'),
    tools: z.array(functionTool).optional(),
  }),
};
