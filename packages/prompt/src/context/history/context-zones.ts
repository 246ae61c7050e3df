import type { ContextItem } from './context-item.ts';
import type { Detail } from './detail.ts';

/** From the oldest to the newest. Each group is in one zone, and moves only to older zones. */
const zones = ['compacted', 'omitted', 'low', 'medium', 'high'] as const;

export type Zone = (typeof zones)[number];

interface Figures {
  tokens: number;
  messages: number;
}

/**
 * The zone of each group, which decides its detail. A zone is a range of consecutive groups: only its end and its sums are
 * stored, so an event or a move does not iterate over the groups. System prompts are shown in every zone and have their own
 * sum. Hidden output is not in the sums.
 */
export class ContextZones {
  readonly #groups: readonly ContextGroup[];
  /** The first group after each zone except the last. */
  readonly #ends: [number, number, number, number] = [0, 0, 0, 0];
  readonly #sums: readonly Figures[] = zones.map(() => ({ tokens: 0, messages: 0 }));
  /** The share of each group in the sums of its zone. */
  readonly #parts: Figures[] = [];
  readonly #systemPrompts: number[] = [];
  readonly #hidden = new Set<number>();
  #systemTokens = 0;
  /** The newest group if it is squeezed, otherwise -1. */
  #squeezed = -1;
  #changedFrom = Number.POSITIVE_INFINITY;

  constructor(groups: readonly ContextGroup[]) {
    this.#groups = groups;
  }

  /** The positions of the system prompts among the groups. */
  get systemPrompts(): readonly number[] {
    return this.#systemPrompts;
  }

  get systemTokens(): number {
    return this.#systemTokens;
  }

  get hiddenMessages(): number {
    return this.#hidden.size;
  }

  get newest(): number {
    return this.#groups.length - 1;
  }

  /** The tokens of the newest group in the sum of its zone. */
  get newestTokens(): number {
    return this.#parts[this.newest]?.tokens ?? 0;
  }

  /** The first group that is shown. */
  get start(): number {
    return this.#ends[1];
  }

  tokens(zone: Zone): number {
    return this.#sumOf(zones.indexOf(zone)).tokens;
  }

  messages(zone: Zone): number {
    return this.#sumOf(zones.indexOf(zone)).messages;
  }

  /** The groups of a zone: the index of the first, and the index after the last. */
  rangeOf(zone: Zone): readonly [from: number, to: number] {
    const index = zones.indexOf(zone);
    return [this.#ends[index - 1] ?? 0, this.#ends[index] ?? this.#groups.length];
  }

  isHidden(index: number): boolean {
    return this.#hidden.has(index);
  }

  isSqueezed(index: number): boolean {
    return this.#squeezed === index;
  }

  detailOf(index: number): Detail {
    if (index >= this.#ends[3] || this.#groups[index]?.kind === 'systemPrompt') return 'high';
    return index >= this.#ends[2] ? 'medium' : 'low';
  }

  /** The first group that is shown differently since the previous call; Infinity: none. */
  takeChangedFrom(): number {
    const changedFrom = this.#changedFrom;
    this.#changedFrom = Number.POSITIVE_INFINITY;
    return changedFrom;
  }

  /** Takes a group that is new or has grown. */
  update(index: number): void {
    const group = this.#groups[index];
    if (group === undefined) throw new RangeError(`There is no group ${index}.`);
    const isNew = index === this.#parts.length;
    if (isNew) this.squeeze(false);
    if (isNew) this.#parts.push({ tokens: 0, messages: 0 });
    if (isNew && group.kind === 'systemPrompt') {
      this.#systemPrompts.push(index);
      this.#systemTokens += group.tokensAt('high');
    }
    this.#count(index);
    this.#change(index);
  }

  /** Stops showing a group, whatever its zone. */
  hide(index: number): void {
    this.#hidden.add(index);
    this.#count(index);
    this.#change(index);
  }

  /** Moves the oldest group of a zone to the next older zone. False: the zone is empty, or has only the newest group, which stays. */
  lower(zone: 'low' | 'medium' | 'high'): boolean {
    const from = zones.indexOf(zone);
    const [index, end] = this.rangeOf(zone);
    if (index >= Math.min(end, this.newest)) return false;
    const part = this.#partOf(index);
    add(this.#sumOf(from), part, -1);
    this.#ends[from - 1] = index + 1;
    part.tokens = this.#tokensOf(index);
    add(this.#sumOf(from - 1), part, 1);
    this.#change(index);
    return true;
  }

  /** Puts all groups before an index into the zone that is never shown. */
  compact(upTo: number): void {
    for (let index = this.#ends[0]; index < upTo; index += 1) {
      const part = this.#partOf(index);
      add(this.#sumOf(this.#zoneOf(index)), part, -1);
      part.tokens = 0;
      if (this.#groups[index]?.kind !== 'systemPrompt') this.#groups[index]?.release();
      add(this.#sumOf(0), part, 1);
    }
    for (const [zone, end] of this.#ends.entries()) this.#ends[zone] = Math.max(end, upTo);
    // The summary is before all groups, also if it replaces none.
    this.#changedFrom = -1;
  }

  /** Shows the newest group at the lowest detail except for its newest message, or ends that. */
  squeeze(isSqueezed: boolean): void {
    if (this.#squeezed >= 0 === isSqueezed) return;
    const index = isSqueezed ? this.newest : this.#squeezed;
    this.#squeezed = isSqueezed ? index : -1;
    this.#count(index);
    this.#change(index);
  }

  #change(index: number): void {
    this.#changedFrom = Math.min(this.#changedFrom, index);
  }

  /** Updates the sums for a group. */
  #count(index: number): void {
    const group = this.#groups[index];
    if (group === undefined || group.kind === 'systemPrompt') return;
    const part = this.#partOf(index);
    const sum = this.#sumOf(this.#zoneOf(index));
    add(sum, part, -1);
    part.messages = this.#hidden.has(index) ? 0 : group.items.length;
    part.tokens = this.#tokensOf(index);
    add(sum, part, 1);
  }

  #tokensOf(index: number): number {
    const group = this.#groups[index];
    if (group === undefined || group.kind === 'systemPrompt') return 0;
    if (index < this.start || this.#hidden.has(index)) {
      // Groups never move to newer zones.
      group.release();
      return 0;
    }
    return index === this.#squeezed ? group.squeezedTokens : group.tokensAt(this.detailOf(index));
  }

  #zoneOf(index: number): number {
    const zone = this.#ends.findIndex((end) => index < end);
    return zone < 0 ? zones.length - 1 : zone;
  }

  #sumOf(zone: number): Figures {
    const sum = this.#sums[zone];
    if (sum === undefined) throw new RangeError(`There is no zone ${zone}.`);
    return sum;
  }

  #partOf(index: number): Figures {
    const part = this.#parts[index];
    if (part === undefined) throw new RangeError(`There is no group ${index}.`);
    return part;
  }
}

function add(sum: Figures, { tokens, messages }: Figures, sign: 1 | -1): void {
  sum.tokens += sign * tokens;
  sum.messages += sign * messages;
}

export type GroupKind = 'systemPrompt' | 'message' | 'answer' | 'output';

/** Messages that are only shown together: an answer and the results of its calls, or a single message. */
export class ContextGroup {
  readonly kind: GroupKind;
  /** The result of each call directly follows the answer, in the order of the calls. */
  readonly items: ContextItem[] = [];
  /** The message that the last event added to. */
  newest: ContextItem;
  readonly #tokens = new Map<Detail, number>();

  constructor(kind: GroupKind, item: ContextItem) {
    this.kind = kind;
    this.newest = item;
    this.add(item);
  }

  /** Adds a message. It becomes the newest when `grow` adds to it. */
  add(item: ContextItem): void {
    this.items.push(item);
    for (const [detail, tokens] of this.#tokens) this.#tokens.set(detail, tokens + item.tokensAt(detail));
  }

  /** Adds to a message of the group. */
  grow(item: ContextItem, addTo: () => void): void {
    const before = [...this.#tokens.keys()].map((detail) => [detail, item.tokensAt(detail)] as const);
    addTo();
    for (const [detail, tokens] of before)
      this.#tokens.set(detail, this.tokensAt(detail) + item.tokensAt(detail) - tokens);
    this.newest = item;
  }

  /** Drops the content of its messages: the group is never shown again. */
  release(): void {
    for (const item of this.items) item.release();
    this.#tokens.clear();
  }

  tokensAt(detail: Detail): number {
    const known = this.#tokens.get(detail);
    if (known !== undefined) return known;
    let tokens = 0;
    for (const item of this.items) tokens += item.tokensAt(detail);
    this.#tokens.set(detail, tokens);
    return tokens;
  }

  /** The tokens with the newest message in full and the others at the lowest detail. */
  get squeezedTokens(): number {
    return this.tokensAt('low') - this.newest.tokensAt('low') + this.newest.tokensAt('high');
  }
}
