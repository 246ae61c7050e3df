import { type CapturedEvent, type EventOf, isEventOf, type JsonValue } from '@hansard/events';
import { isMediaPart } from '@hansard/events/plain';
import {
  bytesField,
  type ContextMessage,
  isStraightEvent,
  type TokenCounter,
  type TranscriptPath,
  TranscriptTree,
} from '@hansard/prompt';
import {
  fullRecipe,
  GatheredAnswer,
  type InferenceRecords,
  isAnswerBlock,
  type RecordedPrompt,
  type TrainedAnswer,
} from './inference-records.ts';
import { holdsEncodedBytes, isShortened, type Prompt, PromptRenderer } from './prompt-renderer.ts';
import { type MeasureMessage, type RowOptions, wordsAndThoughts } from './rows.ts';
import type { CallFacts, CallOrDropped, DropReason } from './training-call.ts';

/** Blocks of a message to an agent that are events of their own and not part of a rendered prompt. */
const unshownTypes: ReadonlySet<string> = new Set(
  ['image', 'document', 'audio', 'video', 'file', 'container_upload', 'search_result'].map(
    (block) => `user:${block}`,
  ),
);

/** The name, role and turn of an agent at the time of a call, and how its dispatch ended. */
export type CallSetting = Pick<CallFacts, 'agentName' | 'agentRole' | 'turn' | 'outcome'>;

interface OpenAnswer {
  readonly messageId: string;
  readonly eventId: string;
  readonly setting: CallSetting;
  /** Null if it can't be rendered. */
  readonly prompt: Prompt | null;
  readonly gathered: GatheredAnswer;
  /** Whether the model was given a file that the prompt does not show. */
  readonly hasUnshownFile: boolean;
  /** Whether the prompt has an answer that nobody received. */
  readonly hasRejected: boolean;
}

/** The previous call, if it was not dropped. Its prompt is not kept. */
interface LatestCall extends Pick<Prompt, 'renderer' | 'number' | 'length'>, Pick<CallFacts, 'tools'> {
  readonly answer: TrainedAnswer;
}

export interface AgentCallsOptions {
  readonly dispatchId: string;
  readonly agentId: string;
  readonly records: InferenceRecords;
  /** The counters that the records name, by id. */
  readonly counters: ReadonlyMap<string, TokenCounter>;
  /** Measures the messages of prompts. */
  readonly measure?: MeasureMessage | undefined;
  /** Null: the transcripts have one branch each. */
  readonly branches: TrainedBranches | null;
  /** The events that are copied from another dispatch. Null: none. */
  readonly copied: ReadonlyMap<string, string> | null;
  readonly split: RowOptions['split'];
}

/** Finds the model calls of one agent in its events as they arrive. */
export class AgentCalls {
  readonly #options: AgentCallsOptions;
  readonly #renderers = new Map<string, PromptRenderer>();
  /** Rendered prompts without an answer so far. */
  readonly #prompts = new Map<string, Prompt>();
  readonly #splitDropped = new Set<string>();
  readonly #files = new UnshownFiles();
  readonly #rejected = new LatestPlace();
  #open: OpenAnswer | null = null;
  #latest: LatestCall | null = null;

  constructor(options: AgentCallsOptions) {
    this.#options = options;
    const { agentId, records, counters, measure, branches } = options;
    const takenBack = branches?.takenBackOf(agentId) ?? new Set<string>();
    for (const recipe of [fullRecipe, ...records.recipesOf(agentId)]) {
      const counter = recipe.counter === null ? undefined : counters.get(recipe.counter);
      if (recipe.counter !== null && counter === undefined) continue;
      this.#renderers.set(recipe.key, new PromptRenderer(recipe, counter, measure, takenBack));
    }
    this.#renderDue(null);
  }

  /** Takes the agent's next event. `setting` is called when an answer begins. */
  add(event: CapturedEvent, setting: () => CallSetting): CallOrDropped[] {
    const { branches } = this.#options;
    const reason = branches?.reasonToDrop(event) ?? null;
    const dropped = reason === null ? [] : [...this.#end({ isLast: false }), this.#drop(event.id, reason)];
    if (branches?.leavesOut(event) === true) {
      this.#renderDue(event.id);
      return dropped;
    }
    const isTrained = isAnswerBlock(event) && branches?.isDropped(event) !== true;
    const calls = isTrained ? this.#addBlock(event, setting) : dropped;
    if (isEventOf(event, 'agent:tool_result')) this.#hearResult(event);
    this.#files.add(event);
    const isRejected = event.type === 'agent:rejected';
    this.#rejected.add(event, isRejected || event.data.withheld === true);
    if (isRejected) calls.push(...this.#end({ isLast: false }), this.#drop(event.id, 'rejected'));
    for (const renderer of this.#renderers.values()) renderer.observe(event);
    this.#renderDue(event.id);
    return calls;
  }

  /** The log is over. */
  finish(): CallOrDropped[] {
    return this.#end({ isLast: true });
  }

  #end({ isLast }: { readonly isLast: boolean }): CallOrDropped[] {
    const open = this.#open;
    this.#open = null;
    return open === null ? [] : [this.#close(open, isLast)];
  }

  #hearResult({ messageId, data }: EventOf<'agent:tool_result'>): void {
    this.#open?.gathered.hearResult(data.toolCallId, messageId === this.#open.messageId);
  }

  #addBlock(event: CapturedEvent, setting: () => CallSetting): CallOrDropped[] {
    const { agentId, records } = this.#options;
    const { id, messageId = id } = event;
    if (records.isSplit(agentId, messageId)) return this.#dropSplit(messageId, id);
    const open = this.#open;
    const isSame = open?.messageId === messageId && !open.gathered.isOver;
    const calls = isSame ? [] : this.#end({ isLast: false });
    this.#open ??= this.#begin(messageId, id, setting());
    this.#open.gathered.add(event);
    return calls;
  }

  #begin(messageId: string, eventId: string, setting: CallSetting): OpenAnswer {
    const { agentId, records } = this.#options;
    const prompt = this.#promptOf(messageId);
    // A recorded prompt is what the model was given, with or without the files.
    const isRecorded = records.of(agentId, messageId).prompt !== null;
    const hasUnshownFile = !isRecorded && this.#files.isAny;
    this.#files.answer();
    const hasRejected = this.#rejected.place !== null;
    return {
      messageId,
      eventId,
      setting,
      prompt,
      gathered: new GatheredAnswer(),
      hasUnshownFile,
      hasRejected,
    };
  }

  #dropSplit(messageId: string, eventId: string): CallOrDropped[] {
    if (this.#splitDropped.has(messageId)) return [];
    this.#splitDropped.add(messageId);
    return [...this.#end({ isLast: false }), this.#drop(eventId, 'split_answer')];
  }

  #renderDue(through: string | null): void {
    const { agentId, records } = this.#options;
    for (const recorded of records.due(agentId, through)) {
      const prompt = this.#render(recorded);
      if (prompt !== null) this.#prompts.set(recorded.messageId, prompt);
    }
  }

  #render({ recipe, hash }: RecordedPrompt): Prompt | null {
    const prompt = this.#renderers.get(recipe.key)?.render() ?? null;
    return prompt?.context.manifest.hash === hash ? prompt : null;
  }

  #promptOf(messageId: string): Prompt | null {
    const { agentId, records } = this.#options;
    if (records.of(agentId, messageId).prompt === null)
      return this.#renderers.get(fullRecipe.key)?.render() ?? null;
    const prompt = this.#prompts.get(messageId) ?? null;
    this.#prompts.delete(messageId);
    return prompt;
  }

  #close(open: OpenAnswer, isLast: boolean): CallOrDropped {
    const { dispatchId, agentId, records } = this.#options;
    const { eventId, messageId, prompt, setting } = open;
    const { answer } = open.gathered;
    const before = this.#latest;
    if (this.#options.copied?.has(eventId) === true) return this.#drop(eventId, 'copied');
    if (prompt === null) return this.#drop(eventId, 'not_reproducible');
    const reason = reasonToDrop(prompt, open, isLast, this.#options);
    if (reason !== null) return this.#drop(eventId, reason);
    const { renderer, number, length } = prompt;
    const { model, prompt: recorded, tools } = records.of(agentId, messageId);
    this.#latest = { renderer, number, length, answer, tools };
    return {
      kind: 'call',
      call: {
        dispatchId,
        agentId,
        ...setting,
        model,
        eventId,
        prompt,
        answer,
        isRecorded: recorded !== null,
        isShortened: isShortened(prompt),
        tools,
        // The tools of a row are those of all its calls.
        continues: before !== null && isSame(before.tools, tools) && continuesCall(before, prompt),
      },
    };
  }

  #drop(eventId: string, reason: DropReason): CallOrDropped {
    this.#latest = null;
    const { dispatchId } = this.#options;
    return { kind: 'dropped', dropped: { dispatchId, eventId, reason } };
  }
}

/** Null: the call can be trained. `isLast`: the agent has no later call, whose prompt shows what happened to the tool calls of this one. */
function reasonToDrop(
  prompt: Prompt,
  { gathered, hasUnshownFile, hasRejected }: OpenAnswer,
  isLast: boolean,
  options: Pick<RowOptions, 'split'>,
): DropReason | null {
  const { text, toolCalls } = gathered.answer;
  if (prompt.length === 0) return 'empty_prompt';
  if (wordsAndThoughts(text, null, options).text === '' && toolCalls.length === 0) return 'empty_answer';
  if (!gathered.isOwn) return 'not_own_text';
  if (hasRejected) return 'rejected';
  if (hasUnshownFile) return 'unshown_file';
  if (prompt.holds('encodedBytes') || holdsEncodedBytes(text)) return 'encoded_bytes';
  return isLast && gathered.isDangling ? 'dangling_call' : null;
}

/** Whether a prompt begins with the prompt and the answer of the previous call. */
function continuesCall(before: LatestCall, { renderer, number, context }: Prompt): boolean {
  return (
    renderer === before.renderer &&
    number === before.number + 1 &&
    context.manifest.prefix.messages === before.length &&
    isAnswer(context.added[0], before.answer)
  );
}

function isSame(one: CallFacts['tools'], other: CallFacts['tools']): boolean {
  return one.basis === other.basis && one.id === other.id;
}

function isAnswer(message: ContextMessage | undefined, { text, toolCalls }: TrainedAnswer): boolean {
  return (
    message?.role === 'assistant' &&
    message.text === text &&
    JSON.stringify(message.toolCalls) === JSON.stringify(toolCalls)
  );
}

/** Finds out whether a prompt that is rendered without a record leaves out an image or another file that the model was given. */
class UnshownFiles {
  readonly #latest = new LatestPlace();
  #isObserved = false;

  get isAny(): boolean {
    return this.#latest.place !== null || this.#isObserved;
  }

  /** Takes the agent's next event. */
  add(event: CapturedEvent): void {
    if (isEventOf(event, 'agent:output'))
      this.#isObserved ||= event.data.parts.some(({ kind }) => kind === 'image');
    const isFile =
      unshownTypes.has(event.type) ||
      (isEventOf(event, 'user:message') && (event.data.parts ?? []).some(isOutsidePrompt)) ||
      (isEventOf(event, 'agent:tool_result') && holdsFile(event.data.output));
    this.#latest.add(event, isFile);
  }

  /** The agent answers: later prompts do not have the output that it observed before. */
  answer(): void {
    this.#isObserved = false;
  }
}

/** Where in the events of an agent something was that prompts have until a compaction replaces it. */
class LatestPlace {
  readonly #places = new Map<string, number>();
  #latest: number | null = null;

  /** Null: nowhere, or a compaction replaced it. */
  get place(): number | null {
    return this.#latest;
  }

  /** Takes the agent's next event. */
  add(event: CapturedEvent, isThere: boolean): void {
    const place = this.#places.size;
    if (!this.#places.has(event.id)) this.#places.set(event.id, place);
    if (isEventOf(event, 'session:compaction')) this.#compact(event.data);
    else if (isThere) this.#latest = place;
  }

  #compact({ summary, keptFrom }: { summary?: string | undefined; keptFrom?: string | undefined }): void {
    if (summary === undefined || this.#latest === null) return;
    const kept = keptFrom === undefined ? undefined : this.#places.get(keptFrom);
    if (kept === undefined || this.#latest < kept) this.#latest = null;
  }
}

/** Whether a result has a file as a block, with its bytes or by reference. */
function holdsFile(output: JsonValue | undefined): boolean {
  const left: (JsonValue | undefined)[] = [output];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && (bytesField(value) !== null || isReference(value) || isOutsidePrompt(value)))
      return true;
    left.push(...Object.values(value));
  }
  return false;
}

/** Whether a part has no digest of stored bytes, so that a prompt from the log does not have it. */
function isOutsidePrompt(part: unknown): boolean {
  return isMediaPart(part) && (part.sha256 === undefined || part.isKept === false);
}

function isReference({ type, source }: { readonly [key: string]: JsonValue | undefined }): boolean {
  if (type !== 'image' && type !== 'document') return false;
  if (typeof source !== 'object' || source === null || Array.isArray(source)) return false;
  return source.type === 'url' || source.type === 'file';
}

/** The current branches of the agents of a dispatch: what may be trained. */
export class TrainedBranches {
  readonly #tree: TranscriptTree<string>;
  readonly #dropped = new Set<string>();
  readonly #inheriting = new Set<string>();
  readonly #paths = new Map<string, TranscriptPath<string>>();

  private constructor(tree: TranscriptTree<string>) {
    this.#tree = tree;
  }

  /** Null: no event of the log begins a branch. */
  static async read(events: AsyncIterable<CapturedEvent>, count: number): Promise<TrainedBranches | null> {
    const tree = new TranscriptTree<string>();
    const branches = new TrainedBranches(tree);
    let read = 0;
    let isStraight = true;
    for await (const event of events) {
      if (read === count) break;
      read += 1;
      tree.add(event, event.id);
      isStraight &&= isStraightEvent(event);
      if (event.type === 'agent:created' && event.data.inherits !== undefined)
        branches.#inheriting.add(event.agentId ?? '');
    }
    return isStraight ? null : branches;
  }

  takenBackOf(agentId: string): ReadonlySet<string> {
    return this.#pathOf(agentId).takenBack;
  }

  /** Whether no prompt and no answer of a row may have an event. */
  leavesOut({ id }: CapturedEvent): boolean {
    return this.#tree.isRetracted(id) || !this.#tree.isCurrent(id);
  }

  /** Why the answer that an event is a block of is not trained; null: it can be, or its reason was given before. */
  reasonToDrop(event: CapturedEvent): DropReason | null {
    const { id, agentId = '', messageId = id } = event;
    const key = `${agentId} ${messageId}`;
    if (!isAnswerBlock(event) || this.#dropped.has(key)) return null;
    const reason = this.#reasonOf(id, agentId, messageId);
    if (reason !== null) this.#dropped.add(key);
    return reason;
  }

  /** Whether an answer was dropped. Its blocks are still part of later prompts. */
  isDropped({ id, agentId = '', messageId = id }: CapturedEvent): boolean {
    return this.#dropped.has(`${agentId} ${messageId}`);
  }

  /** The tree is whole: the current path of an agent no longer changes. */
  #pathOf(agentId: string): TranscriptPath<string> {
    const path = this.#paths.get(agentId) ?? this.#tree.currentPath(agentId);
    this.#paths.set(agentId, path);
    return path;
  }

  #reasonOf(id: string, agentId: string, messageId: string): DropReason | null {
    const tree = this.#tree;
    if (tree.isRetracted(id)) return 'retracted';
    const path = this.#pathOf(agentId);
    const standing = tree.standing(id);
    if (standing === 'parallel') return 'parallel';
    if (standing !== 'current' || path.cut.has(messageId)) return 'abandoned';
    // The rows of one agent have no events of another.
    if (this.#inheriting.has(agentId)) return 'not_reproducible';
    if (tree.retractions.length === 0) return null;
    const given = tree.pathBefore(id)?.values ?? [];
    return given.some((one) => tree.isRetracted(one)) ? 'retracted' : null;
  }
}
