import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent, JsonValue } from '@hansard/events';
import { type Row, type RowPart, rowsOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { openClaudeStream, openClaudeTranscript } from '../src/index.ts';
import { readToEnd } from './transcript/transcripts.ts';

const streams = join(import.meta.dirname, 'fixtures/claude-stream');
const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../shared/fixtures');
const transcripts = join(corpus, 'claude-transcripts');
const isThere = existsSync(transcripts);
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';
const named = (folder: string) => globSync('**/*.jsonl', { cwd: folder }).sort();

describe('the rows of recorded streams', () => {
  it.each(named(streams))('%s: every event in one row, and every call whole', async (name) => {
    const { events } = await readToEnd(await openClaudeStream(join(streams, name)));
    expectWhole(events, rowsOf(events));
  });
});

describe('the rows of transcripts from the corpus', () => {
  it.skipIf(!isThere).each(isThere ? named(transcripts) : ['none'])(
    `%s: every event in one row, and every call whole${skipped}`,
    async (name) => {
      const path = join(transcripts, name);
      const { events } = await readToEnd(await openClaudeTranscript(path, { subAgents: [] }));
      expectWhole(events, rowsOf(events));
    },
  );

  it.skipIf(!isThere)(`fold more than half of a transcript with many hooks${skipped}`, async () => {
    const path = join(transcripts, 'small-13-types.jsonl');
    const { events } = await readToEnd(await openClaudeTranscript(path, { subAgents: [] }));
    const rows = rowsOf(events);
    expect(rows.flatMap(({ folded = [] }) => folded).length).toBeGreaterThan(events.length / 3);
    expect(rows.length).toBeLessThan(events.length / 2);
  });
});

function expectWhole(events: readonly CapturedEvent[], rows: readonly Row[]): void {
  const positions = rows.flatMap((row) => row.events);
  expect(positions.toSorted((one, other) => one - other)).toEqual([...events.keys()]);
  expect(rows.map(({ position }) => position)).toEqual(rows.map(({ events: own }) => own[0]));
  for (const row of rows) {
    const shown = [row.call?.target, ...[...row.content, ...(row.call?.outcome ?? [])].flatMap(textsOf)];
    for (const event of row.events.map((position) => events[position] as CapturedEvent)) {
      const { input = null, output = null } = event.data;
      // Lines, because a difference shows an edit line by line.
      for (const line of leavesOf(event.type === 'agent:tool_call' ? input : output).flatMap(linesOf))
        expect(shown).toContain(line);
    }
  }
}

function leavesOf(value: JsonValue | undefined): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf);
  return value === undefined || value === null ? [] : [String(value)];
}

function textsOf(part: RowPart): string[] {
  switch (part.kind) {
    case 'text':
      return linesOf(part.text);
    case 'diff':
      return part.lines.map(({ text }) => text);
    case 'json':
      return leavesOf(part.value).flatMap(linesOf);
    case 'fields':
      return part.fields.map(([, value]) => value);
    case 'media':
      return [part.media.mediaType ?? ''];
  }
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !blockWords.has(line));
}

/** What content blocks say about themselves. */
const blockWords: ReadonlySet<string> = new Set(['text', 'image', 'base64']);
