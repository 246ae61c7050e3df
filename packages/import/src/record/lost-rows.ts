import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Dispatch } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, DispatchSource } from '@hansard/events';
import { isPlainObject, isReadableAs } from '@hansard/events/plain';
import { isRewritten } from '@hansard/facts';
import type { LogSummary } from '@hansard/provider';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The types whose events are parts of prompts. */
export const entryTypes =
  /^(?:user:\w+|session:compaction|agent:(?:given|output|system_prompt|text|thinking|tool_call|tool_result))$/;

/** Events that are held back, before it is decided without the rest of the log. */
const mostHeld = 5_000;

/**
 * The rows that an append-only source has lost: it was shortened or replaced, and then continued. The events of those rows stay, and what the source
 * has after them does not follow them. A `session:rewind` before the first new event of the agent says so.
 *
 * 1. Rows of the dispatched agent can be lost only if the last message that an earlier import has read is not in the bytes of the source. Rows
 *    of sub-agents can be lost only if a file has changed without being larger.
 * 2. Events of an agent come in the order of the source. If a new one does not come after the last stored one, that one and
 *    each later event of the agent are held back.
 * 3. If a stored one comes later, nothing was lost there: the source has a new row between old ones.
 */
export class LostRows {
  readonly #agents: ReadonlyMap<string, AgentRows>;

  /** Null: the source has lost no row, or that is not known. `files`: the files of the source as they are now; `file`: that of the dispatched agent. */
  static async of(
    dispatch: Dispatch,
    file: string | undefined,
    files: DispatchSource['files'],
    existing: DispatchEnvelope | null,
  ): Promise<LostRows | null> {
    const last = existing?.source?.lastMessage;
    const isOfMain = file !== undefined && last !== undefined && uuid.test(last) && !isIn(file, last);
    const before = new Map(existing?.source?.files.map((one) => [one.name, one]));
    const isOfOthers = files.some(({ name, bytes, modifiedAt }) => {
      const one = before.get(name);
      return (
        one !== undefined && (bytes < one.bytes || (bytes === one.bytes && modifiedAt !== one.modifiedAt))
      );
    });
    if (!isOfMain && !isOfOthers) return null;
    const agents = new Map<string, AgentRows>();
    for await (const { events } of dispatch.pages())
      for (const event of events) {
        const { id, agentId = '' } = event;
        if (!isEntry(event) || isRewritten(id) || isOfLoss(id)) continue;
        if (agentId === '' ? !isOfMain : !isOfOthers) continue;
        const rows = agents.get(agentId) ?? new AgentRows(agentId);
        agents.set(agentId, rows);
        rows.stored.set(id, rows.stored.size);
      }
    return new LostRows(agents);
  }

  private constructor(agents: ReadonlyMap<string, AgentRows>) {
    this.#agents = agents;
  }

  /** The events that can be recorded now. */
  take(events: readonly CapturedEvent[]): readonly CapturedEvent[] {
    return events.flatMap((event) => this.#agents.get(event.agentId ?? '')?.take(event) ?? event);
  }

  /** The events that were held back, at the end of the log. */
  end(): readonly CapturedEvent[] {
    return [...this.#agents.values()].flatMap((rows) => rows.end());
  }

  /** Says what was lost, if something was. */
  reportIn(summary: LogSummary): LogSummary {
    const lost = [...this.#agents.values()].filter(({ count }) => count > 0);
    if (lost.length === 0) return summary;
    const { counts, diagnostics } = summary;
    const all = lost.reduce((sum, { count }) => sum + count, 0);
    const others = lost.flatMap(({ agentId }) => (agentId === '' ? [] : agentId));
    const shown = others.slice(0, mostNamed).join(', ') + (others.length > mostNamed ? ' and others' : '');
    const whose = others.length === 0 ? '' : `, also of the sub-agents ${shown}`;
    const message = `The source has lost ${all} messages, results and calls that were imported${whose}. They stay in the store, and what follows in the source does not follow them.`;
    return {
      ...summary,
      counts: { ...counts, rows_lost: all },
      diagnostics: [...diagnostics, { code: 'rows_lost', message }],
    };
  }
}

const mostNamed = 8;

/** The rows of one agent; '' is the dispatched agent. */
class AgentRows {
  readonly agentId: string;
  /** The places of its stored events. */
  readonly stored = new Map<string, number>();
  count = 0;
  /** The place of the last stored event that the source has. */
  #previous = -1;
  /** The end of the current branch of the source. */
  #end: string | null = null;
  #held: CapturedEvent[] | null = null;
  #isDecided = false;

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  take(event: CapturedEvent): readonly CapturedEvent[] {
    const place = isEntry(event) ? this.stored.get(event.id) : undefined;
    const released: CapturedEvent[] = [];
    if (this.#held !== null && place !== undefined && place > this.#previous) {
      released.push(...this.#held);
      this.#held = null;
      this.#isDecided = true;
    }
    if (!this.#isDecided && this.#held === null && isEntry(event)) this.#follow(event, place);
    if (this.#held === null) return [...released, event];
    this.#held.push(event);
    return this.#held.length > mostHeld ? this.end() : released;
  }

  end(): readonly CapturedEvent[] {
    const [first, ...rest] = this.#held ?? [];
    this.#held = null;
    this.#isDecided = true;
    if (first === undefined) return [];
    this.count = this.stored.size - 1 - this.#previous;
    const rewind: CapturedEvent = {
      id: lossBefore(first.id),
      type: 'session:rewind',
      timestamp: null,
      ...(this.agentId === '' ? {} : { agentId: this.agentId }),
      data: { keptThrough: this.#end },
    };
    return [rewind, first, ...rest];
  }

  #follow(event: CapturedEvent, place: number | undefined): void {
    if (place === undefined) {
      if (this.#previous === this.stored.size - 1) this.#isDecided = true;
      else this.#held = [];
      return;
    }
    this.#previous = Math.max(this.#previous, place);
    if (isReadableAs(event, 'session:rewind')) this.#end = event.data.keptThrough;
    // A late record of another branch does not end the current one.
    else if (event.follows === undefined || isPrompt(event)) this.#end = event.id;
  }
}

function isEntry({ type }: CapturedEvent): boolean {
  return entryTypes.test(type) || type === 'session:rewind';
}

function isPrompt({ type, data }: CapturedEvent): boolean {
  const { kind } = isPlainObject(data.source) ? data.source : {};
  return type === 'user:message' && kind !== 'system';
}

const lossSuffix = ':lost';
const longestId = 128;

function lossBefore(id: string): string {
  return `${id.slice(0, longestId - lossSuffix.length)}${lossSuffix}`;
}

function isOfLoss(id: string): boolean {
  return id.endsWith(lossSuffix);
}

const bytesAtOnce = 64 * 1024;

/** Whether the bytes of a file have a text. Reads from the end, where the last message of a file that only grew is near. */
function isIn(file: string, text: string): boolean {
  const source = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(bytesAtOnce + text.length);
    for (let start = fstatSync(source).size; start > 0; ) {
      start = Math.max(0, start - bytesAtOnce);
      const read = readSync(source, bytes, 0, bytes.length, start);
      if (bytes.subarray(0, read).includes(text)) return true;
    }
    return false;
  } finally {
    closeSync(source);
  }
}
