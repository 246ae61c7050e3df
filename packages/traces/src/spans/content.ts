import { definedOnly, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';

/** The content limit of one attribute or body: 64 kB. */
const mostContentBytes = 65_536;

/** Content for one attribute. Content over the limit is cut at a whole character, and the removed bytes are counted. */
export class ContentBudget {
  truncatedBytes = 0;
  #left = mostContentBytes;

  /** The part of a text that still fits; undefined if nothing fits. */
  text(text: string): string | undefined {
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.#left) {
      this.#left -= bytes;
      return text;
    }
    const cut = cutAt(text, this.#left);
    this.truncatedBytes += bytes - Buffer.byteLength(cut);
    this.#left = 0;
    return cut === '' ? undefined : cut;
  }

  /** The value, or the part of its JSON that fits, as a string. */
  value(value: JsonValue): unknown {
    const json = JSON.stringify(value);
    const kept = this.text(json);
    return kept === undefined || kept.length < json.length ? kept : asAnyValue(value);
  }
}

export type Part = Readonly<Record<string, unknown>>;

/** Messages of the conventions' schema: a role and parts. */
export class MessageList {
  readonly budget = new ContentBudget();
  readonly messages: { role: string; parts: Part[]; finish_reason?: string }[] = [];

  addText(role: string, type: 'text' | 'reasoning', text: string): void {
    const content = this.budget.text(text);
    if (content !== undefined) this.#partsOf(role).push({ type, content });
  }

  addToolCall(id: string, name: string, input: JsonValue | undefined): void {
    const value = input === undefined ? undefined : this.budget.value(input);
    this.#partsOf('assistant').push({
      type: 'tool_call',
      id,
      name,
      ...definedOnly({ arguments: value }),
    });
  }

  addToolResponse(id: string, output: JsonValue | undefined): void {
    const response = output === undefined ? null : this.budget.value(output);
    if (response !== undefined)
      this.messages.push({ role: 'tool', parts: [{ type: 'tool_call_response', id, response }] });
  }

  #partsOf(role: string): Part[] {
    const latest = this.messages.at(-1);
    if (latest?.role === role && role === 'assistant') return latest.parts;
    const parts: Part[] = [];
    this.messages.push({ role, parts });
    return parts;
  }
}

/** Converts a value for OTLP: integers over 64 bits become text. */
function asAnyValue(value: JsonValue | undefined): unknown {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return String(value);
  if (Array.isArray(value)) return value.map(asAnyValue);
  if (isPlainObject(value))
    return Object.fromEntries(
      Object.entries(value as JsonObject).map(([key, item]) => [key, asAnyValue(item)]),
    );
  return value;
}

function cutAt(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}
