import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { CopyFinder, type SessionCopies, sessionToCompare, shortId } from '@hansard/facts';
import { agentLabel } from '../agents/agent-label.ts';
import { type KnownRow, knownBy } from '../knowledge/known-by.ts';
import type { LogIndex } from '../log/log-index.ts';
import { compareStarts, later, startsOf } from '../task/in-order-of-time.ts';
import { dispatchedAgent } from '../words/hearing-words.ts';
import { type DialogRow, dialogOf } from './dialog.ts';
import { type PerspectiveRow, perspectiveOf } from './perspective.ts';

/** The log of one session, with its envelope. */
export interface IndexedSession {
  readonly envelope: DispatchEnvelope;
  readonly index: LogIndex;
}

/** Names one agent of one session. Agents of two sessions are two agents, also if their names are equal. */
export interface AgentRef {
  readonly dispatchId: string;
  /** '' for the dispatched agent. */
  readonly agentId: string;
}

/** A row of the view of one session, in a view of several. */
export interface JointRow<Row> {
  readonly dispatchId: string;
  /** The agent whose view it is from; null: the view of a whole session. */
  readonly agentId: string | null;
  /** The session that has the same event, and comes before this one in the order; null: none. A sum counts a copied event once. */
  readonly copyOf: string | null;
  readonly row: Row;
}

/** An event of a session. */
interface Held {
  readonly event: CapturedEvent;
  readonly dispatchId: string;
}

/** A log of a view, and the time of each position: the latest so far, and not before the start. */
interface Timed extends IndexedSession {
  readonly rank: number;
  readonly times: readonly string[];
}

/**
 * Several sessions seen together. The rows of all views are in the order of time, then session, then position, and the rows of one
 * session or agent keep their order. The log of a session says nothing about the agents of another one.
 *
 * An event is a copy if an event of an earlier session is equal to it, with its id and time, and not both are imports: ids in the files of
 * others are often counted from 1. Equal ids with other content are two events. An event of an import is a copy if its session began with a copy of another
 * session's records, which `CopyFinder` finds.
 */
export class JointLog {
  /** In the order of their starts: a worker comes after the session that started it. */
  readonly logs: readonly IndexedSession[];
  readonly #logs: ReadonlyMap<string, Timed>;
  /** By id, in the order of the sessions. Few ids are in several. */
  readonly #events = new Map<string, readonly Held[]>();
  /** Of imports. */
  readonly #copies: ReadonlyMap<string, SessionCopies>;

  /** @throws TypeError for two logs of one session */
  constructor(logs: readonly IndexedSession[]) {
    const starts = startsOf(logs).sort(compareStarts);
    this.logs = starts.map(({ source }) => source);
    this.#logs = new Map(
      starts.map(({ source: { envelope, index }, time }, rank) => {
        return [envelope.dispatchId, { envelope, index, rank, times: timesOf(index, time) }];
      }),
    );
    if (this.#logs.size < logs.length) throw new TypeError('Two of the logs are of one session.');
    this.#copies = copiesOf(this.logs);
    for (const { envelope, index } of this.logs)
      for (const event of index.events)
        this.#events.set(event.id, [
          ...(this.#events.get(event.id) ?? []),
          { event, dispatchId: envelope.dispatchId },
        ]);
  }

  /** The index of a session. @throws TypeError for a session that is not among the logs */
  indexOf(dispatchId: string): LogIndex {
    return this.#log(dispatchId).index;
  }

  /**
   * The sayings of all sessions, or those among the chosen agents of each: see `dialogOf`. A copied saying has a second row only if
   * its session delivered it to someone else.
   *
   * @throws TypeError for an agent that is not in its session
   */
  dialog(agents?: readonly AgentRef[]): JointRow<DialogRow>[] {
    const chosen = agents === undefined ? null : Map.groupBy(agents, ({ dispatchId }) => dispatchId);
    for (const dispatchId of chosen?.keys() ?? []) this.#log(dispatchId);
    const views = this.logs.flatMap(({ envelope: { dispatchId }, index }) => {
      const refs = chosen?.get(dispatchId);
      if (chosen !== null && refs === undefined) return [];
      const rows = dialogOf(
        index,
        refs?.map(({ agentId }) => agentId),
      );
      return [{ dispatchId, agentId: null, rows }];
    });
    return withoutCopies(this.#join(views), ({ dispatchId, row }) =>
      row.audience.some(({ event }) => this.#originOf(dispatchId, event) === null),
    );
  }

  /**
   * All that the agents heard, thought, did, received and said: see `perspectiveOf`. A copied event has one row, where the agent of its first session
   * is among them.
   *
   * @throws TypeError for an agent that is not in its session
   */
  perspective(agents: readonly AgentRef[]): JointRow<PerspectiveRow>[] {
    const views = agents.map((ref) => ({
      ...ref,
      rows: perspectiveOf(this.indexOf(ref.dispatchId), ref.agentId),
    }));
    return withoutCopies(this.#join(views), () => false);
  }

  /**
   * All that each of the agents had received by the end: see `knownBy`. What it received in a copy it knew, too, so copies have rows.
   *
   * @throws TypeError for an agent that is not in its session
   */
  known(agents: readonly AgentRef[]): JointRow<KnownRow>[] {
    return this.#join(
      agents.map((ref) => ({ ...ref, rows: knownBy(this.indexOf(ref.dispatchId), ref.agentId) })),
    );
  }

  /**
   * The rows as text: below a heading with the session, and the agent, those that follow each other and are of it. `render` prints rows of
   * one session.
   */
  render<Row>(
    rows: readonly JointRow<Row>[],
    render: (index: LogIndex, rows: readonly Row[]) => string,
  ): string {
    const runs: JointRow<Row>[][] = [];
    for (const row of rows) {
      const run = runs.at(-1);
      if (run?.[0] !== undefined && headOf(run[0]) === headOf(row)) run.push(row);
      else runs.push([row]);
    }
    return runs
      .map((run) => {
        const [first] = run as [JointRow<Row>];
        return `${this.#heading(first)}\n${render(
          this.indexOf(first.dispatchId),
          run.map(({ row }) => row),
        )}`;
      })
      .join('\n\n');
  }

  #heading({ dispatchId, agentId, copyOf }: JointRow<unknown>): string {
    const { envelope, index } = this.#log(dispatchId);
    const session = neutraliseControlsInLine(`${envelope.role} ${shortId(dispatchId)}`);
    const agent = agentId === null ? '' : `${agentLabel(index, agentId) || dispatchedAgent}, `;
    return `${agent}${session}${copyOf === null ? '' : ` (copied from ${shortId(copyOf)})`}`;
  }

  #join<Row extends { readonly id: string; readonly event: CapturedEvent }>(
    views: readonly (AgentRefOrSession & { readonly rows: readonly Row[] })[],
  ): JointRow<Row>[] {
    const placed = views.flatMap(({ dispatchId, agentId, rows }) => {
      const { index, times, rank } = this.#log(dispatchId);
      let latest = 0;
      return rows.map((row) => {
        latest = Math.max(latest, index.eventWithId(row.id)?.position ?? 0);
        const joint = { dispatchId, agentId, copyOf: this.#originOf(dispatchId, row.event), row };
        return { joint, time: times[latest] ?? '', rank, position: latest };
      });
    });
    // A stable sort: rows of one view with equal places keep their order.
    placed.sort(
      (one, other) => compare(one.time, other.time) || one.rank - other.rank || one.position - other.position,
    );
    return placed.map(({ joint }) => joint);
  }

  /** The earlier session that an event is copied from. */
  #originOf(dispatchId: string, event: CapturedEvent): string | null {
    const copied = this.#copies.get(dispatchId)?.copied.get(event.id);
    if (copied !== undefined) return copied;
    for (const held of this.#events.get(event.id) ?? []) {
      if (held.dispatchId === dispatchId) return null;
      const areImports = this.#isImport(dispatchId) && this.#isImport(held.dispatchId);
      if (!areImports && JSON.stringify(held.event) === JSON.stringify(event)) return held.dispatchId;
    }
    return null;
  }

  #isImport(dispatchId: string): boolean {
    return this.#log(dispatchId).envelope.source !== null;
  }

  #log(dispatchId: string): Timed {
    const log = this.#logs.get(dispatchId);
    if (log === undefined) throw new TypeError(`No log of the session ${dispatchId} is given.`);
    return log;
  }
}

/** Leaves out a copy whose origin has a row, unless there is more to it. */
function withoutCopies<Row extends { readonly id: string }>(
  rows: readonly JointRow<Row>[],
  hasMore: (row: JointRow<Row>) => boolean,
): JointRow<Row>[] {
  const shown = new Set(rows.map(({ dispatchId, row }) => `${dispatchId} ${row.id}`));
  return rows.filter(
    (one) => one.copyOf === null || !shown.has(`${one.copyOf} ${one.row.id}`) || hasMore(one),
  );
}

type AgentRefOrSession = Pick<JointRow<unknown>, 'dispatchId' | 'agentId'>;

function headOf({
  dispatchId,
  agentId,
  copyOf,
}: AgentRefOrSession & Pick<JointRow<unknown>, 'copyOf'>): string {
  return JSON.stringify([dispatchId, agentId, copyOf]);
}

function timesOf({ events }: LogIndex, start: string): readonly string[] {
  let latest = start;
  return events.map(({ timestamp }) => {
    latest = later(latest, timestamp);
    return latest;
  });
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function copiesOf(logs: readonly IndexedSession[]): ReadonlyMap<string, SessionCopies> {
  const finder = new CopyFinder();
  for (const { envelope, index } of logs) {
    if (envelope.source?.heads === undefined) continue;
    finder.begin(sessionToCompare(envelope));
    for (const event of index.events) finder.add(event);
  }
  return finder.find();
}
