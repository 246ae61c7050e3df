import type { DispatchLog } from '@hansard/dispatch';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { createLogIndex, type LogIndex } from '@hansard/views';
import type { LensAgent, LensPart } from '../../answers.ts';
import type { OpenDispatch } from '../viewed-store.ts';

/** The most events that a lens is made from: the last ones. */
const mostEvents = 50_000;
/** Milliseconds without a question after which an index is forgotten. */
const keptMs = 30_000;

/** The last events of a log, indexed. Positions of the index are those of its own events: `positionOf` gives those of the log. */
export class RecentIndex {
  readonly index: LogIndex;
  readonly title: string;
  readonly first: number;
  readonly end: number;
  /** The log has more events than these before the first one. */
  readonly isPartial: boolean;
  readonly #shift: number;

  constructor(
    index: LogIndex,
    { title, first, end, before }: { title: string; first: number; end: number; before: number },
  ) {
    this.index = index;
    this.title = title;
    this.first = first;
    this.end = end;
    this.isPartial = first > 0;
    this.#shift = first - before;
  }

  positionOf(position: number): number {
    return position + this.#shift;
  }

  part(notes: readonly string[] = []): LensPart {
    const { title, first, end } = this;
    const left = this.isPartial
      ? [
          `Made from the last ${end - first} of ${end} events. What was said and heard before is missing, and agents that were created before can lack their names.`,
        ]
      : [];
    return { title, first, end, notes: [...left, ...notes] };
  }

  agents(): LensAgent[] {
    return [...this.index.agents.values()].map(({ agentId: id, label }) => ({ id, name: label }));
  }
}

interface Kept {
  readonly log: DispatchLog;
  readonly recent: RecentIndex;
}

/** Indexes logs for lenses. It keeps the last index for a while: one of 50,000 events takes 100 MB. */
export class RecentIndexes {
  #kept: Kept | null = null;
  #forgetting: NodeJS.Timeout | null = null;

  async of({ log, rows }: OpenDispatch): Promise<RecentIndex> {
    const { first, events } = await log.last(1);
    if (this.#kept?.log !== log || this.#kept.recent.end !== first + events.length) {
      this.#kept = null;
      const read = await log.last(mostEvents);
      const { title, role } = await log.refresh();
      const known = await rows.agentEventsBefore(read.first);
      this.#kept = {
        log,
        recent: new RecentIndex(createLogIndex([...known, ...read.events]), {
          title: neutraliseControlsInLine(title ?? role),
          first: read.first,
          end: read.first + read.events.length,
          before: known.length,
        }),
      };
    }
    this.#keep();
    return this.#kept.recent;
  }

  #keep(): void {
    if (this.#forgetting !== null) clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => {
      this.#kept = null;
    }, keptMs);
    this.#forgetting.unref();
  }
}
