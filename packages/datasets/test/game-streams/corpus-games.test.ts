import { type JsonObject, parseEvent } from '@hansard/events';
import { type ReadGame, readGameLog, readWerewolfMatch } from '@hansard/formats';
import { gameText, isCorpusThere, skipped } from '@hansard/testing';
import { createLogIndex, dialogOf, hearingMatrix, knownBy } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { Cast, createGameStreams, gameLogMapping, type StreamLine } from '../../src/index.ts';

interface RawLine extends JsonObject {
  readonly timestamp: string;
  readonly turn: string;
}

const parseLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RawLine);

const toMilliseconds = (timestamp: string) => new Date(timestamp).toISOString();

describe('the recorded games of tossim', () => {
  const files = ['tossim/chat.jsonl', 'tossim/game_events.jsonl'];
  const read = () => readGameLog(files.map((file) => ({ file, source: gameText(file) })));
  const raw = () => ({
    chat: parseLines(gameText('tossim/chat.jsonl')),
    events: parseLines(gameText('tossim/game_events.jsonl')),
  });

  it.skipIf(!isCorpusThere)(`22 games are separated, each with one start${skipped}`, () => {
    const games = read();
    expect(games).toHaveLength(22);
    for (const { events } of games) {
      expect(events.filter(({ type }) => type === 'game:game_start')).toHaveLength(1);
      expect(events[0]?.type).toBe('game:game_start');
      for (const event of events) parseEvent(event);
    }
  });

  it.skipIf(!isCorpusThere)(`every line is one event with all its fields${skipped}`, () => {
    const { chat, events } = raw();
    const lines = read().flatMap((game) =>
      game.events.map((event) => rawLineOf(game, event)).filter((line) => line !== null),
    );
    const sorted = (list: readonly JsonObject[]) => list.map(sortKeys).sort();
    expect(sorted(lines)).toEqual(sorted([...chat, ...events]));
    const records = read().reduce((sum, { report }) => sum + report.records, 0);
    expect(records).toBe(chat.length + events.length);
  });

  it.skipIf(!isCorpusThere)(`each utterance is in the game in progress at its time${skipped}`, () => {
    const starts = raw()
      .events.filter(({ event_type }) => event_type === 'GAME_START')
      .map(({ timestamp }) => timestamp);
    for (const [number, { events }] of read().entries()) {
      for (const { timestamp } of events) {
        expect((timestamp ?? '') >= toMilliseconds(starts[number] ?? '')).toBe(true);
        const next = starts[number + 1];
        if (next !== undefined) expect((timestamp ?? '') < toMilliseconds(next)).toBe(true);
      }
    }
  });

  it.skipIf(!isCorpusThere)(`the streams of the games are equal to the recorded lines${skipped}`, () => {
    const lines = read().flatMap(({ events }, number) => streamsOf(events, `R${number + 1}`));
    const { chat, events } = raw();
    const spoken = chat.map(({ timestamp, turn, speaker, message }) => ({
      timestamp,
      turn,
      speaker,
      message,
    }));
    const of = (stream: string) =>
      lines
        .filter((line) => line.stream === stream)
        .map(({ line }) => {
          const { run_id: _run, event_id: _event, to: _to, ...fields } = line as JsonObject;
          return fields;
        });
    expect(of('game_events')).toEqual(
      events.map(({ timestamp, turn, event_type, payload }) => ({ timestamp, turn, event_type, payload })),
    );
    const isWhisper = (_: unknown, index: number) => chat[index]?.is_whisper === true;
    expect(of('whispers')).toEqual(spoken.filter(isWhisper));
    expect(of('chat')).toEqual(spoken.filter((line, index) => !isWhisper(line, index)));
  });

  it.skipIf(!isCorpusThere)(
    `public speech reaches all other living players, a whisper reaches none${skipped}`,
    () => {
      for (const { events } of read()) {
        const index = createLogIndex(events);
        expect(index.diagnostics).toEqual([]);
        const whispers = new Set(
          events.filter(({ type }) => type === 'agent:piece_of_text').map(({ id }) => id),
        );
        for (const { saying, cells } of hearingMatrix(index).rows) {
          expect([...cells.values()].filter((ways) => ways.includes('same'))).toHaveLength(
            whispers.has(saying.id) ? 0 : 14,
          );
        }
        const known = [...index.agents.keys()].flatMap((agentId) => knownBy(index, agentId));
        expect(known.filter(({ event }) => whispers.has(event.substance ?? ''))).toEqual([]);
      }
    },
  );

  it.skipIf(!isCorpusThere)(
    `the report names each missing end and each whisper without receivers, by file and line${skipped}`,
    () => {
      const diagnostics = read().flatMap(({ report }) => report.diagnostics);
      const { chat, events } = raw();
      const linesOf = (code: string) =>
        diagnostics
          .filter((diagnostic) => diagnostic.code === code)
          .map(({ file, line }) => `${file}:${line}`);
      const linesWhere = (file: string, list: readonly RawLine[], fits: (line: RawLine) => boolean) =>
        list.flatMap((line, index) => (fits(line) ? [`${file}:${index + 1}`] : []));
      expect(linesOf('game_without_end')).toEqual(
        linesWhere('tossim/game_events.jsonl', events, ({ event_type }) => event_type === 'GAME_START'),
      );
      expect(linesOf('recipient_missing')).toEqual(
        linesWhere('tossim/chat.jsonl', chat, ({ is_whisper }) => is_whisper === true),
      );
      expect(
        diagnostics.filter(({ code }) => !['game_without_end', 'recipient_missing'].includes(code)),
      ).toEqual([]);
      expect(read().some(({ isComplete }) => isComplete)).toBe(false);
    },
  );
});

describe('the recorded werewolf match', () => {
  interface RawMatch {
    readonly chat: readonly {
      readonly from: string;
      readonly to: readonly string[];
      readonly content: string;
    }[];
    readonly players: Readonly<Record<string, unknown>>;
    readonly winner: string;
  }
  const raw = (): RawMatch => JSON.parse(gameText('werewolf-match.json'));
  const read = () => readWerewolfMatch(gameText('werewolf-match.json'));

  it.skipIf(!isCorpusThere)(`each message reaches its receivers, and no others${skipped}`, () => {
    const { chat, players } = raw();
    const index = createLogIndex(read().events);
    expect(index.diagnostics).toEqual([]);
    const { rows } = hearingMatrix(index);
    expect(rows).toHaveLength(chat.length);
    const everybody = [...Object.keys(players), 'Moderator'];
    expect([...index.agents.values()].map(({ name }) => name).sort()).toEqual(everybody.sort());
    for (const [number, { from, to, content }] of chat.entries()) {
      const row = rows[number];
      expect(row?.saying.text).toBe(content);
      for (const agent of everybody) {
        const expected = agent === from ? ['said'] : to.includes(agent) ? ['same'] : undefined;
        expect([number, agent, row?.cells.get(agent)]).toEqual([number, agent, expected]);
      }
    }
  });

  it.skipIf(!isCorpusThere)(`each player knows the messages to it, and nothing else${skipped}`, () => {
    const { chat, players } = raw();
    const index = createLogIndex(read().events);
    for (const player of Object.keys(players)) {
      const told = chat.filter(({ from, to }) => from !== player && to.includes(player));
      expect(knownBy(index, player).map(({ text }) => text)).toEqual(told.map(({ content }) => content));
    }
  });

  it.skipIf(!isCorpusThere)(`the talk of the wolves at night is in no dialog of villagers${skipped}`, () => {
    const { chat } = raw();
    const villagers = ['Jane', 'David'];
    const isShared = ({ from, to }: RawMatch['chat'][number]) =>
      villagers.includes(from) || villagers.every((name) => to.includes(name));
    const expected = chat.flatMap((message, number) => (isShared(message) ? [`chat-${number + 1}`] : []));
    const rows = dialogOf(createLogIndex(read().events), villagers);
    expect(rows.map(({ id }) => id)).toEqual(expected);
    expect(chat.length - expected.length).toBeGreaterThan(40);
  });

  it.skipIf(!isCorpusThere)(`the end names the winners and the living players${skipped}`, () => {
    const { chat: _chat, ...end } = raw();
    const { events, isComplete, report } = read();
    expect(isComplete).toBe(true);
    expect(report).toMatchObject({ records: raw().chat.length, diagnostics: [] });
    expect(events.at(-1)).toMatchObject({ type: 'game:game_end', data: end });
    for (const event of events) parseEvent(event);
  });
});

function streamsOf(events: ReadGame['events'], runId: string): StreamLine[] {
  const cast = new Cast(gameLogMapping);
  for (const event of events) cast.observe(event);
  const streams = createGameStreams(gameLogMapping, { runId, cast });
  return [...events.flatMap((event) => streams.add(event)), ...streams.finish()];
}

/** The recorded line of an event, reconstructed from the event. */
function rawLineOf(
  { events }: ReadGame,
  { type, agentId, data }: ReadGame['events'][number],
): JsonObject | null {
  const { turn, record, payload, text } = data;
  const rest = { turn, ...(record as JsonObject) };
  if (type.startsWith('game:')) return { event_type: type.slice(5).toUpperCase(), payload, ...rest };
  if (type !== 'agent:text' && type !== 'agent:piece_of_text') return null;
  const created = events.find((event) => event.type === 'agent:created' && event.agentId === agentId);
  return { speaker: created?.data.name, message: text, ...rest };
}

function sortKeys(value: JsonObject): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))));
}
