import type { CapturedEvent, JsonValue } from '@hansard/events';
import { isReadableAs, neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import { agentLabel, speakerLabel } from '../agents/agent-label.ts';
import { AgentNames } from '../agents/agent-names.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { DeliveryDiff, DiffPart } from '../session/word-diff.ts';
import { hangingLines } from '../text/columns.ts';
import { deliveryNote, nobodyHeardIt } from '../words/hearing-words.ts';
import { eventWords } from '../words/row-words.ts';
import type { Words } from '../words/words.ts';

/** An event at which two logs part. */
export interface PartingEvent {
  readonly position: number;
  readonly id: string;
  readonly words: Words;
}

/** The first place where two logs do not say and do the same. */
export interface FirstDifference {
  /** How many texts, messages, calls, results and ends are the same before it. */
  readonly same: number;
  /** `kind`, `agent`, a field such as `text` or `input`, or `end of the log` if one has nothing more. */
  readonly field: string;
  /** The event of each log; null: it has nothing more. */
  readonly one: PartingEvent | null;
  readonly other: PartingEvent | null;
}

type Events = AsyncIterable<CapturedEvent> | Iterable<CapturedEvent>;

/** The positions of the only events that are compared, of one log and of the other. Absent: all. */
type ComparedEvents = readonly [one?: ReadonlySet<number>, other?: ReadonlySet<number>];

/**
 * The first difference between what two logs say and do: texts, thoughts, messages, calls with their inputs, results with status and output, ends. Ids,
 * times, figures and records of the harness are not compared. An agent is the same in both logs if it appears first at the same place. Null if there
 * is none. Reads both logs once, and keeps one event of each.
 */
export async function firstDifference(
  one: Events,
  other: Events,
  only: ComparedEvents = [],
): Promise<FirstDifference | null> {
  const [left, right] = [new DeedReader(one, only[0]), new DeedReader(other, only[1])];
  try {
    for (let same = 0; ; same += 1) {
      const [a, b] = [await left.next(), await right.next()];
      if (a === null && b === null) return null;
      const field = a === null || b === null ? 'end of the log' : differenceOf(a, b);
      if (field !== null) return { same, field, one: a?.event ?? null, other: b?.event ?? null };
    }
  } finally {
    await left.close();
    await right.close();
  }
}

function differenceOf(one: ReadDeed, other: ReadDeed): string | null {
  if (one.deed.kind === other.deed.kind && one.agent !== other.agent) return 'agent';
  return firstDifferentField(one.deed, other.deed);
}

interface ReadDeed {
  readonly deed: Deed;
  /** The number of its agent, in the order of first deeds. */
  readonly agent: number;
  readonly event: PartingEvent;
}

class DeedReader {
  readonly #events: AsyncIterator<CapturedEvent> | Iterator<CapturedEvent>;
  readonly #names = new AgentNames();
  readonly #agents = new Map<string, number>();
  readonly #only: ReadonlySet<number> | undefined;
  #position = -1;

  constructor(events: Events, only: ReadonlySet<number> | undefined) {
    this.#only = only;
    this.#events =
      Symbol.asyncIterator in events ? events[Symbol.asyncIterator]() : events[Symbol.iterator]();
  }

  async next(): Promise<ReadDeed | null> {
    for (;;) {
      const read = await this.#events.next();
      if (read.done === true) return null;
      this.#position += 1;
      const event = read.value;
      const isCompared = this.#only?.has(this.#position) ?? true;
      const deed = isCompared ? deedOf(event) : null;
      if (deed === null) {
        this.#names.learn(event);
        continue;
      }
      const { agentId = '', id } = event;
      const agent = this.#agents.get(agentId) ?? this.#agents.size;
      this.#agents.set(agentId, agent);
      return { deed, agent, event: { position: this.#position, id, words: eventWords(event, this.#names) } };
    }
  }

  async close(): Promise<void> {
    await this.#events.return?.();
  }
}

/** Something that an event says or does, without the parts that differ between two runs: ids, times, durations, usage and records of the harness. */
interface Deed {
  readonly kind: 'prompt' | 'message' | 'text' | 'thought' | 'call' | 'result' | 'end';
  /** By name, in the order in which they are compared. */
  readonly fields: readonly (readonly [name: string, value: JsonValue])[];
}

/** The deed of an event; null for one that has none. */
function deedOf(event: CapturedEvent): Deed | null {
  if (isReadableAs(event, 'agent:system_prompt'))
    return { kind: 'prompt', fields: [['text', event.data.text]] };
  if (isReadableAs(event, 'user:message')) return { kind: 'message', fields: [['text', event.data.text]] };
  if (isReadableAs(event, 'agent:text')) return { kind: 'text', fields: [['text', event.data.text]] };
  if (isReadableAs(event, 'agent:thinking')) return { kind: 'thought', fields: [['text', event.data.text]] };
  if (isReadableAs(event, 'agent:tool_call')) {
    const { tool, target, input } = event.data;
    return {
      kind: 'call',
      fields: [
        ['tool', tool],
        ['target', target ?? null],
        ['input', input ?? null],
      ],
    };
  }
  if (isReadableAs(event, 'agent:tool_result')) {
    const { tool, status, error, output } = event.data;
    return {
      kind: 'result',
      fields: [
        ['tool', tool],
        ['status', status],
        ['error', error ?? null],
        ['output', output ?? null],
      ],
    };
  }
  if (isReadableAs(event, 'session:complete')) {
    const { status, result, structuredResult } = event.data;
    return {
      kind: 'end',
      fields: [
        ['status', status],
        ['result', result ?? null],
        ['structured result', structuredResult ?? null],
      ],
    };
  }
  return null;
}

/** The name of the first field that differs; null if all are the same. */
function firstDifferentField(one: Deed, other: Deed): string | null {
  if (one.kind !== other.kind) return 'kind';
  const at = one.fields.findIndex(([, value], index) => !isSame(value, other.fields[index]?.[1] ?? null));
  return one.fields[at]?.[0] ?? null;
}

/** Whether two values are the same, without regard to the order of keys. */
function isSame(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, at) => isSame(item, other[at] ?? null))
    );
  const [left, right] = [Object.entries(one), new Map(Object.entries(other))];
  return (
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && isSame(value ?? null, right.get(key) ?? null))
  );
}

/** The parts as one text: removed parts as `[-text-]`, added parts as `{+text+}`. */
export function renderDiff(parts: readonly DiffPart[]): string {
  return neutraliseControls(parts.map(partInText).join(''));
}

/** The word differences between a saying and each delivery of it. */
export function renderDeliveryDiffs(index: LogIndex, diffs: readonly DeliveryDiff[]): string {
  if (diffs.length === 0) return nobodyHeardIt;
  return diffs
    .map(({ saying, hearing, parts }) => {
      const who = `${speakerLabel(index, saying.speaker)} → ${agentLabel(index, hearing.agentId)}`;
      const start = neutraliseControlsInLine(`${hearing.event.id}  ${who} (${deliveryNote(hearing)}): `);
      return hangingLines(start, renderDiff(parts));
    })
    .join('\n');
}

function partInText({ kind, text }: DiffPart): string {
  if (kind === 'same') return text;
  return kind === 'removed' ? `[-${text}-]` : `{+${text}+}`;
}
