import type {
  CapturedEvent,
  ContentPart,
  EventData,
  EventError,
  EventOf,
  JsonObject,
  JsonValue,
  MediaPart,
} from '@hansard/events';
import {
  bytesIn,
  contentLabel,
  eventErrors,
  isMediaPart,
  isReadableAs,
  mediaPartsIn,
  snapshotText,
} from '@hansard/events/plain';
import { putTogether } from '../../transcript/gather-transcripts.ts';
import type { TranscriptEntry, TranscriptMessage } from '../../transcript/transcript-message.ts';
import { ContextItem, type ItemKind } from './context-item.ts';
import type { ContextFile } from './context-message.ts';
import { ContextGroup, type GroupKind } from './context-zones.ts';

/** Fields of the results of a provider's own tools. Only the provider can read their content. */
const encryptedFields = ['encrypted_content', 'encrypted_index', 'encrypted_stdout'] as const;

/** The item for the result of a call, and its group. */
interface Place {
  readonly group: ContextGroup;
  readonly index: number;
  readonly item: ContextItem;
}

/** A readable event, with a transcript entry that it alone makes. */
export interface ReadEvent {
  readonly event: CapturedEvent;
  readonly entry: TranscriptEntry | undefined;
}

/** The changes that an event made. */
export interface HistoryChange {
  /** The group that is new or has grown. */
  readonly group: number | null;
  /** If the event is an action: the groups of output that were observed before it. */
  readonly superseded: readonly number[];
  readonly isCompacted: boolean;
}

/** The events of an agent as messages for its model. The cost of an event does not depend on the number of earlier ones. */
export class ContextHistory {
  readonly groups: ContextGroup[] = [];
  /** The first group that the last compaction kept. */
  compactedUpTo = 0;
  /** Replaces the groups before `compactedUpTo`. */
  summary: ContextItem | null = null;
  readonly #count: (text: string) => number;
  readonly #files: 'named' | 'sent' | undefined;
  readonly #takenBack: ReadonlySet<string>;
  readonly #answers = new Map<string, number>();
  /** Answers with the result of a call that the provider made itself: the model continues them after it. */
  readonly #continued = new Set<string>();
  readonly #places = new Map<string, Place>();
  /** By event id: the group that the event belongs to, or the next one. */
  readonly #groupOf = new Map<string, number>();
  #currentOutput: number[] = [];

  /** `files`: `images` of the policy. `takenBack`: as in `TranscriptPath`. */
  constructor(
    count: (text: string) => number,
    files: 'named' | 'sent' | undefined,
    takenBack: ReadonlySet<string>,
  ) {
    this.#count = count;
    this.#files = files;
    this.#takenBack = takenBack;
  }

  take(read: ReadEvent): HistoryChange {
    const { id } = read.event;
    const change = this.#add(read);
    if (!this.#groupOf.has(id)) this.#groupOf.set(id, change.group ?? this.groups.length);
    return change;
  }

  #add({ event, entry }: ReadEvent): HistoryChange {
    const { type } = event;
    if (type === 'agent:inference') return changed(this.#addReplay(event as EventOf<typeof type>));
    if (type === 'session:compaction') return this.#compact(event as EventOf<typeof type>);
    if (entry === undefined)
      return changed(type === 'agent:output' ? this.#addOutput(event as EventOf<typeof type>) : null);
    const { message, messageId } = entry;
    switch (message.role) {
      case 'system':
        return changed(this.#open('systemPrompt', { role: 'system', substance: 'talk' }, event, message));
      case 'user':
        return changed(this.#addMessage(message, event));
      case 'tool':
        return changed(this.#addResult(message, event as EventOf<'agent:tool_result' | 'agent:given'>));
      default:
        return this.#addAnswer(message, messageId, event);
    }
  }

  #addMessage(message: TranscriptMessage, event: CapturedEvent): number {
    const content = messageText(message);
    const index = this.#open('message', { role: 'user', substance: 'talk' }, event, { content });
    const group = this.groups[index];
    if (group !== undefined) this.#addFiles(group, group.newest, message.parts);
    return index;
  }

  #open(
    kind: GroupKind,
    itemKind: ItemKind,
    { id }: CapturedEvent,
    { content }: Pick<TranscriptMessage, 'content'>,
  ): number {
    const item = new ContextItem(itemKind, id, this.#count);
    if (content !== null) item.addText(content);
    return this.groups.push(new ContextGroup(kind, item)) - 1;
  }

  #addAnswer(message: TranscriptMessage, messageId: string, event: CapturedEvent): HistoryChange {
    const known = this.#continued.delete(messageId) ? undefined : this.#answers.get(messageId);
    const group =
      known ?? this.#open('answer', { role: 'assistant', substance: 'talk' }, event, { content: null });
    this.#answers.set(messageId, group);
    const { content, thinking, toolCalls = [] } = message;
    const found = this.groups[group];
    const [answer] = found?.items ?? [];
    if (found === undefined || answer === undefined) throw new RangeError(`There is no group ${group}.`);
    if (thinking !== undefined) answer.addThought(thinking.text);
    if (content !== null) found.grow(answer, () => answer.addText(content));
    for (const call of toolCalls) {
      const { toolCallId, tool } = call;
      found.grow(answer, () => answer.addCall(call));
      const isTakenBack = this.#takenBack.has(toolCallId);
      const item = new ContextItem({ role: 'tool', toolCallId, tool, isTakenBack }, event.id, this.#count);
      found.add(item);
      this.#places.set(toolCallId, { group: found, index: group, item });
    }
    const superseded = known === undefined ? this.#currentOutput.splice(0) : [];
    return { group, superseded, isCompacted: false };
  }

  /** The call of an answer is recorded with the answer, and says what its provider gets back with it. */
  #addReplay({ messageId = '', data: { replay } }: EventOf<'agent:inference'>): number | null {
    const index = this.#answers.get(messageId);
    const group = this.groups[index ?? -1];
    const [answer] = group?.items ?? [];
    if (index === undefined || answer === undefined || replay === undefined) return null;
    group?.grow(answer, () => answer.setReplay(replay));
    return index;
  }

  /**
   * A result without a call is omitted, because models refuse it; several results of one call are joined. A result within
   * an answer is that of a provider's tool: the model wrote the rest of the answer after it.
   */
  #addResult(
    { toolCallId = '', content, isError = false }: TranscriptMessage,
    { messageId, data: { output = content } }: EventOf<'agent:tool_result' | 'agent:given'>,
  ): number | null {
    const place = this.#places.get(toolCallId);
    if (place === undefined) return null;
    place.group.grow(place.item, () =>
      place.item.addText(output === null ? '' : resultText(output), isError),
    );
    if (typeof output === 'object') this.#addFiles(place.group, place.item, mediaPartsIn(output));
    if (messageId !== undefined && this.#answers.get(messageId) === place.index)
      this.#continued.add(messageId);
    return place.index;
  }

  /** Consecutive output is one message. */
  #addOutput(event: EventOf<'agent:output'>): number | null {
    if (event.data.parts.length === 0) return null;
    const text = outputText(event.data);
    const last = this.groups.length - 1;
    const group = this.groups[last];
    if (group?.kind === 'output') {
      group.grow(group.newest, () => group.newest.addText(text));
      this.#addObserved(group, event);
      return last;
    }
    const index = this.#open('output', { role: 'user', substance: 'tool' }, event, { content: text });
    const opened = this.groups[index];
    if (opened !== undefined) this.#addObserved(opened, event);
    this.#currentOutput.push(index);
    return index;
  }

  /** What an agent observed is sent only if the policy says so. */
  #addObserved(group: ContextGroup, { data }: EventOf<'agent:output'>): void {
    if (this.#files === 'sent') this.#addFiles(group, group.newest, data.parts.filter(isMediaPart));
  }

  #addFiles(group: ContextGroup, item: ContextItem, parts: readonly ContentPart[] = []): void {
    if (this.#files === 'named') return;
    for (const part of parts) {
      const file = part.kind === 'text' ? null : fileOf(part);
      if (file !== null) group.grow(item, () => item.addFile(file));
    }
  }

  /** A compaction without a summary changes nothing: there is no text to replace the messages with. */
  #compact(event: EventOf<'session:compaction'>): HistoryChange {
    const { summary, keptFrom } = event.data;
    if (summary === undefined) return changed(null);
    const keptGroup = keptFrom === undefined ? undefined : this.#groupOf.get(keptFrom);
    this.compactedUpTo = Math.max(this.compactedUpTo, keptGroup ?? this.groups.length);
    // System prompts are always shown, and those at the beginning come before the summary.
    while (this.groups[this.compactedUpTo]?.kind === 'systemPrompt') this.compactedUpTo += 1;
    this.summary = new ContextItem({ role: 'user', substance: 'talk' }, event.id, this.#count);
    this.summary.addText(summary);
    return { group: null, superseded: [], isCompacted: true };
  }
}

/** The file of a part, with its keys in one order. Null: the log does not have its bytes. */
function fileOf({ kind, mediaType, sha256, size, name, isKept }: MediaPart): ContextFile | null {
  if (sha256 === undefined || isKept === false) return null;
  return {
    kind,
    ...(mediaType === undefined ? {} : { mediaType }),
    sha256,
    ...(size === undefined ? {} : { size }),
    ...(name === undefined ? {} : { name }),
  };
}

/**
 * An event for each message that it makes; one for an event that makes none.
 * @throws EVENT_INVALID if the event is part of a prompt and its data has a shape that this version does not know
 */
export function readEvent(event: CapturedEvent): readonly [ReadEvent, ...ReadEvent[]] {
  const [entry, ...more] = putTogether([event]);
  const { type } = event;
  const isPart = type === 'session:compaction' || (type === 'agent:output' && entry === undefined);
  if (isPart && !isReadableAs(event, type)) throw unreadable(event);
  return [{ event, entry }, ...more.map((other) => ({ event, entry: other }))];
}

function changed(group: number | null): HistoryChange {
  return { group, superseded: [], isCompacted: false };
}

function unreadable({ type, id }: CapturedEvent): EventError {
  return eventErrors.error(
    'EVENT_INVALID',
    `${type} ${id} is part of the prompt, but its data has a shape that this version does not know. Read the log with the version that wrote it.`,
  );
}

/** Observed output as text for a model. */
export function outputText({ parts }: EventData<'agent:output'>): string {
  return parts.map(snapshotText).join('\n');
}

/** A message with what is attached to it: texts, and the names of images, documents and sounds. */
function messageText({ content, parts = [] }: Pick<TranscriptMessage, 'content' | 'parts'>): string {
  const attached = parts.map((part) => {
    if (part.kind !== 'text') return contentLabel(part);
    return part.name === undefined ? part.text : `${part.name}:\n${part.text}`;
  });
  return [content ?? '', ...attached].filter((text) => text !== '').join('\n');
}

/** The field with the bytes of a file in the blocks of the Anthropic API and of MCP; null if the block has no bytes. */
export function bytesField(block: JsonObject): 'data' | 'blob' | null {
  const { type, data, blob, mimeType, uri } = block;
  const isSource = type === 'base64';
  const isContent = (type === 'image' || type === 'audio') && typeof mimeType === 'string';
  if (typeof data === 'string' && (isSource || isContent)) return 'data';
  const isResource = typeof blob === 'string' && (typeof mimeType === 'string' || typeof uri === 'string');
  return isResource ? 'blob' : null;
}

/** The output of a tool as text for a model, as JSON unless it is text. Images and encoded bytes are only named: no model reads them as text. */
function resultText(output: JsonValue): string {
  return typeof output === 'string' ? output : JSON.stringify(output, withoutBytes);
}

function withoutBytes(_: string, value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (isMediaPart(value)) return contentLabel(value);
  const bytes = bytesField(value);
  const fields = encryptedFields.filter((field) => typeof value[field] === 'string');
  if (bytes === null && fields.length === 0) return value;
  const named = [...(bytes === null ? [] : [bytes]), ...fields];
  return {
    ...value,
    ...Object.fromEntries(named.map((field) => [field, `[${bytesIn(String(value[field]))} bytes]`])),
  };
}
