import { isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import type { ModelMessage } from '@hansard/provider';
import type { AssistantModelMessage, StepResult, ToolSet } from 'ai';

type Answer = Extract<ModelMessage, { role: 'assistant' }>;

/** A part of an answer of the SDK. Its text is in the answer, and only its length is here. */
type ReplayPart =
  | { readonly type: 'reasoning' | 'text'; readonly length: number; readonly options?: JsonObject }
  | { readonly type: 'tool-call'; readonly toolCallId: string; readonly options?: JsonObject };

type SdkParts = Exclude<AssistantModelMessage['content'], string>;

/**
 * The parts of an answer in their order, with what the vendor added to each, such as a signature. Undefined: the answer has no
 * reasoning, and the vendor signed nothing.
 *
 * @param model the requested name of the model; another model gets nothing back
 */
export function replayOf({ content }: StepResult<ToolSet>, model: string | null): JsonValue | undefined {
  let isNeeded = false;
  const parts = content.flatMap((part): ReplayPart[] => {
    if (part.type !== 'reasoning' && part.type !== 'text' && part.type !== 'tool-call') return [];
    if (part.type === 'tool-call' && part.providerExecuted === true) return [];
    const options = part.providerMetadata as JsonObject | undefined;
    isNeeded ||= part.type === 'reasoning' || hasSignature(options);
    const added = options === undefined ? {} : { options };
    return part.type === 'tool-call'
      ? [{ type: part.type, toolCallId: part.toolCallId, ...added }]
      : [{ type: part.type, length: part.text.length, ...added }];
  });
  return isNeeded ? ({ sdk: 'ai', model, parts } as unknown as JsonValue) : undefined;
}

/** The parts of an earlier answer as the model gave them. Null: it has no replay of this model, or one that does not fit. */
export function replayedParts(
  { text, thinking = '', toolCalls, replay }: Answer,
  model: string | null,
): SdkParts | null {
  if (!isPlainObject(replay) || replay.sdk !== 'ai' || replay.model !== model) return null;
  const rest = { text, reasoning: thinking };
  const parts: SdkParts = [];
  for (const part of replay.parts as unknown as readonly ReplayPart[]) {
    const added = part.options === undefined ? {} : { providerOptions: part.options as never };
    if (part.type === 'tool-call') {
      const call = toolCalls.find(({ toolCallId }) => toolCallId === part.toolCallId);
      if (call === undefined) return null;
      parts.push({
        type: 'tool-call',
        toolCallId: call.toolCallId,
        toolName: call.tool,
        input: call.input,
        ...added,
      });
    } else {
      parts.push({ type: part.type, text: rest[part.type].slice(0, part.length), ...added });
      rest[part.type] = rest[part.type].slice(part.length);
    }
  }
  const calls = parts.filter(({ type }) => type === 'tool-call').length;
  return rest.text === '' && rest.reasoning === '' && calls === toolCalls.length ? parts : null;
}

/** Vendors sign tool calls and texts too, and refuse them without the signature. */
function hasSignature(options: JsonObject | undefined): boolean {
  return Object.values(options ?? {}).some(
    (ofVendor) => isPlainObject(ofVendor) && Object.keys(ofVendor).some((key) => /signature/iu.test(key)),
  );
}
