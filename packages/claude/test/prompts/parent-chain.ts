/** One message of a prompt, as the records of a session show it. */
export type ChainMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ChainCall[] }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      /** Null: no record has it. */
      readonly text: string | null;
      readonly isError: boolean;
    };

export interface ChainCall {
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: unknown;
}

/** A model call of a session: the id of its answer, and what its prompt must contain. */
export interface ChainPrompt {
  readonly messageId: string;
  /** Whether no record shows that the answer is whole: it is the last of the file, and stopped for no reason or for a call of a tool, which others may follow. */
  readonly isOpen: boolean;
  readonly messages: readonly ChainMessage[];
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The prompts of the model calls of a transcript, from the links between its records alone. Shares no code with the importer.
 *
 * 1. `parentUuid` leads from the first record of an answer to the start of the conversation: this chain is the prompt. A record that
 *    names no record of the file, as in a slice of a session, follows the record before it.
 * 2. An answer is written as several records with one `message.id`, mostly one for each block. Records of an answer that are on the
 *    chain stand for the whole answer.
 * 3. Parallel calls fork the chain: the results of an answer are children of its records, and only the last is on the chain. The
 *    API takes an answer only with all its results, so every result of the answer directly follows it, in the order of the calls, and
 *    an error is in the place of a result that no record has.
 * 4. Texts are messages of the user. A queued command is an attachment with the text that the user typed during an answer, and a hook
 *    adds context in another one. Other attachments, progress and system records hold no message.
 * 5. A message whose model is `<synthetic>` was written by Claude Code, not by a model. An error of the API is never sent.
 */
export class ParentChain {
  readonly #records: readonly Json[];
  readonly #before: ReadonlyMap<Json, Json>;
  /** The records of each answer, in the order of the file. */
  readonly #answers: ReadonlyMap<unknown, readonly Json[]>;
  readonly #results: ReadonlyMap<unknown, Json>;

  constructor(lines: string) {
    this.#records = uniqueRecords(lines);
    const byUuid = new Map(this.#records.map((record) => [record.uuid, record]));
    this.#before = new Map(
      this.#records.flatMap((record, at) => {
        const before = byUuid.get(record.parentUuid) ?? this.#records[at - 1];
        return before === undefined ? [] : [[record, before] as const];
      }),
    );
    this.#answers = Map.groupBy(this.#records.filter(isAnswer), (record) => messageOf(record).id);
    this.#results = new Map(
      this.#records
        .flatMap(blocksOf)
        .flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block] as const] : [])),
    );
  }

  get isCompacted(): boolean {
    return this.#records.some(
      ({ subtype, isCompactSummary }) => subtype === 'compact_boundary' || isCompactSummary === true,
    );
  }

  get prompts(): ChainPrompt[] {
    const last = [...this.#answers.keys()].at(-1);
    return [...this.#answers].flatMap(([id, records]) => {
      const [first] = records;
      if (first === undefined || messageOf(first).usage === undefined) return [];
      const hasStopped = records.some((record) => !['tool_use', null].includes(stopReasonOf(record)));
      return [
        { messageId: String(id), isOpen: id === last && !hasStopped, messages: this.#promptOf(first, id) },
      ];
    });
  }

  #promptOf(first: Json, id: unknown): ChainMessage[] {
    const chain: Json[] = [];
    for (let record = this.#before.get(first); record !== undefined; record = this.#before.get(record))
      chain.unshift(record);
    const shown = new Set([id]);
    return chain.flatMap((record) => {
      if (record.isApiErrorMessage === true) return [];
      if (!isAnswer(record)) return textsOf(record).map((text) => ({ role: 'user' as const, text }));
      const { id: answer } = messageOf(record);
      if (shown.has(answer)) return [];
      shown.add(answer);
      return this.#answerOf(answer);
    });
  }

  #answerOf(id: unknown): ChainMessage[] {
    const blocks = (this.#answers.get(id) ?? []).flatMap(blocksOf);
    const calls = blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id: toolCallId, name, input }) => ({
        toolCallId: String(toolCallId),
        tool: String(name),
        input,
      }));
    const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const results = calls.map(({ toolCallId }): ChainMessage => {
      const result = this.#results.get(toolCallId);
      if (result === undefined) return { role: 'tool', toolCallId, text: null, isError: true };
      const { content, is_error } = result;
      const words = typeof content === 'string' ? content : JSON.stringify(content);
      return { role: 'tool', toolCallId, text: words, isError: is_error === true };
    });
    return [{ role: 'assistant', text, calls }, ...results];
  }
}

/** The records of a file, each once: one under the uuid and with the content of another is the same. Lines that are not JSON are skipped. */
function uniqueRecords(lines: string): Json[] {
  const seen = new Set<string>();
  return lines.split('\n').flatMap((line) => {
    const record = parsed(line);
    if (record === null || typeof record.uuid !== 'string') return [];
    const key = JSON.stringify([record.uuid, messageOf(record).content ?? record]);
    if (seen.has(key)) return [];
    seen.add(key);
    return [record];
  });
}

function parsed(line: string): Json | null {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return null;
  }
}

function isAnswer(record: Json): boolean {
  return record.type === 'assistant' && messageOf(record).model !== '<synthetic>';
}

function messageOf(record: Json): Json {
  return isObject(record.message) ? record.message : {};
}

function stopReasonOf(record: Json): string | null {
  const { stop_reason: reason } = messageOf(record);
  return typeof reason === 'string' ? reason : null;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

function blocksOf(record: Json): readonly Json[] {
  return contentBlocks(messageOf(record).content);
}

function contentBlocks(content: unknown): readonly Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function textsOf(record: Json): string[] {
  const { attachment } = record;
  if (isObject(attachment) && attachment.type === 'hook_additional_context')
    return [(attachment.content as string[]).join('\n')];
  const blocks =
    isObject(attachment) && attachment.type === 'queued_command'
      ? contentBlocks(attachment.prompt)
      : blocksOf(record);
  return blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
}
