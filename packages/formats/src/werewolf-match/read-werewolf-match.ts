import {
  type CapturedEvent,
  definedOnly,
  describeIssues,
  formatErrors,
  type HansardError,
  jsonObjectSchema,
  messageOf,
  toTimestamp,
} from '@hansard/events';
import { z } from 'zod';
import type { ReadGame } from '../games/game-lines.ts';
import type { FormatDiagnostic } from '../lines/format-diagnostic.ts';
import { originOf } from '../lines/log-origin.ts';
import { createNamePool } from '../lines/name-pool.ts';
import type { ReadOptions } from '../sessions/read-session.ts';
import { createMatchCompany } from './match-company.ts';

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
 * receive a message, no others. The messages have no times: all get the time of import. A match does not record deaths; the
 * players that messages to the majority reach still take part (`game:living_players`).
 * @throws FORMAT_NO_RECORDS
 */
export function readWerewolfMatch(
  source: string | Uint8Array,
  { file, now = Date.now }: ReadOptions = {},
): ReadGame {
  const { chat, players, ...rest } = parseMatch(source, file);
  const timestamp = toTimestamp(now());
  const events: CapturedEvent[] = [];
  const diagnostics: FormatDiagnostic[] = [];
  const eventIds = createNamePool(new Set());
  const pool = createNamePool(new Set());
  const agentIds = new Map<string, string>();

  for (const [name, { model }] of Object.entries(players)) join(name, model);
  const company = createMatchCompany(Object.keys(players));
  writeLiving(company.first);
  for (const [index, { from, to, content: text, phase, ...record }] of chat.entries()) {
    const agentId = join(from);
    for (const name of to.filter((name) => !agentIds.has(name))) {
      const message = `chat[${index}] is to ${name}, which is not a player and has said nothing so far.`;
      diagnostics.push({
        code: 'agent_not_created',
        line: 1,
        message,
        ...definedOnly({ file }),
      });
      join(name);
    }
    writeLiving(company.hear(from, to));
    const id = eventIds.take(`chat-${index + 1}`);
    const turn = definedOnly({ turn: phase });
    const data = jsonObjectSchema.parse({ text, ...turn, record: { to, ...record } });
    events.push({ id, type: 'agent:text', timestamp, agentId, messageId: id, data });
    const others = [...new Set(to)].filter((name) => name !== from);
    for (const [number, name] of others.entries())
      events.push({
        id: eventIds.take(`${id}.${number + 1}`),
        type: 'user:message',
        timestamp,
        agentId: join(name),
        substance: id,
        data: { text, source: { kind: 'agent', agentId } },
      });
  }
  // A match that is still running may have null here.
  const isComplete = (rest.winner ?? null) !== null;
  if (isComplete) {
    const data = jsonObjectSchema.parse({ ...rest, players });
    events.push({ id: eventIds.take('match-end'), type: 'game:game_end', timestamp, data });
  } else
    diagnostics.push({
      code: 'game_without_end',
      line: 1,
      message: 'The match does not name a winner.',
      ...definedOnly({ file }),
    });
  const origin = originOf(jsonObjectSchema.parse(chat[0]), file, jsonObjectSchema.parse(rest));
  return { events, report: { records: chat.length, diagnostics }, isComplete, origin };

  function writeLiving(names: readonly string[] | null): void {
    if (names === null) return;
    const data = { living_players: [...names] };
    events.push({ id: eventIds.take('living'), type: 'game:living_players', timestamp, data });
  }

  function join(name: string, languageModel?: string): string {
    const known = agentIds.get(name);
    if (known !== undefined) return known;
    const agentId = pool.take(name === '' ? 'player' : name);
    agentIds.set(name, agentId);
    const data = { name, ...definedOnly({ languageModel }) };
    events.push({ id: eventIds.take(`player-${agentId}`), type: 'agent:created', timestamp, agentId, data });
    return agentId;
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
