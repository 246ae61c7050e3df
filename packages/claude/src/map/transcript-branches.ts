import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { isEntryEvent, isPrompt as isPromptEvent } from '@hansard/prompt';
import { asList, asName, asObject } from '../lines/json-fields.ts';
import { BranchRows, head, type NewRow, type RowBranch, unknown } from './branch-rows.ts';
import type { Horizon } from './horizon.ts';

/** A rewind that a record announces, until a row follows that continues from there. */
interface RewindMarker {
  /** The id of the `session:rewind` that it becomes. */
  readonly id: string;
  /** The uuid of the last row that stays. Null: none does. */
  readonly leaf: string | null;
  /** The uuid of the first row that is cut. */
  readonly cut: string | null;
  /** The content of the record, which is written again verbatim. */
  readonly text: string;
}

/** What a later reading needs to continue the conversation: its last rows, by their uuids, and no content. */
export interface KeptBranches {
  /** Whether it has one branch. */
  readonly isStraight: boolean;
  /**
   * The last rows of the current branch. `said` is the index in this list of the prompt or the answer that the row follows: -1 for the last one
   * before this list, -2 for an earlier one.
   */
  readonly rows: readonly (readonly [uuid: string, said: number, isPrompt: boolean])[];
  readonly marker: RewindMarker | null;
  /** The rewind that the marker announces. */
  readonly open: OpenRewind | null;
  /** The text of the last marker that a row has followed. */
  readonly followed: string | null;
  /** Whether a prompt without a parent can go back to nothing. */
  readonly isLinked: boolean;
  readonly isCompacted: boolean;
  readonly session: JsonValue;
}

/** A `session:rewind` that the next row will make, if it continues from there. */
export interface OpenRewind {
  readonly id: string;
  readonly keptThrough: string | null;
  readonly left?: string;
}

const rowsKept = 32;
const before = -1;
const earlier = -2;

/** What a row does to the branches, besides being added to one. */
type Move =
  | { readonly kind: 'stays' }
  | {
      readonly kind: 'rewinds';
      readonly to: number | null;
      readonly leaving?: RowBranch;
      readonly id?: string;
    }
  /** A prompt that continues another branch. */
  | { readonly kind: 'turns'; readonly branch: RowBranch }
  /** A late row of another branch. */
  | { readonly kind: 'late'; readonly branch: RowBranch; readonly follows: string };

const stays: Move = { kind: 'stays' };

interface Row extends Omit<NewRow, 'said' | 'isSaid'> {
  readonly record: JsonObject;
  readonly events: readonly CapturedEvent[];
  /** Whether it can begin a branch: a prompt that a person or a program gave. */
  readonly isPrompt: boolean;
  /** Whether one of its events is a prompt, such as a queued one. */
  readonly hasPrompt: boolean;
  readonly hasResult: boolean;
  readonly compaction: 'boundary' | 'summary' | null;
  readonly place: string;
}

type Claim = (id: string) => string | undefined;

/**
 * Finds where the dispatched agent went back, from the parents of the rows, and writes `session:rewind` and `follows`.
 *
 * A *row* is a record that names its parent. P is the nearest prompt, answer or compaction at the parent of a row, or above.
 * 1. The next row after a marker (`last-prompt` with `rewound`) whose parent is the leaf of the marker rewinds to it.
 * 2. A prompt whose P is on the current branch, with a prompt after P there, rewinds to its parent. So does a person's prompt without a
 *    parent, to nothing, if the branch has no compaction and the prompts and answers of the session name their parents. A prompt at the time of the first one after P is a repetition of it, and does not.
 * 3. A prompt whose P, or a result between P and the prompt, is on another branch continues that one if it is live: it got a row since it was left, or nobody left it. Otherwise it rewinds.
 * 4. The boundary of a compaction rewinds if it is its own anchor.
 * Any other row follows its parent; the boundary of a compaction, the branch of its logical parent if that is live. Rows that a compaction kept stand after its summary. A parent that is unknown, or comes later, does nothing.
 */
export class TranscriptBranches {
  #rows = new BranchRows();
  readonly #horizon: Horizon;
  #marker: RewindMarker | null = null;
  /** The rewind of the marker that the part before ends with. */
  #openBefore: OpenRewind | null = null;
  #followed: string | null = null;
  #session: JsonValue | undefined;
  /** The first row of the session that the last row names. What stands before it belongs to another session. */
  #sessionBegan = head;
  /** Whether a prompt or an answer has named its parent. In a file without links between its rows, a row without a parent says nothing. */
  #isLinked = false;
  /** Whether only the last rows of the part before are known. */
  #isPartial = false;
  #isStraightBefore = true;
  #isCompactedBefore = false;

  constructor(horizon: Horizon) {
    this.#horizon = horizon;
  }

  /** The events of a record with what they do to the branches. `id`: of its first event; `place`: of the record in its file. */
  place(
    record: JsonObject,
    events: readonly CapturedEvent[],
    { id, place, claim }: { readonly id: string; readonly place: string; readonly claim: Claim },
  ): readonly CapturedEvent[] {
    if (record.isSidechain === true) return events;
    if (this.#openBefore !== null) this.#horizon.missed();
    if (record.type === 'last-prompt') this.#noteMarker(record, place);
    const row = rowOf(record, events, id, place, this.#parentOf(record));
    if (row === null) return events;
    const move = this.#moveOf(row);
    if (move.kind !== 'stays' && this.#isPartial) {
      this.#horizon.missed();
      return events;
    }
    const placed = this.#apply(move, row, claim);
    this.#add(row, move.kind === 'late' ? move.branch : this.#rows.current);
    return placed;
  }

  /** The rewind of a marker that no row has followed. */
  get open(): OpenRewind | null {
    const marker = this.#marker;
    if (marker === null) return null;
    if (this.#openBefore !== null) return this.#openBefore;
    const leaf = marker.leaf === null ? null : this.#rows.find(marker.leaf);
    if (leaf === unknown) return null;
    const leaving = this.#leaving(marker);
    const isThere =
      leaving === this.#rows.current && leaf !== null && this.#rows.entryOf(leaf) === leaving.end;
    if (isThere) return null;
    return { id: marker.id, ...this.#rewindTo(leaf, leaving) };
  }

  get kept(): KeptBranches {
    const rows: number[] = [];
    const { current, last, isStraight } = this.#rows;
    for (let row = last; row > head && rows.length < rowsKept; row -= 1)
      if (this.#rows.isOn(row, current)) rows.unshift(row);
    const first = rows[0] ?? last;
    const beforeAll = first <= head + 1 ? head : this.#rows.saidOf(this.#previousOn(first));
    const numbers = new Map(rows.map((row, at) => [row, at]));
    const isPrompt = (row: number) => this.#rows.branchOf(row).prompts.some((prompt) => prompt.row === row);
    return {
      isStraight: isStraight && this.#isStraightBefore,
      rows: rows.map((row) => {
        const said = this.#rows.saidOf(row);
        const at = numbers.get(said) ?? (said === beforeAll && said !== unknown ? before : earlier);
        return [this.#rows.idOf(row), at, isPrompt(row)];
      }),
      marker: this.#marker,
      open: this.open,
      followed: this.#followed,
      isLinked: this.#isLinked,
      isCompacted: this.#isCompacted,
      session: this.#session ?? null,
    };
  }

  /** Continues after rows of which only the last ones are known. */
  continueAfter({ isStraight, rows, marker, followed, ...kept }: KeptBranches): void {
    this.#rows = new BranchRows();
    this.#isLinked = kept.isLinked;
    this.#isCompactedBefore = kept.isCompacted;
    this.#session = kept.session ?? undefined;
    this.#marker = marker;
    this.#followed = followed;
    this.#isPartial = true;
    this.#isStraightBefore = isStraight;
    const { current } = this.#rows;
    // The first row stands for the last prompt or answer before.
    const all: KeptBranches['rows'] = [['', before, false], ...rows];
    for (const [at, [id, said, isPrompt]] of all.entries()) {
      const isSaid = at === 0 || said === at - 1;
      const above = said === before ? 1 : said === earlier ? unknown : said + 2;
      const uuid = at === 0 ? undefined : id;
      const fields = { id, more: 0, uuid, parent: unknown, said: above, isSaid, isEntry: isSaid };
      const row = this.#rows.add(fields, current);
      if (isPrompt) current.prompts.push({ row, time: undefined });
      if (isPrompt) this.#rows.lastPrompt = row;
    }
    this.#openBefore = kept.open;
  }

  #previousOn(row: number): number {
    for (let one = row - 1; one > head; one -= 1) if (this.#rows.isOn(one, this.#rows.current)) return one;
    return head;
  }

  #parentOf({ parentUuid }: JsonObject): number {
    return parentUuid === null ? head : this.#rows.find(asName(parentUuid));
  }

  #noteMarker(record: JsonObject, place: string): void {
    const { rewound, leafUuid, cutUuid = null, lastPrompt = null } = record;
    if (rewound !== true) return;
    const leaf = leafUuid === null ? null : asName(leafUuid);
    const text = JSON.stringify([leafUuid, cutUuid, lastPrompt]);
    if (leaf === undefined || text === this.#followed || text === this.#marker?.text) return;
    if (this.#isPartial) this.#horizon.missed();
    const cut = this.#cutBy(asName(cutUuid) ?? null);
    this.#marker = { id: `${place}:rewind`, leaf, cut, text };
  }

  /** The first row that a marker cuts. After a marker that no row has followed, it can go back further from there. Then it leaves what that one left. */
  #cutBy(cut: string | null): string | null {
    const [row, leaf] = [cut, this.#marker?.leaf].map((one) => this.#rows.find(one ?? undefined));
    if (row === undefined || leaf === undefined || row === unknown || leaf === unknown) return cut;
    const isFrom = row <= leaf && this.#rows.isOn(row, this.#rows.branchWith(leaf));
    return isFrom && !this.#rows.isOn(row, this.#rows.current) ? (this.#marker?.cut ?? null) : cut;
  }

  #moveOf(row: Row): Move {
    const { record, parent, isPrompt, compaction } = row;
    const { parentUuid } = record;
    const marker = this.#marker;
    if (marker !== null && parentUuid !== undefined && marker.leaf === parentUuid && canBegin(row)) {
      if (this.#isPartial) return this.#beyond();
      this.#marker = null;
      this.#followed = marker.text;
      if (parent !== unknown)
        return {
          kind: 'rewinds',
          to: marker.leaf === null ? null : parent,
          leaving: this.#leaving(marker),
          id: marker.id,
        };
    }
    if (compaction === 'boundary' && isOwnAnchor(record)) return this.#behindCompaction(record);
    if (compaction === 'boundary') return this.#compactionOf(record);
    if (isPrompt && parent === head) return this.#rootPrompt(row);
    if (isPrompt) return this.#prompt(row);
    return this.#follower(row);
  }

  /** In a continued reading, what a row does cannot be known. */
  #beyond(): Move {
    this.#horizon.missed();
    return stays;
  }

  #leaving({ cut }: RewindMarker): RowBranch {
    const row = this.#rows.find(cut ?? undefined);
    const branch = row === unknown ? this.#rows.current : this.#rows.branchWith(row);
    // A branch that was left cannot be left again: the cut row is one that the current branch does not have, such as a hook's.
    return isLive(branch) ? branch : this.#rows.current;
  }

  #behindCompaction(record: JsonObject): Move {
    if (this.#isPartial) return this.#beyond();
    const { through, isNone } = keptBy(record);
    const row = this.#rows.find(through);
    if (isNone) return { kind: 'rewinds', to: null };
    return row === unknown ? stays : { kind: 'rewinds', to: row };
  }

  /** The compaction of another live branch belongs to that branch. A boundary can also name a retracted row. */
  #compactionOf({ logicalParentUuid }: JsonObject): Move {
    const row = this.#rows.find(asName(logicalParentUuid));
    if (row === unknown && this.#isPartial && !this.#isStraightBefore) return this.#beyond();
    if (row === unknown || this.#rows.isStraight) return stays;
    const entry = this.#rows.entryOf(row);
    const branch = this.#rows.branchWith(entry);
    const isOther = branch !== this.#rows.current && isLive(branch);
    return isOther ? { kind: 'late', branch, follows: this.#rows.eventOf(entry) } : stays;
  }

  #rootPrompt({ record, events }: Row): Move {
    const isNew = this.#session !== undefined && record.sessionId !== this.#session;
    return isNew || !this.#isLinked || !isOfPerson(events) ? stays : this.#toNothing();
  }

  #toNothing(): Move {
    if (this.#isCompacted) return stays;
    if (this.#isPartial) return this.#beyond();
    return this.#rows.lastPrompt === head ? stays : { kind: 'rewinds', to: null };
  }

  /** Whether the current branch has a compaction. */
  get #isCompacted(): boolean {
    return this.#isCompactedBefore || this.#rows.compactionOn(this.#rows.current) !== undefined;
  }

  #prompt(row: Row): Move {
    const { parent } = row;
    if (parent === unknown) return this.#isPartial ? this.#beyond() : stays;
    const said = this.#followedBy(parent);
    if (said === unknown) return this.#beyond();
    const { current, lastPrompt } = this.#rows;
    const isHere = this.#rows.isOn(said, current);
    if (isHere && said >= lastPrompt) return stays;
    if (this.#isPartial) return this.#beyond();
    if (isHere) return this.#backOn(current, said, row);
    const branch = this.#rows.branchWith(said);
    const next = this.#rows.promptAfter(said, branch);
    if (isLive(branch) && next === undefined) return { kind: 'turns', branch };
    if (isLive(branch)) return this.#backOn(branch, said, row);
    const cut = next?.row ?? this.#rows.saidAfter(parent, branch);
    return {
      kind: 'rewinds',
      to: cut === undefined ? branch.last : (this.#kept(branch, cut, parent) ?? said),
    };
  }

  /** What a prompt follows: P, or a result below P where a rewind into a turn has left that result. */
  #followedBy(parent: number): number {
    const said = this.#rows.saidOf(parent);
    let entry = parent;
    while (entry > said && this.#rows.entryOf(entry) !== entry) entry = this.#rows.parentOf(entry);
    const { current } = this.#rows;
    const isLeft = entry > said && this.#rows.isOn(said, current) && !this.#rows.isOn(entry, current);
    return isLeft ? entry : said;
  }

  /** A prompt that stands after an earlier row of a branch than its last prompt. */
  #backOn(branch: RowBranch, said: number, { record, parent, events }: Row): Move {
    const compaction = this.#rows.compactionOn(branch);
    const isKept =
      compaction !== undefined &&
      said < compaction.row &&
      said >= compaction.keptFrom &&
      said <= compaction.keptThrough;
    const from = isKept ? compaction.summary : said;
    const next = this.#rows.promptAfter(from, branch);
    if (next === undefined || isSame(next.time, record.timestamp)) return stays;
    const leaving = { leaving: branch };
    if (isKept) return { kind: 'rewinds', to: from, ...leaving };
    const to = this.#kept(branch, next.row, parent);
    if (to !== null) return { kind: 'rewinds', to, ...leaving };
    return isOfPerson(events) && next.row > this.#sessionBegan ? this.#toNothing() : stays;
  }

  /** The first row from a parent upwards that stands on a branch before a prompt. Null: the rows begin after it. */
  #kept(branch: RowBranch, prompt: number, parent: number): number | null {
    let row = parent;
    while (row > head && !(row < prompt && this.#rows.isOn(row, branch))) row = this.#rows.parentOf(row);
    return row > head ? row : null;
  }

  #follower({ record, parent, hasPrompt }: Row): Move {
    if (parent === unknown) {
      const isNamed = asName(record.parentUuid) !== undefined;
      return this.#isPartial && !this.#isStraightBefore && isNamed ? this.#beyond() : stays;
    }
    if (parent === head || this.#rows.isStraight) return stays;
    const entry = this.#rows.entryOf(parent);
    if (this.#rows.isOn(entry, this.#rows.current)) return stays;
    const branch = this.#rows.branchWith(entry);
    return hasPrompt
      ? { kind: 'turns', branch }
      : { kind: 'late', branch, follows: this.#rows.eventOf(entry) };
  }

  #apply(move: Move, row: Row, claim: Claim): readonly CapturedEvent[] {
    if (move.kind === 'stays') return row.events;
    if (move.kind === 'late') return row.events.map((event) => following(event, move.follows));
    if (move.kind === 'turns') {
      const follows = this.#rows.eventOf(move.branch.end);
      this.#rows.turnTo(move.branch);
      const first = row.events.findIndex(isPromptEvent);
      return row.events.map((event, at) => (at <= first ? following(event, follows) : event));
    }
    const { to, leaving = this.#rows.current } = move;
    // A prompt that goes back elsewhere does not go where the marker says.
    this.#followed = this.#marker?.text ?? this.#followed;
    this.#marker = null;
    const data = this.#rewindTo(to, leaving);
    if (!this.#rows.rewind(to, leaving)) return row.events;
    const name = move.id ?? `${row.id}:rewind`;
    const at = Math.max(
      0,
      row.events.findIndex(({ id }) => isOfRow(id, row.id)),
    );
    const rewind: CapturedEvent = {
      id: claim(name) ?? `${row.place}:rewind`,
      type: 'session:rewind',
      timestamp: row.events[at]?.timestamp ?? null,
      data,
    };
    return row.events.toSpliced(at, 0, rewind);
  }

  #rewindTo(to: number | null, leaving: RowBranch): { keptThrough: string | null; left?: string } {
    const entry = to === null ? head : this.#rows.entryOf(to);
    const left = leaving === this.#rows.current ? {} : { left: this.#rows.eventOf(leaving.end) };
    return { keptThrough: entry <= head ? null : this.#rows.eventOf(entry), ...left };
  }

  #add(row: Row, branch: RowBranch): void {
    const { record, parent, isPrompt, compaction } = row;
    const isSaid = isPrompt || record.type === 'assistant' || compaction !== null;
    const said = parent === unknown ? this.#saidWithout(record) : this.#rows.saidOf(parent);
    const number = this.#rows.add({ ...row, said, isSaid }, branch);
    if (isPrompt) branch.prompts.push({ row: number, time: record.timestamp });
    if (isPrompt && branch === this.#rows.current) this.#rows.lastPrompt = number;
    if (compaction !== null) this.#addCompaction(row, number, branch);
    const { sessionId = this.#session } = record;
    if (this.#session !== undefined && sessionId !== this.#session) this.#sessionBegan = number;
    this.#session = sessionId;
    this.#isLinked ||= (record.type === 'assistant' || isPrompt) && parent > head;
  }

  /** What a row without a known parent follows. */
  #saidWithout({ parentUuid }: JsonObject): number {
    if (this.#isPartial && asName(parentUuid) !== undefined) return unknown;
    return this.#rows.saidOf(this.#rows.current.end);
  }

  #addCompaction({ record, compaction }: Row, row: number, branch: RowBranch): void {
    const last = branch.compactions.at(-1);
    if (compaction === 'summary' && last !== undefined && this.#parentOf(record) === last.row)
      last.summary = row;
    else {
      const { from, through } = keptBy(record);
      const [keptFrom, keptThrough] = [this.#rows.find(from), this.#rows.find(through)];
      branch.compactions.push({ row, summary: row, keptFrom, keptThrough });
    }
  }
}

/** Whether a program still writes on a branch that is not the current one. */
function isLive(branch: RowBranch): boolean {
  return branch.isLive || branch.last > branch.leftAt;
}

/** Whether a row can be the first one after a marker. */
function canBegin({ record, hasResult, compaction }: Row): boolean {
  return !hasResult && compaction === null && record.type !== 'progress';
}

function rowOf(
  record: JsonObject,
  events: readonly CapturedEvent[],
  id: string,
  place: string,
  parent: number,
): Row | null {
  const uuid = asName(record.uuid);
  const isChained = uuid !== undefined && record.parentUuid !== undefined;
  let [isEntry, hasPrompt, hasResult, last] = [false, false, false, id];
  for (const event of events) {
    if (event.agentId !== undefined) continue;
    isEntry ||= isEntryEvent(event);
    hasPrompt ||= isPromptEvent(event);
    hasResult ||= event.type === 'agent:tool_result';
    if (event.id !== id && isOfRow(event.id, id)) last = event.id;
  }
  if (!isChained && !isEntry) return null;
  const { type, subtype, isMeta, isCompactSummary } = record;
  const isSummary = isCompactSummary === true;
  return {
    record,
    events,
    id,
    place,
    uuid,
    isEntry,
    hasPrompt,
    hasResult,
    parent: isChained ? parent : unknown,
    more: last === id ? 0 : Number(last.slice(id.length + 1)),
    isPrompt: isChained && type === 'user' && hasPrompt && !hasResult && isMeta !== true && !isSummary,
    compaction: isSummary
      ? 'summary'
      : type === 'system' && subtype === 'compact_boundary'
        ? 'boundary'
        : null,
  };
}

/** Whether an event is one of those that a row has under its own id. */
function isOfRow(eventId: string, id: string): boolean {
  if (!eventId.startsWith(id)) return false;
  return eventId.length === id.length || /^\.[1-9]\d*$/.test(eventId.slice(id.length));
}

function following(event: CapturedEvent, follows: string): CapturedEvent {
  // The bytes of a content are equal wherever they are named, and have no place in a transcript.
  const { agentId, type } = event;
  if (agentId !== undefined || type === 'agent:inference' || type === 'content:stored') return event;
  const { data, ...fields } = event;
  return { ...fields, follows, data };
}

function isOfPerson(events: readonly CapturedEvent[]): boolean {
  const prompt = events.find(isPromptEvent);
  return asObject(prompt?.data.source)?.kind === 'user';
}

function isSame(time: unknown, timestamp: unknown): boolean {
  return time !== undefined && time === timestamp;
}

/** Whether a boundary marks a rewind behind a compaction: it is its own anchor, and took no time. */
function isOwnAnchor({ uuid, compactMetadata }: JsonObject): boolean {
  const { preservedMessages, preservedSegment, durationMs = 0 } = asObject(compactMetadata) ?? {};
  const kept = asObject(preservedMessages) ?? asObject(preservedSegment);
  return kept !== undefined && kept.anchorUuid === uuid && durationMs === 0;
}

/** The first and the last row that a compaction kept. */
function keptBy({ compactMetadata }: JsonObject): {
  readonly from: string | undefined;
  readonly through: string | undefined;
  readonly isNone: boolean;
} {
  const { preservedMessages, preservedSegment } = asObject(compactMetadata) ?? {};
  const uuids = asList(asObject(preservedMessages)?.uuids);
  const segment = asObject(preservedSegment);
  return {
    from: asName(uuids?.[0] ?? segment?.headUuid),
    through: asName(uuids?.at(-1) ?? segment?.tailUuid),
    isNone: uuids?.length === 0,
  };
}
