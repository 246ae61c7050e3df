import { asList, asObject, asText } from '@hansard/claude';
import type { JsonObject } from '@hansard/events';
import { isEmpty, readContent } from './tool-calls.ts';

/** The kind of a record: of its payload, for items of the model and messages of the engine; otherwise its own. */
export function kindOf({ type, payload }: JsonObject): string {
  const kind = asText(type) ?? '';
  if (kind !== 'response_item' && kind !== 'event_msg') return kind;
  return `${kind}/${asText(asObject(payload)?.type) ?? ''}`;
}

/** A message of the engine that states an item of the model once more. */
export interface Twin {
  /** What it is the twin of. `prompt` stands after its item, the others before it. */
  readonly of: 'prompt' | 'text' | 'thought';
  readonly texts: readonly string[];
  readonly id: string | undefined;
  /** What only the twin has. */
  readonly extras: JsonObject;
}

const twinKinds: ReadonlySet<unknown> = new Set([
  'user_message',
  'agent_message',
  'agent_reasoning',
  'item_completed',
]);

/** Null: the record states nothing once more. */
export function twinOf(record: JsonObject): Twin | null {
  const { type } = record;
  const payload = type === 'event_msg' ? asObject(record.payload) : undefined;
  if (payload === undefined || !twinKinds.has(payload.type)) return null;
  const rest = (known: readonly string[], fields = payload) =>
    Object.fromEntries(Object.entries(fields).filter(([key, one]) => !known.includes(key) && !isEmpty(one)));
  const more = rest(['timestamp', 'ordinal', 'type', 'payload'], record);
  switch (payload.type) {
    case 'user_message':
      return simple('prompt', payload.message, { ...rest(['type', 'message']), ...more });
    case 'agent_message':
      return simple('text', payload.message, { ...rest(['type', 'message', 'phase']), ...more });
    case 'agent_reasoning':
      return simple('thought', payload.text, { ...rest(['type', 'text']), ...more });
    default:
      return completed(payload, { ...rest(['type', 'item', ...ofItem]), ...more });
  }
}

const ofItem = ['thread_id', 'turn_id', 'started_at_ms', 'completed_at_ms'];

function simple(of: Twin['of'], text: unknown, extras: JsonObject): Twin | null {
  return typeof text === 'string' ? { of, texts: [text], id: undefined, extras } : null;
}

const itemKinds: ReadonlyMap<unknown, Twin['of']> = new Map([
  ['UserMessage', 'prompt'],
  ['AgentMessage', 'text'],
  ['Reasoning', 'thought'],
]);

function completed(payload: JsonObject, more: JsonObject): Twin | null {
  const { type, id, content, summary_text: summary, ...others } = asObject(payload.item) ?? {};
  const of = itemKinds.get(type);
  if (of === undefined) return null;
  const { text, others: parts } = readContent(content);
  const summaries = (asList(summary) ?? []).filter((one) => typeof one === 'string');
  const rest = Object.entries(others).filter(([key, one]) => key !== 'phase' && !isEmpty(one));
  const extras = { ...more, ...Object.fromEntries(rest), ...(parts.length === 0 ? {} : { content: parts }) };
  return { of, texts: of === 'thought' ? summaries : [text], id: asText(id), extras };
}

/** Whether an item of the model is the one that a twin states once more. */
export function isTwin({ of, texts, id }: Twin, payload: JsonObject): boolean {
  if (of === 'thought') {
    if (payload.type !== 'reasoning') return false;
    const summaries = (asList(payload.summary) ?? []).map((one) => asObject(one)?.text);
    return texts.every((text) => summaries.includes(text));
  }
  const role = of === 'prompt' ? 'user' : 'assistant';
  if (payload.type !== 'message' || payload.role !== role) return false;
  if (id !== undefined && payload.id === id) return true;
  const { text } = readContent(payload.content);
  return texts.every((one) => text === one || (one !== '' && text.includes(one)));
}
