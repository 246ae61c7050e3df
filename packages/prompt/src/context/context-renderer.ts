import type { CapturedEvent } from '@hansard/events';
import { isStraightEvent, type TranscriptPath, TranscriptTree } from '../tree/transcript-tree.ts';
import {
  type ContextManifest,
  type ContextPart,
  contextErrors,
  contextRendererVersion,
} from './context-manifest.ts';
import {
  type ContextPolicy,
  checkContextPolicy,
  type FadedPolicy,
  type LastMessagesPolicy,
  type TokenCounter,
} from './context-policy.ts';
import { GivenOrder } from './given-order.ts';
import { ContextHistory, type ReadEvent, readEvent } from './history/context-history.ts';
import { ContextItem } from './history/context-item.ts';
import { ContextZones } from './history/context-zones.ts';
import type { Detail } from './history/detail.ts';
import {
  type CountedMessage,
  MessageList,
  type RenderedContext,
  renderedContext,
} from './shared-messages.ts';

/** The share of each zone in the tokens of the groups that can fade. */
const shares = { high: 0.5, medium: 0.25, low: 0.25 } as const;

const fadingZones = ['high', 'medium', 'low'] as const;

export interface ContextOptions {
  /** Absent: `{ name: 'full' }`. */
  readonly policy?: ContextPolicy;
  /** Counts tokens; required for `faded`. Absent: manifests have no tokens. */
  readonly tokens?: TokenCounter;
}

const nothing: ReadonlySet<string> = new Set();

/**
 * Takes the events of one branch of an agent as they happen, and renders the prompt of its model at any moment. After a rewind the prompt is another
 * one: `createBranchRenderer` begins with a path of a `TranscriptTree`.
 */
export interface ContextRenderer {
  /**
   * Takes the next event of the agent. Events that are not part of a prompt are ignored. The cost does not depend on the
   * number of earlier events.
   *
   * @throws EVENT_INVALID if the event is part of a prompt and its data has a shape that this version does not know
   */
  observe(event: CapturedEvent): void;
  /** Takes an event of the agent that is not on the branch. Prompts go through it, and do not have it. */
  skip(event: CapturedEvent): void;
  /**
   * The prompt after the events so far. Only the messages that changed since the previous call are rendered, and none is
   * copied. The same events give the same bytes, however often `render` was called in between. One exception: do not render
   * again between a call and its answer, because the messages that were rendered stay before that answer.
   *
   * @throws CONTEXT_BUDGET_TOO_SMALL if the system prompts and the newest message exceed the budget of `faded`
   */
  render(): RenderedContext;
}

/** @throws TypeError for an invalid policy, or for `faded` without a token counter */
export function createContextRenderer(options: ContextOptions = {}): ContextRenderer {
  return new IncrementalRenderer(options, nothing);
}

/**
 * A renderer that has the path of a branch. Calls that a rewind took back have that as their result. An answer that the path has only a part of is
 * given to no provider as its own: it has no `replay`. `numberOf`: as `TranscriptTree.numberOf`, for a path on which a model call was given everything through an
 * event that the path does not have.
 *
 * @throws as `createContextRenderer`, and as `observe`
 */
export function createBranchRenderer(
  { values, takenBack, cut }: TranscriptPath<CapturedEvent>,
  options: ContextOptions = {},
  numberOf?: (id: string) => number | null,
): ContextRenderer {
  const renderer = new IncrementalRenderer(options, takenBack, numberOf);
  for (const event of values) {
    const isCut = event.type === 'agent:inference' && cut.has(event.messageId ?? '');
    renderer.observe(isCut ? withoutReplay(event) : event);
  }
  return renderer;
}

function withoutReplay(event: CapturedEvent): CapturedEvent {
  const { replay: _, ...data } = event.data;
  return { ...event, data };
}

class IncrementalRenderer implements ContextRenderer {
  readonly #policy: ContextPolicy;
  readonly #counter: TokenCounter | undefined;
  readonly #count: (text: string) => number;
  readonly #history: ContextHistory;
  readonly #zones: ContextZones;
  readonly #list = new MessageList();
  readonly #hidesEarlierOutput: boolean;
  /** The tokens of the longest note, used for every note, so that the count does not depend on the number in it. */
  readonly #longestNote: number;
  #note: { readonly messages: number; readonly item: ContextItem } | null = null;
  /** The index in the list of the first message of each group from `start` on. */
  #offsets: number[] = [];
  #start = 0;
  readonly #order: GivenOrder<ReadEvent>;
  #through: string | null = null;

  constructor(
    { policy = { name: 'full' }, tokens: counter }: ContextOptions,
    takenBack: ReadonlySet<string>,
    numberOf?: (id: string) => number | null,
  ) {
    this.#order = new GivenOrder(numberOf);
    checkContextPolicy(policy);
    if (policy.name === 'faded' && counter === undefined)
      throw new TypeError(
        'Faded memory has a budget of tokens, so it needs a counter: createTokenCounter of @hansard/prompt/tokens.',
      );
    this.#policy = policy;
    this.#counter = counter;
    this.#count = (text) => counter?.count(text) ?? 0;
    this.#history = new ContextHistory(this.#count, policy.images, takenBack);
    this.#zones = new ContextZones(this.#history.groups);
    this.#hidesEarlierOutput =
      (policy.earlierOutput ?? (policy.name === 'faded' ? 'kept' : 'omitted')) === 'omitted';
    this.#longestNote = omissionNote(999_999_999, '', this.#count).tokensAt('high');
  }

  observe(event: CapturedEvent): void {
    const read = readEvent(event);
    this.#through = event.id;
    for (const one of read) for (const settled of this.#order.add(one)) this.#take(settled);
  }

  skip(event: CapturedEvent): void {
    this.#through = event.id;
    this.#order.skip(event);
  }

  render(): RenderedContext {
    for (const given of this.#order.takeAll()) this.#take(given);
    this.#assertFits();
    return renderedContext(this.#manifestOf(this.#refresh()), this.#list.snapshot);
  }

  #fixed(): FixedTokens {
    return { summary: this.#history.summary?.tokensAt('high') ?? 0, note: this.#longestNote };
  }

  *#opening(): Generator<CountedMessage> {
    for (const index of this.#zones.systemPrompts)
      if (index < this.#zones.start) yield* this.#messagesOf(index);
    if (this.#history.summary !== null) yield counted(this.#history.summary, 'high');
    const omitted = this.#zones.messages('omitted');
    if (omitted === 0) return;
    if (this.#note?.messages !== omitted)
      this.#note = { messages: omitted, item: omissionNote(omitted, `omitted-${omitted}`, this.#count) };
    yield { message: this.#note.item.messageAt('high'), tokens: this.#longestNote };
  }

  *#messagesOf(index: number): Generator<CountedMessage> {
    const group = this.#history.groups[index];
    if (group === undefined || this.#zones.isHidden(index)) return;
    const detail = this.#zones.detailOf(index);
    for (const item of group.items)
      yield counted(item, this.#zones.isSqueezed(index) && item !== group.newest ? 'low' : detail);
  }

  /** Renders the list again from the first changed group on. Returns the number of messages that are unchanged. */
  #refresh(): number {
    const changedFrom = this.#zones.takeChangedFrom();
    if (changedFrom === Number.POSITIVE_INFINITY) return this.#list.length;
    const isOpeningNew = this.#zones.start !== this.#start || changedFrom < this.#start;
    const from = isOpeningNew ? this.#zones.start : changedFrom;
    this.#start = this.#zones.start;
    if (isOpeningNew) this.#offsets = [];
    const offset = isOpeningNew ? 0 : (this.#offsets[from - this.#start] ?? this.#list.length);
    this.#offsets.length = Math.min(this.#offsets.length, from - this.#start);
    return this.#list.replaceFrom(offset, this.#changedMessages(from, isOpeningNew, offset));
  }

  *#changedMessages(from: number, withOpening: boolean, offset: number): Generator<CountedMessage> {
    let at = offset;
    if (withOpening)
      for (const message of this.#opening()) {
        yield message;
        at += 1;
      }
    for (let index = from; index < this.#history.groups.length; index += 1) {
      this.#offsets.push(at);
      for (const message of this.#messagesOf(index)) {
        yield message;
        at += 1;
      }
    }
  }

  #assertFits(): void {
    if (this.#policy.name !== 'faded' || tokensIn(this.#zones, this.#fixed()) <= limitOf(this.#policy))
      return;
    const { budget, reserve = 0 } = this.#policy;
    const needed = tokensIn(this.#zones, this.#fixed());
    const newest = this.#history.groups[this.#zones.newest]?.newest.tokensAt('high') ?? 0;
    const rest = needed - this.#zones.systemTokens - newest;
    const beside = rest === 0 ? '' : ` and ${rest} for other messages that can't be left out`;
    throw contextErrors.error(
      'CONTEXT_BUDGET_TOO_SMALL',
      `The budget of ${budget} tokens${reserve === 0 ? '' : `, ${reserve} of them reserved,`} is too small: ${needed} are needed, ${this.#zones.systemTokens} for system prompts, ${newest} for the newest message${beside}. Raise it to ${needed + reserve} or more.`,
      { details: { budget, reserve, needed, systemPrompts: this.#zones.systemTokens, newest } },
    );
  }

  #manifestOf(kept: number): ContextManifest {
    const { length } = this.#list;
    const prompt = this.#list.tokensOf(length);
    const isCounted = this.#counter !== undefined;
    const part = isCounted ? this.#list.tokensOf(kept) : kept;
    const whole = isCounted ? prompt : length;
    return {
      rendererVersion: contextRendererVersion,
      policy: this.#policy,
      through: this.#through,
      messages: length,
      tokens: isCounted ? { counter: this.#counter.id, prompt } : null,
      parts: partsOf(this.#history, this.#zones, isCounted),
      omitted: {
        ...notZero('old', this.#zones.messages('omitted')),
        ...notZero('supersededOutput', this.#zones.hiddenMessages),
        ...notZero('compacted', this.#zones.messages('compacted')),
      },
      prefix: {
        messages: kept,
        ...(isCounted ? { tokens: part } : {}),
        share: whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000,
        hash: this.#list.hashOf(kept),
      },
      hash: this.#list.hashOf(length),
    };
  }

  #take(read: ReadEvent): void {
    const { group, superseded, isCompacted } = this.#history.take(read);
    if (group !== null) this.#zones.update(group);
    if (this.#hidesEarlierOutput) for (const index of superseded) this.#zones.hide(index);
    if (isCompacted) this.#zones.compact(this.#history.compactedUpTo);
    if (group !== null || isCompacted) fitContext(this.#zones, this.#policy, this.#fixed());
  }
}

function counted(item: ContextItem, detail: 'high' | 'medium' | 'low'): CountedMessage {
  return { message: item.messageAt(detail), tokens: item.tokensAt(detail) };
}

function omissionNote(messages: number, id: string, count: (text: string) => number): ContextItem {
  const note = new ContextItem({ role: 'user', substance: 'talk' }, id, count);
  note.addText(`[${messages} earlier messages are not shown.]`);
  return note;
}

function notZero<Key extends string>(key: Key, value: number): { readonly [key in Key]?: number } {
  return value === 0 ? {} : ({ [key]: value } as { readonly [key in Key]: number });
}

/** The tokens of the messages that are not in a group. */
interface FixedTokens {
  readonly summary: number;
  /** Of the note with the number of messages that are not shown. */
  readonly note: number;
}

/** Moves groups to lower zones until the policy holds. The result depends on the events only, never on when a prompt was rendered. */
function fitContext(zones: ContextZones, policy: ContextPolicy, fixed: FixedTokens): void {
  if (policy.name === 'lastMessages') dropOldest(zones, policy);
  if (policy.name === 'faded') fade(zones, policy, fixed);
}

/** The tokens of the prompt. At most `limitOf` the policy, if it fits. */
function tokensIn(zones: ContextZones, { summary, note }: FixedTokens): number {
  const shown = zones.tokens('high') + zones.tokens('medium') + zones.tokens('low');
  return zones.systemTokens + summary + shown + (zones.messages('omitted') > 0 ? note : 0);
}

function limitOf({ budget, reserve = 0 }: FadedPolicy): number {
  return budget - reserve;
}

function dropOldest(zones: ContextZones, { count, step = 1 }: LastMessagesPolicy): void {
  if (zones.messages('high') <= count) return;
  while (zones.messages('high') > count - step + 1 && zones.lower('high')) {
    zones.lower('medium');
    zones.lower('low');
  }
}

function fade(zones: ContextZones, policy: FadedPolicy, fixed: FixedTokens): void {
  const limit = limitOf(policy);
  zones.squeeze(false);
  if (tokensIn(zones, fixed) <= limit) return;
  const { newestTokens } = zones;
  const unfaded = zones.systemTokens + fixed.summary + fixed.note + newestTokens;
  const target = Math.max(0, limit - unfaded) * (1 - (policy.step ?? 0.25));
  while (fadedTokens(zones, newestTokens) > target && lowerFullest(zones, newestTokens));
  if (tokensIn(zones, fixed) > limit) zones.squeeze(true);
}

function fadedTokens(zones: ContextZones, newestTokens: number): number {
  return zones.tokens('high') + zones.tokens('medium') + zones.tokens('low') - newestTokens;
}

/** Fades the oldest group of the zone that exceeds its share most. False: no group can fade further. */
function lowerFullest(zones: ContextZones, newestTokens: number): boolean {
  const byFullness = fadingZones
    .map((zone) => ({
      zone,
      fullness: (zones.tokens(zone) - (zone === 'high' ? newestTokens : 0)) / shares[zone],
    }))
    .sort((one, other) => other.fullness - one.fullness);
  return byFullness.some(({ zone }) => zones.lower(zone));
}

interface Run {
  readonly kind: ContextPart['kind'];
  readonly detail: Detail;
  readonly messages: number;
  readonly tokens: number;
  readonly first: ContextItem | undefined;
  readonly last: ContextItem | undefined;
}

/** The parts of a manifest, from the sums of the zones: does not iterate over the messages. */
function partsOf(history: ContextHistory, zones: ContextZones, isCounted: boolean): ContextPart[] {
  return [systemPrompts(history, zones), summary(history), ...shownZones(history, zones)].flatMap((run) => {
    const { first, last, messages, tokens, kind, detail } = run;
    if (messages === 0 || first === undefined || last === undefined) return [];
    const counted = isCounted ? { tokens } : {};
    return [{ kind, detail, messages, ...counted, first: first.first, last: last.first }];
  });
}

function systemPrompts({ groups }: ContextHistory, { systemPrompts: indexes, systemTokens }: ContextZones) {
  return {
    kind: 'systemPrompts',
    detail: 'high',
    messages: indexes.length,
    tokens: systemTokens,
    first: groups[indexes[0] ?? -1]?.items[0],
    last: groups[indexes.at(-1) ?? -1]?.items[0],
  } satisfies Run;
}

function summary({ summary: item }: ContextHistory): Run {
  const isThere = item !== null;
  return {
    kind: 'summary',
    detail: 'high',
    messages: isThere ? 1 : 0,
    tokens: item?.tokensAt('high') ?? 0,
    first: item ?? undefined,
    last: item ?? undefined,
  };
}

function shownZones({ groups }: ContextHistory, zones: ContextZones): Run[] {
  const runs = (['low', 'medium', 'high'] as const).map((zone): Run => {
    const [from, to] = zones.rangeOf(zone);
    return {
      kind: 'messages',
      detail: zone,
      messages: zones.messages(zone),
      tokens: zones.tokens(zone),
      first: groups[from]?.items[0],
      last: groups[to - 1]?.items.at(-1),
    };
  });
  const newest = groups[zones.newest];
  const high = runs.pop();
  if (newest === undefined || high === undefined) return runs;
  if (!zones.isSqueezed(zones.newest)) return [...runs, high];
  const { items, squeezedTokens, newest: item } = newest;
  const tokens = item.tokensAt('high');
  const whole: Run = { ...high, messages: 1, tokens, first: item, last: item };
  const rest = { messages: items.length - 1, tokens: squeezedTokens - tokens };
  return [...runs, { ...high, ...rest, detail: 'low', first: items[0], last: items.at(-1) }, whole];
}

/**
 * The prompt of an agent's model after these events of the agent, given in the order of the log: its current branch. What it inherits from another
 * agent is not among them.
 *
 * @throws as `createContextRenderer`, and as `observe` and `render` of a `ContextRenderer`
 */
export function renderContext(
  events: Iterable<CapturedEvent>,
  options: ContextOptions = {},
): RenderedContext {
  const all = [...events];
  if (all.every(isStraightEvent)) {
    const renderer = createContextRenderer(options);
    for (const event of all) renderer.observe(event);
    return renderer.render();
  }
  const tree = new TranscriptTree<CapturedEvent>(() => '');
  for (const event of all) tree.add(event, event);
  return createBranchRenderer(tree.currentPath(''), options, (id) => tree.numberOf(id)).render();
}
