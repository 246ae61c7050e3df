import type { Delta } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { columnsOf, fitColumns } from '@hansard/views';

const noTime = ' '.repeat('HH:MM:SS'.length);
/** The width of a column for kinds, as in the lines of events. */
const kindColumns = 8;

/** More than any terminal shows of a growing line. */
const longestKept = 2_000;

interface Growing {
  readonly type: Delta['type'];
  readonly messageId: string | undefined;
  readonly who: Speaker;
  readonly text: string;
}

interface Speaker {
  readonly role: string | undefined;
  readonly agent: string;
}

/** The text that models are writing: one text for each writing agent. */
export class LiveText {
  /** In the order of the latest change. */
  readonly #growing = new Map<string, Growing>();

  add(dispatchId: string, delta: Delta, who: Speaker): void {
    const key = keyOf(dispatchId, delta.agentId);
    const before = this.#growing.get(key);
    const isContinued = before?.type === delta.type && before.messageId === delta.messageId;
    const text = ((isContinued ? before.text : '') + delta.text).slice(-longestKept);
    this.#growing.delete(key);
    this.#growing.set(key, { type: delta.type, messageId: delta.messageId, who, text });
  }

  /** Forgets the text of an agent, because it is in the log now. */
  finish(dispatchId: string, agentId: string | undefined): void {
    this.#growing.delete(keyOf(dispatchId, agentId));
  }

  forget(dispatchId: string): void {
    for (const key of this.#growing.keys())
      if (key.startsWith(keyOf(dispatchId, ''))) this.#growing.delete(key);
  }

  /** The end of the text that grew last, on one line that fits; '' if no agent writes. */
  render(columns: number): string {
    const latest = [...this.#growing.values()].at(-1);
    if (latest === undefined) return '';
    const { type, who, text } = latest;
    const kind = type === 'delta:thinking' ? 'thinking' : 'text';
    const place = [
      noTime,
      who.role ?? '',
      who.agent === '' ? '' : `(${who.agent})`,
      kind.padEnd(kindColumns),
    ];
    const prefix = neutraliseControlsInLine(place.filter((part) => part !== '').join('  '));
    const start = fitColumns(`${prefix}  `, columns);
    return start + fitColumns(neutraliseControlsInLine(text), columns - columnsOf(start), 'end');
  }
}

function keyOf(dispatchId: string, agentId = ''): string {
  return `${dispatchId} ${agentId}`;
}
