import type { JsonObject } from '@hansard/events';
import { type Block, uuidOf, type WrittenRow, type WrittenSession } from './written-sessions.ts';

type Message = NonNullable<Block['message']>;

/** A row that counts among some sessions, and the session that it counts in. */
export interface OwnedRow {
  readonly row: WrittenRow;
  readonly block: Block;
  readonly session: WrittenSession;
}

/** A message that counts among some sessions. */
export interface OwnedMessage {
  readonly message: Message;
  readonly session: WrittenSession;
  /** Of the session that it counts in. */
  readonly rows: readonly WrittenRow[];
  readonly tokens: number;
  readonly at: string;
}

const rowsOf = ({ rows, agents }: WrittenSession): readonly WrittenRow[] => [
  ...rows,
  ...agents.flatMap((agent) => agent.rows),
];

/** What counts among some sessions: each row and each message once, in the session that has it first. */
export class WorldTruth {
  readonly sessions: readonly WrittenSession[];
  readonly #origins: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(sessions: readonly WrittenSession[]) {
    this.sessions = sessions;
    this.#origins = new Map(sessions.map((session) => [session.id, originsOf(session, sessions)]));
  }

  rows(): OwnedRow[] {
    const having = new Map<string, OwnedRow[]>();
    for (const session of this.sessions)
      for (const row of rowsOf(session))
        if (row.block !== null) {
          const { block } = row;
          const known = having.get(block.key);
          if (known === undefined) having.set(block.key, [{ row, block, session }]);
          else known.push({ row, block, session });
        }
    return [...having.values()].map((all) => this.#first(all));
  }

  messages(): OwnedMessage[] {
    const having = new Map<string, { session: WrittenSession; message: Message; rows: WrittenRow[] }[]>();
    for (const session of this.sessions) {
      const own = Map.groupBy(rowsOf(session), ({ block }) => block?.message?.key ?? '');
      for (const [key, rows] of own) {
        const message = rows[0]?.block?.message;
        if (message == null) continue;
        having.set(key, [...(having.get(key) ?? []), { session, message, rows }]);
      }
    }
    return [...having.values()].map((all) => {
      const first = this.#first(all);
      const last = first.rows.reduce((one, other) => (tokensOf(other) > tokensOf(one) ? other : one));
      const tokens = Math.max(...all.flatMap(({ rows }) => rows.map(tokensOf)));
      return { ...first, tokens, at: String(last.record.timestamp) };
    });
  }

  /** The calls and the tokens of each day and model. */
  cells(): Record<string, string> {
    const cells = new Map<string, { calls: number; tokens: number }>();
    for (const { message, tokens, at } of this.messages()) {
      const key = `${at.slice(0, 10)} ${message.model}`;
      const cell = cells.get(key) ?? { calls: 0, tokens: 0 };
      cells.set(key, { calls: cell.calls + 1, tokens: cell.tokens + 3 * tokens });
    }
    return Object.fromEntries(
      [...cells].sort().map(([key, { calls, tokens }]) => [key, `${calls} calls, ${tokens}`]),
    );
  }

  #first<T extends { readonly session: WrittenSession }>(having: readonly T[]): T {
    const ids = new Set(having.map(({ session }) => session.id));
    const roots = having.filter(({ session }) => !this.#reaches(session.id, ids));
    const unmarked = roots.filter(({ session }) => this.#origins.get(session.id)?.size === 0);
    const best = unmarked.length > 0 ? unmarked : roots.length > 0 ? roots : having;
    return best.reduce((one, other) => (one.session.id < other.session.id ? one : other));
  }

  #reaches(id: string, targets: ReadonlySet<string>): boolean {
    const seen = new Set([id]);
    const waiting = [...(this.#origins.get(id) ?? [])];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (at !== id && targets.has(at)) return true;
      if (seen.has(at)) continue;
      seen.add(at);
      waiting.push(...(this.#origins.get(at) ?? []));
    }
    return false;
  }
}

const tokensOf = ({ block }: WrittenRow) => block?.tokens ?? 0;

/** The sessions that a session's records name, and those that say that they continue in it. */
function originsOf(session: WrittenSession, sessions: readonly WrittenSession[]): Set<string> {
  const named = session.rows.flatMap(({ record: { forkedFrom, sessionId, requestSessionId } }) => {
    const of = (forkedFrom as JsonObject | undefined)?.sessionId;
    return of ?? (sessionId === session.id ? (requestSessionId ?? []) : (sessionId ?? []));
  });
  const continued = sessions
    .filter(({ lines }) => lines.some(({ continuedInSessionId }) => continuedInSessionId === session.id))
    .map(({ id }) => id);
  return new Set([...named.map(String), ...continued].filter((id) => id !== session.id));
}

/** The answers of a session that can be trained, by the uuid of their first row: on its current branch, whole, and with all results. */
export function trainedIn(session: WrittenSession): Set<string> {
  const { current, rows, agents, open } = session;
  const path = new Set(open?.before ?? current?.path ?? session.programs[0]?.path);
  const trained = new Set<string>();
  const answers = rows.filter(({ block }) => block?.message != null);
  for (const [key, own] of Map.groupBy(answers, ({ block }) => block?.message?.key)) {
    const from = answers.indexOf(own[0] as WrittenRow);
    const isSplit = answers.slice(from, from + own.length).some(({ block }) => block?.message?.key !== key);
    if (isSplit || !own.every((row) => path.has(row))) continue;
    const isLast = [...path].findLast(({ block }) => block?.message != null)?.block?.message?.key === key;
    const results = new Set(
      [...path].map(({ block }) => (block?.kind === 'result' ? block.callId : undefined)),
    );
    const isOpen = own.some(({ block }) => block?.kind === 'call' && !results.has(block.callId));
    if (!isLast || !isOpen) trained.add(uuidOf(own[0] as WrittenRow));
  }
  for (const { rows: said, inherited } of agents)
    for (const row of inherited.path.length > 0 ? [] : said)
      if (row.block?.message != null) trained.add(uuidOf(row));
  return trained;
}

/** The rows that no program has any more. A rewind that no row has followed takes nothing back yet. */
export function abandonedIn({ rows, programs, open }: WrittenSession): Set<string> {
  const live = new Set(open?.before ?? programs.flatMap(({ path }) => path));
  return new Set(rows.flatMap((row) => (row.block === null || live.has(row) ? [] : [uuidOf(row)])));
}
