import { definedOnly, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';

/** What one attribute or body may hold: 64 kB of content. */
const mostContentBytes = 65_536;

/** Content for one attribute. What goes beyond its limit is cut at a whole character and counted. */
export class ContentBudget {
  truncatedBytes = 0;
  #left = mostContentBytes;

  /** What still fits of a text; undefined: nothing of it. */
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

  /** The value, or as much of its JSON as fits, as a string. */
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

/** What an OTLP value can hold: whole numbers beyond 64 bits become text. */
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
