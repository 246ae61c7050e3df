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
 * - ShareGPT: data/README.md of LLaMA-Factory, and the checks of its converter and its formatter of function calls;
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

const functionTool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({ name: nonEmpty, parameters: z.looseObject({}).optional() }),
});

const dataUrl = z.string().regex(/^data:image\/(?:png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$/);

const trlColumns = {
  images: z.array(dataUrl).optional(),
  tools: z.array(functionTool).optional(),
  metadata: z.strictObject({
    dispatch_id: nonEmpty,
    agent_name: nonEmpty,
    agent_role: z.string(),
    turn: z.string(),
    model: z.string(),
    event_id: nonEmpty,
    faded: z.boolean(),
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

const heard = ['human', 'observation'];
const said = ['gpt', 'function_call'];

const sharegptTurn = z
  .strictObject({ from: z.enum(['human', 'observation', 'gpt', 'function_call']), value: z.string() })
  .refine(({ from, value }) => from !== 'function_call' || isFunctionCall(value), 'a function call is JSON');

function isFunctionCall(value: string): boolean {
  const calls: unknown = JSON.parse(value.replace(/<think>.*?<\/think>/s, ''));
  return (Array.isArray(calls) ? calls : [calls]).every(
    (call) => typeof call?.name === 'string' && typeof call.arguments === 'object' && call.arguments !== null,
  );
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
  'trl-chat': z.strictObject({ messages: z.array(trlMessage).min(2), ...trlColumns }),
  openai: z.strictObject({
    messages: z
      .array(openaiMessage)
      .min(2)
      .refine(resultsFollowCalls, 'results follow their calls')
      .refine((messages) => messages.at(-1)?.role === 'assistant', 'the last message is an answer'),
    tools: z.array(functionTool).optional(),
  }),
  sharegpt: z.strictObject({
    conversations: z
      .array(sharegptTurn)
      .min(2)
      .refine((turns) => turns.length % 2 === 0, 'an even number of turns')
      .refine(
        (turns) => turns.every(({ from }, at) => (at % 2 === 0 ? heard : said).includes(from)),
        'human and observation at odd positions, gpt and function_call at even ones',
      ),
    system: z.string(),
    tools: z.string().refine((text) => text === '' || Array.isArray(JSON.parse(text))),
  }),
};
