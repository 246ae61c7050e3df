import {
  BalanceSheet,
  type CapturedEvent,
  definedOnly,
  describeIssues,
  formatErrors,
  type HansardError,
  jsonObjectSchema,
  messageOf,
} from '@hansard/events';
import { z } from 'zod';
import type { ReadGame } from '../games/game-lines.ts';
import type { FormatDiagnostic } from '../lines/format-diagnostic.ts';
import { originOf } from '../lines/log-origin.ts';
import { createNamePool } from '../lines/name-pool.ts';
import { bytesOf } from '../lines/parse-lines.ts';
import type { ReadOptions } from '../sessions/read-session.ts';

const matchSchema = z.looseObject({
  chat: z.array(
    z.looseObject({
      from: z.string(),
      to: z.array(z.string()),
      content: z.string(),
      phase: z.string().optional(),
    }),
  ),
  players: z.record(z.string(), z.looseObject({ model: z.string().optional() })).default({}),
});

/**
 * Reads a werewolf match, one JSON document with the messages, their receivers and the end of the match. The agents in `to`
 * receive a message, no others. The messages have no times, so no event has one. A match does not record deaths; the
 * players that messages to the majority reach still take part (`game:living_players`).
 * @throws FORMAT_NO_RECORDS
 */
export function readWerewolfMatch(source: string | Uint8Array, { file }: ReadOptions = {}): ReadGame {
  const match = parseMatch(source, file);
  const sheet = new BalanceSheet();
  for (const [unit, count] of [
    ['files', 1],
    ['records', match.chat.length],
    ['bytes', bytesOf(source)],
  ] as const)
    sheet.take(unit, count);
  const reading = new MatchReading(match, file, sheet);
  for (const [index, message] of match.chat.entries()) reading.addMessage(index, message);
  sheet.record('files');
  sheet.record('bytes', bytesOf(source));
  return reading.finish();
}

type Match = z.output<typeof matchSchema>;

class MatchReading {
  readonly #match: Match;
  readonly #file: string | undefined;
  readonly #events: CapturedEvent[] = [];
  readonly #diagnostics: FormatDiagnostic[] = [];
  readonly #eventIds = createNamePool(new Set());
  readonly #names = createNamePool(new Set());
  readonly #agentIds = new Map<string, string>();
  readonly #company: ReturnType<typeof createMatchCompany>;

  readonly #sheet: BalanceSheet;

  constructor(match: Match, file: string | undefined, sheet: BalanceSheet) {
    this.#match = match;
    this.#file = file;
    this.#sheet = sheet;
    for (const [name, { model }] of Object.entries(match.players)) this.#join(name, model);
    this.#company = createMatchCompany(Object.keys(match.players));
    this.#writeLiving(this.#company.first);
  }

  addMessage(index: number, { from, to, content: text, phase, ...record }: Match['chat'][number]): void {
    const agentId = this.#join(from);
    for (const name of to.filter((name) => !this.#agentIds.has(name))) {
      this.#report(
        'agent_not_created',
        `chat[${index}] is to ${name}, which is not a player and has said nothing so far.`,
      );
      this.#join(name);
    }
    this.#writeLiving(this.#company.hear(from, to));
    const id = this.#eventIds.take(`chat-${index + 1}`);
    const turn = definedOnly({ turn: phase });
    const data = jsonObjectSchema.parse({ text, ...turn, record: { to, ...record } });
    this.#write({ id, type: 'agent:text', agentId, messageId: id, data });
    this.#sheet.record('records');
    const others = [...new Set(to)].filter((name) => name !== from);
    for (const [number, name] of others.entries())
      this.#write({
        id: this.#eventIds.take(`${id}.${number + 1}`),
        type: 'user:message',
        agentId: this.#join(name),
        substance: id,
        data: { text, source: { kind: 'agent', agentId } },
      });
  }

  finish(): ReadGame {
    const { chat, players, ...rest } = this.#match;
    // A match that is still running may have null here.
    const isComplete = (rest.winner ?? null) !== null;
    if (isComplete) {
      const data = jsonObjectSchema.parse({ ...rest, players });
      this.#write({ id: this.#eventIds.take('match-end'), type: 'game:game_end', data });
    } else this.#report('game_without_end', 'The match does not name a winner.');
    const origin = originOf(jsonObjectSchema.parse(chat[0]), this.#file, jsonObjectSchema.parse(rest));
    const report = { records: chat.length, diagnostics: this.#diagnostics, balance: this.#sheet.balance };
    return { events: this.#events, report, isComplete, origin };
  }

  #report(code: FormatDiagnostic['code'], message: string): void {
    this.#diagnostics.push({ code, line: 1, message, ...definedOnly({ file: this.#file }) });
  }

  #writeLiving(names: readonly string[] | null): void {
    if (names === null) return;
    const data = { living_players: [...names] };
    this.#write({ id: this.#eventIds.take('living'), type: 'game:living_players', data });
  }

  #join(name: string, languageModel?: string): string {
    const known = this.#agentIds.get(name);
    if (known !== undefined) return known;
    const agentId = this.#names.take(name === '' ? 'player' : name);
    this.#agentIds.set(name, agentId);
    const data = { name, ...definedOnly({ languageModel }) };
    this.#write({ id: this.#eventIds.take(`player-${agentId}`), type: 'agent:created', agentId, data });
    return agentId;
  }

  #write({ id, type, ...fields }: Omit<CapturedEvent, 'timestamp'>): void {
    this.#events.push({ id, type, timestamp: null, ...fields });
  }
}

/** Whether a text is a match with at least one message. */
export function isWerewolfMatch(text: string): boolean {
  try {
    const checked = matchSchema.safeParse(JSON.parse(text));
    return checked.success && checked.data.chat.length > 0;
  } catch {
    return false;
  }
}

function parseMatch(source: string | Uint8Array, file = 'The file'): z.output<typeof matchSchema> {
  let value: unknown;
  try {
    // Decoding removes a byte order mark.
    value = JSON.parse(typeof source === 'string' ? source : new TextDecoder().decode(source));
  } catch (cause) {
    throw notMatch(file, `it is not JSON: ${messageOf(cause)}`, cause);
  }
  const checked = matchSchema.safeParse(value);
  if (checked.success && checked.data.chat.length > 0) return checked.data;
  if (checked.success) throw notMatch(file, 'it has no messages so far.');
  throw notMatch(file, describeIssues(checked.error, value).text, checked.error);
}

function notMatch(file: string, reason: string, cause?: unknown): HansardError {
  return formatErrors.error('FORMAT_NO_RECORDS', `${file} is not a werewolf match: ${reason}`, {
    cause,
    details: { file },
  });
}

/** The players that take part in a match, according to its messages so far. */
interface MatchCompany {
  /** All players; null if the match names none. */
  readonly first: readonly string[] | null;
  /** Takes a message. Returns the players that take part from then on, if they changed. */
  hear(from: string, to: readonly string[]): readonly string[] | null;
}

/**
 * The wolves are always fewer than half of the living players, or the match is over. So a message that reaches more than
 * half of the players that take part is said to all of them, and a player that it does not reach has died. An agent that
 * speaks takes part.
 */
function createMatchCompany(players: readonly string[]): MatchCompany {
  let living: readonly string[] = players;
  return {
    first: players.length === 0 ? null : players,

    hear(from, to) {
      const present = players.filter((name) => living.includes(name) || name === from);
      const reached = present.filter((name) => name === from || to.includes(name));
      const now = reached.length * 2 > present.length ? reached : present;
      const isAsBefore = now.length === living.length && now.every((name) => living.includes(name));
      living = now;
      return isAsBefore ? null : now;
    },
  };
}
