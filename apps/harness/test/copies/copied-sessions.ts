import type { JsonObject } from '@hansard/events';
import { randomFrom } from '@hansard/testing';

const kinds = {
  old: ['resume', 'resume-print'],
  new: ['fork-session', 'background', 'paid', 'branch', 'branch-of-all', 'sdk'],
} as const;

type CopyKind = (typeof kinds)['old' | 'new'][number];

/** A prompt, an answer or a result, wherever it is copied. */
interface Entry {
  /** Two entries can have the same word: a gateway gives the same answer again, with the same id. */
  readonly key: string;
  readonly word: string;
  readonly kind: 'prompt' | 'answer' | 'call' | 'result';
  /** Of a call and an answer. */
  readonly messageId: string;
  readonly tokens: number;
}

interface Row {
  readonly entry: Entry;
  readonly record: JsonObject;
}

/** A session of Claude Code: its file, and what the file says. */
export interface MadeSession {
  readonly id: string;
  readonly isOld: boolean;
  readonly rows: Row[];
  /** Records without an entry, each after N rows. */
  readonly others: { readonly after: number; readonly record: JsonObject }[];
  /** The uuid that the next row follows; null: none. */
  head: string | null;
}

const model = (entry: Entry) => (entry.tokens % 2 === 0 ? 'claude-opus-4-8' : 'claude-haiku-4-5-20251001');

/** Random sessions with forks, copies and continuations of each other. Every prompt, answer and result has a word of its own. */
export class CopiedSessions {
  readonly sessions: MadeSession[] = [];
  readonly #random: () => number;
  #number = 0;
  #time = Date.parse('2026-05-01T06:00:00.000Z');

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    const count = 2 + this.below(5);
    for (let at = 0; at < count; at += 1) {
      const origin = at === 0 || this.#random() < 0.15 ? null : this.pick(this.sessions);
      const session = origin === null ? this.#begin(this.#random() < 0.35) : this.#copy(origin);
      if (origin === null) this.#repeat(session);
      this.#talk(session, 1 + this.below(3));
      if (origin !== null && this.#random() < 0.5) this.#talk(origin, 1);
    }
  }

  below(most: number): number {
    return Math.floor(this.#random() * most);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  shuffled<T>(values: readonly T[]): T[] {
    return values
      .map((value) => ({ value, at: this.#random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ value }) => value);
  }

  #id(): string {
    const digits = () => this.below(0x10000).toString(16).padStart(4, '0');
    const [a, b, c, d, e, f, g, h] = Array.from({ length: 8 }, digits);
    return `${a}${b}-${c}-${d}-${e}-${f}${g}${h}`;
  }

  #begin(isOld: boolean): MadeSession {
    const session: MadeSession = { id: this.#id(), isOld, rows: [], others: [], head: null };
    this.sessions.push(session);
    return session;
  }

  #now(): string {
    this.#time += 1_000 * (1 + this.below(20_000));
    return new Date(this.#time).toISOString();
  }

  #talk(session: MadeSession, turns: number): void {
    for (let turn = 0; turn < turns; turn += 1) {
      const answers = session.rows.filter(({ entry }) => entry.kind === 'answer');
      if (answers.length > 0 && this.#random() < 0.2) {
        const back = this.#random() < 0.2 ? null : this.pick(answers).record.uuid;
        session.head = typeof back === 'string' ? back : null;
      }
      this.#say(session, 'prompt');
      if (this.#random() < 0.4) {
        const call = this.#say(session, 'call');
        this.#say(session, 'result', call.messageId);
      }
      this.#say(session, 'answer');
    }
  }

  #say(session: MadeSession, kind: Entry['kind'], called = ''): Entry {
    this.#number += 1;
    const word = `w${this.#number}x`;
    const entry: Entry = {
      key: word,
      word,
      kind,
      messageId: `msg_${this.#number}`,
      tokens: 1 + this.below(1_000),
    };
    const isUser = kind === 'prompt' || kind === 'result';
    const more = this.#random() < 0.3 ? [{ type: 'text', text: 'And so on.' }] : [];
    const text = [{ type: 'text', text: word }, ...more];
    const content =
      kind === 'prompt'
        ? word
        : kind === 'result'
          ? [{ type: 'tool_result', tool_use_id: `toolu_${called}`, content: word }]
          : kind === 'call'
            ? [{ type: 'tool_use', id: `toolu_${entry.messageId}`, name: 'Read', input: { file_path: word } }]
            : text;
    const usage = { input_tokens: entry.tokens, output_tokens: 2 * entry.tokens };
    const answer = { id: entry.messageId, type: 'message', model: model(entry), usage };
    const message = isUser
      ? { role: 'user', content }
      : { ...answer, role: 'assistant', content, stop_reason: kind === 'call' ? 'tool_use' : 'end_turn' };
    const record: JsonObject = {
      parentUuid: session.head,
      isSidechain: false,
      cwd: '/srv/shop',
      sessionId: session.id,
      version: session.isOld ? '1.0.56' : '2.1.260',
      type: isUser ? 'user' : 'assistant',
      uuid: this.#id(),
      timestamp: this.#now(),
      message: message as JsonObject,
    };
    session.head = String(record.uuid);
    session.rows.push({ entry, record });
    return entry;
  }

  /** Another session has the same prompts and answers with the same ids, and is not a copy: a gateway or a script gave them. */
  #repeat(session: MadeSession): void {
    const other = this.pick(this.sessions);
    if (session.isOld || other.isOld || other === session || this.#random() < 0.5) return;
    for (const { entry, record } of currentRows(other).slice(0, 2)) {
      const { forkedFrom: _, requestSessionId: __, sessionKind: ___, ...fields } = record;
      const own = {
        uuid: this.#id(),
        parentUuid: session.head,
        timestamp: this.#now(),
        sessionId: session.id,
      };
      session.head = own.uuid;
      session.rows.push({
        entry: { ...entry, key: `${entry.key} of ${session.id}` },
        record: { ...fields, ...own },
      });
    }
  }

  #copy(origin: MadeSession): MadeSession {
    const kind: CopyKind = this.pick(origin.isOld ? kinds.old : kinds.new);
    const session = this.#begin(origin.isOld);
    const isWhole = kind === 'branch-of-all';
    const all = isWhole ? origin.rows : currentRows(origin);
    const ends = all.flatMap(({ entry }, at) => (entry.kind === 'answer' ? [at + 1] : []));
    const rows = all.slice(0, isWhole || kind === 'background' ? all.length : this.pick(ends));
    const uuids = new Map<string, string>();
    const now = this.#now();
    for (const [at, { entry, record }] of rows.entries()) {
      const last = session.rows.at(-1)?.record.uuid ?? null;
      const uuid = kind === 'sdk' || kind === 'resume-print' ? this.#id() : String(record.uuid);
      uuids.set(String(record.uuid), uuid);
      const isAnswer = record.type === 'assistant';
      const from = { sessionId: origin.id, messageUuid: String(record.uuid) };
      const paid = record.requestSessionId ?? record.sessionId ?? '';
      const changed: JsonObject = {
        'fork-session': { sessionId: session.id },
        background: { sessionId: session.id, sessionKind: 'bg' },
        paid: { sessionId: session.id, ...(isAnswer && { requestSessionId: paid }) },
        branch: { sessionId: session.id, forkedFrom: from },
        'branch-of-all': { sessionId: session.id, forkedFrom: from },
        sdk: { sessionId: session.id, forkedFrom: from, ...(at === rows.length - 1 && { timestamp: now }) },
        resume: isAnswer ? { sessionId: session.id, timestamp: now } : {},
        'resume-print': { sessionId: session.id, timestamp: now },
      }[kind] as JsonObject;
      const copy = { ...record, ...changed, uuid, parentUuid: last };
      session.rows.push(this.#edited(session, { entry, record: copy }));
    }
    session.head = String(session.rows.at(-1)?.record.uuid);
    if (kind === 'background') {
      const record = {
        type: 'continued-in',
        timestamp: now,
        sessionId: origin.id,
        continuedInSessionId: session.id,
      };
      origin.others.push({ after: origin.rows.length, record });
    }
    return session;
  }

  /** Sometimes a copied answer is edited in its file. It is then another answer with the same message id. */
  #edited(session: MadeSession, { entry, record }: Row): Row {
    if (entry.kind !== 'answer' || session.isOld || this.#random() >= 0.03) return { entry, record };
    this.#number += 1;
    const edited = { ...entry, key: `w${this.#number}x`, word: `w${this.#number}x` };
    const message = { ...(record.message as JsonObject), content: [{ type: 'text', text: edited.word }] };
    return { entry: edited, record: { ...record, message } };
  }
}

/** The rows of the current branch, which ends with the head. */
export function currentRows({ rows, head }: MadeSession): Row[] {
  const byUuid = new Map(rows.map((row) => [row.record.uuid, row]));
  const path: Row[] = [];
  for (let at = byUuid.get(head); at !== undefined; at = byUuid.get(at.record.parentUuid ?? ''))
    path.unshift(at);
  return path;
}

/** The records of the file of a session, in order. */
export function recordsOf({ rows, others }: MadeSession): JsonObject[] {
  const records: JsonObject[] = [];
  for (const [at, { record }] of rows.entries()) {
    for (const other of others) if (other.after === at) records.push(other.record);
    records.push(record);
  }
  for (const other of others) if (other.after === rows.length) records.push(other.record);
  return records;
}

/** An entry, and the row that counts among some sessions. */
export interface OwnedEntry {
  readonly entry: Entry;
  readonly session: MadeSession;
  readonly record: JsonObject;
}

/** The second reading of the files: each entry once among some sessions, in the session that has it first. */
export function ownedEntries(sessions: readonly MadeSession[]): OwnedEntry[] {
  const byKey = new Map<string, OwnedEntry[]>();
  for (const session of sessions)
    for (const { entry, record } of session.rows)
      byKey.set(entry.key, [...(byKey.get(entry.key) ?? []), { entry, session, record }]);
  const origins = new Map(sessions.map((session) => [session.id, originsOf(session, sessions)]));
  return [...byKey.values()].map((having) => {
    const ids = new Set(having.map(({ session }) => session.id));
    const roots = having.filter(({ session }) => !reaches(session.id, ids, origins));
    const unmarked = roots.filter(({ session }) => origins.get(session.id)?.size === 0);
    const best = unmarked.length > 0 ? unmarked : roots;
    return best.reduce((one, other) => (one.session.id < other.session.id ? one : other));
  });
}

function originsOf(session: MadeSession, sessions: readonly MadeSession[]): Set<string> {
  const named = session.rows.flatMap(({ record: { forkedFrom, sessionId, requestSessionId } }) => {
    const of = (forkedFrom as JsonObject | undefined)?.sessionId;
    return of ?? (sessionId === session.id ? (requestSessionId ?? []) : (sessionId ?? []));
  });
  const continued = sessions
    .filter(({ others }) => others.some(({ record }) => record.continuedInSessionId === session.id))
    .map(({ id }) => id);
  return new Set([...named.map(String), ...continued].filter((id) => id !== session.id));
}

function reaches(
  id: string,
  targets: ReadonlySet<string>,
  origins: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const seen = new Set<string>([id]);
  const waiting = [...(origins.get(id) ?? [])];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at !== id && targets.has(at)) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    waiting.push(...(origins.get(at) ?? []));
  }
  return false;
}

/** The cells of usage: by day and model, the calls and their tokens. */
export function cellsOf(owned: readonly OwnedEntry[]): Record<string, string> {
  const cells = new Map<string, { calls: number; tokens: number }>();
  for (const { entry, record } of owned) {
    if (entry.kind !== 'answer' && entry.kind !== 'call') continue;
    const key = `${String(record.timestamp).slice(0, 10)} ${model(entry)}`;
    const cell = cells.get(key) ?? { calls: 0, tokens: 0 };
    cells.set(key, { calls: cell.calls + 1, tokens: cell.tokens + 3 * entry.tokens });
  }
  return Object.fromEntries(
    [...cells].sort().map(([key, { calls, tokens }]) => [key, `${calls} calls, ${tokens}`]),
  );
}
