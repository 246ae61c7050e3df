import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { detectClaudeFormat } from '@hansard/claude';
import { corpus, isCorpusThere, skipped } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { detectGameFormat, detectSessionFormat } from '../src/index.ts';
import { bookClubV1, bookClubV2, logOf } from './make.ts';

/** The formats that the detectors report for a file. */
function takenFor(text: string): string[] {
  return [detectClaudeFormat(text), detectSessionFormat(text), detectGameFormat(text)].filter(
    (format) => format !== null,
  );
}

const line = { timestamp: '2026-03-01T09:00:00.000Z', turn: 'Day 1' };
const started = { ...line, event_type: 'GAME_START', payload: { players: ['Ann'] } };
const said = { ...line, speaker: 'Ann', message: 'Hello' };

describe('exactly one detector recognises a file', () => {
  const formatOf = (file: string) => {
    if (file.endsWith('werewolf-match.json')) return ['werewolf-match'];
    const [folder = '', name = ''] = file.split('/');
    if (/\.truth\.json$|\.meta\.json$|right\.json$|journal\.jsonl$/.test(file)) return [];
    if (name === 'c41' || file.endsWith('/stream.jsonl')) return ['claude-stream'];
    const ofFolder: Record<string, string> = {
      'claude-stream': 'claude-stream',
      'claude-transcripts': 'claude-transcript',
      'claude-tree': 'claude-transcript',
      'field-reports': 'claude-transcript',
      games: 'game-log',
      smallchat: 'smallchat',
      'session-v1': 'session-v1',
      'session-v2': 'session-v2',
    };
    return [ofFolder[folder] ?? []].flat();
  };

  it.skipIf(!isCorpusThere)(`all files of the corpus${skipped}`, () => {
    const files = globSync('**/*.{jsonl,json}', { cwd: corpus }).sort();
    expect(files.length).toBeGreaterThan(25);
    const found = files.map((file) => [file, takenFor(readFileSync(join(corpus, file), 'utf8'))]);
    expect(found).toEqual(files.map((file) => [file, formatOf(file)]));
  });

  it.skipIf(!isCorpusThere)(`the start of each, cut anywhere, or none yet${skipped}`, () => {
    for (const file of globSync('**/*.jsonl', { cwd: corpus })) {
      const text = readFileSync(join(corpus, file), 'utf8').slice(0, 20_000);
      for (let end = 1; end < text.length; end += Math.ceil(text.length / 40)) {
        const found = takenFor(text.slice(0, end));
        if (found.length > 0)
          expect([basename(file), end, found]).toEqual([basename(file), end, formatOf(file)]);
      }
    }
  });

  it.each<[string, readonly object[], string[]]>([
    ['events of a game', [started], ['game-log']],
    ['chat of a game', [said, said], ['game-log']],
    [
      'several games in one file',
      [started, said, { ...line, event_type: 'GAME_END', payload: {} }, started],
      ['game-log'],
    ],
    ['what agents did', [{ ...line, agent: 'Ann', action_type: 'VOTE', payload: {} }], ['game-log']],
    ['what agents thought', [{ ...line, agent: 'Ann', thinking_process: 'Hm.' }], ['game-log']],
    ['chat whose lines name a source', [{ ...said, source: 'town square' }], ['game-log']],
    ['speech of no game', [{ speaker: 'Ann', message: 'Hello' }], []],
    [
      'events with payloads of something else',
      [
        { type: 'x', payload: {} },
        { event_type: 'x', payload: {} },
      ],
      [],
    ],
    ['lines with a source, which are no records', [{ source: 'a' }, { source: 'b' }], []],
    ['a session log in v1', bookClubV1, ['session-v1']],
    ['a session log in v2', bookClubV2, ['session-v2']],
    ['few lines of a game among others', [said, { a: 1 }, { a: 2 }], []],
    ['a match', [{ chat: [{ from: 'Ann', to: [], content: 'Hello' }] }], ['werewolf-match']],
    ['a match in which nothing is said', [{ chat: [] }], []],
    ['nothing', [], []],
  ])('%s', (_, records, expected) => {
    expect(takenFor(logOf(...(records as Parameters<typeof logOf>)))).toEqual(expected);
  });
});
