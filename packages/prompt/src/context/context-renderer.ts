import type { CapturedEvent } from '@hansard/events';
import { contextErrors } from './context-errors.ts';
import { type ContextManifest, contextRendererVersion } from './context-manifest.ts';
import { partsOf } from './context-parts.ts';
import { type ContextPolicy, checkContextPolicy } from './context-policy.ts';
import { type FixedTokens, fitContext, limitOf, tokensIn } from './fit-context.ts';
import { GivenOrder } from './given-order.ts';
import { ContextHistory, type ReadEvent, readEvent } from './history/context-history.ts';
import { ContextItem } from './history/context-item.ts';
import { ContextZones } from './history/context-zones.ts';
import { type CountedMessage, MessageList } from './message-list.ts';
import { type RenderedContext, renderedContext } from './rendered-context.ts';
import type { TokenCounter } from './token-counter.ts';

export interface ContextOptions {
  /** Absent: `{ name: 'full' }`. */
  readonly policy?: ContextPolicy;
  /** Counts tokens; required for `faded`. Absent: manifests have no tokens. */
  readonly tokens?: TokenCounter;
}

/** Takes the events of one agent as they happen, and renders the prompt of its model at any moment. */
export interface ContextRenderer {
  /**
   * Takes the next event of the agent. Events that are not part of a prompt are ignored. The cost does not depend on the
   * number of earlier events.
   *
   * @throws EVENT_INVALID if the event is part of a prompt and its data has a shape that this version does not know
   */
  observe(event: CapturedEvent): void;
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
export function createContextRenderer({
  policy = { name: 'full' },
  tokens: counter,
}: ContextOptions = {}): ContextRenderer {
  checkContextPolicy(policy);
  if (policy.name === 'faded' && counter === undefined)
    throw new TypeError(
      'Faded memory has a budget of tokens, so it needs a counter: createTokenCounter of @hansard/prompt/tokens.',
    );
  const count = (text: string): number => counter?.count(text) ?? 0;
  const history = new ContextHistory(count, policy.images === 'sent');
  const zones = new ContextZones(history.groups);
  const list = new MessageList();
  const hidesEarlierOutput =
    (policy.earlierOutput ?? (policy.name === 'faded' ? 'kept' : 'omitted')) === 'omitted';
  /** The tokens of the longest note, used for every note, so that the count does not depend on the number in it. */
  const longestNote = omissionNote(999_999_999, '', count).tokensAt('high');
  let note: { readonly messages: number; readonly item: ContextItem } | null = null;
  /** The index in the list of the first message of each group from `start` on. */
  let offsets: number[] = [];
  let start = 0;
  const order = new GivenOrder<ReadEvent>();
  let through: string | null = null;

  const fixed = (): FixedTokens => ({ summary: history.summary?.tokensAt('high') ?? 0, note: longestNote });

  function* opening(): Generator<CountedMessage> {
    for (const index of zones.systemPrompts) if (index < zones.start) yield* messagesOf(index);
    if (history.summary !== null) yield counted(history.summary, 'high');
    const omitted = zones.messages('omitted');
    if (omitted === 0) return;
    if (note?.messages !== omitted)
      note = { messages: omitted, item: omissionNote(omitted, `omitted-${omitted}`, count) };
    yield { message: note.item.messageAt('high'), tokens: longestNote };
  }

  function* messagesOf(index: number): Generator<CountedMessage> {
    const group = history.groups[index];
    if (group === undefined || zones.isHidden(index)) return;
    const detail = zones.detailOf(index);
    for (const item of group.items)
      yield counted(item, zones.isSqueezed(index) && item !== group.newest ? 'low' : detail);
  }

  /** Renders the list again from the first changed group on. Returns the number of messages that are unchanged. */
  function refresh(): number {
    const changedFrom = zones.takeChangedFrom();
    if (changedFrom === Number.POSITIVE_INFINITY) return list.length;
    const isOpeningNew = zones.start !== start || changedFrom < start;
    const from = isOpeningNew ? zones.start : changedFrom;
    start = zones.start;
    if (isOpeningNew) offsets = [];
    const offset = isOpeningNew ? 0 : (offsets[from - start] ?? list.length);
    offsets.length = Math.min(offsets.length, from - start);
    return list.replaceFrom(offset, changedMessages(from, isOpeningNew, offset));
  }

  function* changedMessages(from: number, withOpening: boolean, offset: number): Generator<CountedMessage> {
    let at = offset;
    if (withOpening)
      for (const message of opening()) {
        yield message;
        at += 1;
      }
    for (let index = from; index < history.groups.length; index += 1) {
      offsets.push(at);
      for (const message of messagesOf(index)) {
        yield message;
        at += 1;
      }
    }
  }

  function assertFits(): void {
    if (policy.name !== 'faded' || tokensIn(zones, fixed()) <= limitOf(policy)) return;
    const { budget, reserve = 0 } = policy;
    const needed = tokensIn(zones, fixed());
    const newest = history.groups[zones.newest]?.newest.tokensAt('high') ?? 0;
    const rest = needed - zones.systemTokens - newest;
    const beside = rest === 0 ? '' : ` and ${rest} for other messages that can't be left out`;
    throw contextErrors.error(
      'CONTEXT_BUDGET_TOO_SMALL',
      `The budget of ${budget} tokens${reserve === 0 ? '' : `, ${reserve} of them reserved,`} is too small: ${needed} are needed, ${zones.systemTokens} for system prompts, ${newest} for the newest message${beside}. Raise it to ${needed + reserve} or more.`,
      { details: { budget, reserve, needed, systemPrompts: zones.systemTokens, newest } },
    );
  }

  function manifestOf(kept: number): ContextManifest {
    const { length } = list;
    const prompt = list.tokensOf(length);
    const isCounted = counter !== undefined;
    const part = isCounted ? list.tokensOf(kept) : kept;
    const whole = isCounted ? prompt : length;
    return {
      rendererVersion: contextRendererVersion,
      policy,
      through,
      messages: length,
      tokens: isCounted ? { counter: counter.id, prompt } : null,
      parts: partsOf(history, zones, isCounted),
      omitted: {
        ...notZero('old', zones.messages('omitted')),
        ...notZero('supersededOutput', zones.hiddenMessages),
        ...notZero('compacted', zones.messages('compacted')),
      },
      prefix: {
        messages: kept,
        ...(isCounted ? { tokens: part } : {}),
        share: whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000,
        hash: list.hashOf(kept),
      },
      hash: list.hashOf(length),
    };
  }

  function take(read: ReadEvent): void {
    const { group, superseded, isCompacted } = history.take(read);
    if (group !== null) zones.update(group);
    if (hidesEarlierOutput) for (const index of superseded) zones.hide(index);
    if (isCompacted) zones.compact(history.compactedUpTo);
    if (group !== null || isCompacted) fitContext(zones, policy, fixed());
  }

  return {
    observe(event) {
      const read = readEvent(event);
      through = event.id;
      for (const settled of order.add(read)) take(settled);
    },
    render() {
      for (const given of order.takeAll()) take(given);
      assertFits();
      return renderedContext(manifestOf(refresh()), list.snapshot);
    },
  };
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
