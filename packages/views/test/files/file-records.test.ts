import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent, JsonObject } from '@hansard/events';
import { corpus, isCorpusThere, skipped } from '@hansard/testing';
import { FileBlame, fileRecordsOf, LineTable, stepOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';

function result(tool: string, toolUseResult: JsonObject, more: JsonObject = {}): CapturedEvent {
  const data = {
    toolCallId: 'c',
    tool,
    status: 'completed',
    metadata: {},
    details: { toolUseResult },
    ...more,
  };
  return { id: 'e', type: 'agent:tool_result', timestamp: null, data } as CapturedEvent;
}

/** The origins of the lines of a file after these results: the number of the result, or `-`. */
function originsOf(path: string, results: readonly CapturedEvent[], now?: string): string {
  const table = new LineTable();
  const blame = new FileBlame<number>(table);
  results.forEach((event, at) => {
    for (const record of fileRecordsOf(event)) blame.add(stepOf(table, record), at + 1);
  });
  const lines = now === undefined ? blame.linesOf(path) : blame.linesNow(path, now).lines;
  return (lines ?? []).map(({ origin }) => origin?.by ?? '-').join('');
}

const filePath = '/w/a.go';
const created = result('Write', {
  type: 'create',
  filePath,
  content: 'one\n\ttwo\nthree\n',
  originalFile: null,
});
const edited = (more: JsonObject) =>
  result('Edit', {
    filePath,
    oldString: '\ttwo',
    newString: '\ttwo\n\tand a half',
    replaceAll: false,
    ...more,
  });
const patch = [{ oldStart: 1, newStart: 1, lines: [' one', '   two', '+  and a half', ' three'] }];

describe('what a result records of a file', () => {
  it.each([
    ['the content before, without a patch', edited({ originalFile: 'one\n\ttwo\nthree\n' }), '1121'],
    ['a patch only, with tabs as spaces', edited({ originalFile: null, structuredPatch: patch }), '1121'],
    ['neither, as a text that occurs once', edited({ originalFile: null }), '1121'],
    ['line ends of Windows', edited({ originalFile: 'one\r\n\ttwo\r\nthree\r\n' }), '1121'],
    [
      'several edits',
      result('MultiEdit', {
        filePath,
        originalFileContents: 'one\n\ttwo\nthree\n',
        edits: [
          { old_string: 'one', new_string: 'zero\none' },
          { old_string: 'three', new_string: 'four' },
        ],
      }),
      '2112',
    ],
    [
      'a file written again',
      result('Write', {
        ...{ type: 'update', filePath, content: 'one\n\ttwo\nlast\n', originalFile: 'one\n\ttwo\nthree\n' },
        structuredPatch: [{ oldStart: 1, newStart: 1, lines: [' one', '   two', '-three', '+last'] }],
      }),
      '112',
    ],
    [
      'a line that is removed with its end',
      result('Edit', { filePath, oldString: '\ttwo', newString: '', originalFile: 'one\n\ttwo\nthree\n' }),
      '11',
    ],
    ['a call that failed', result('Edit', { filePath, content: 'x' }, { status: 'error' }), '111'],
    [
      'a search, whose result also has a path and a content',
      result('Grep', { mode: 'content', content: 'one', numLines: 1 }, { metadata: { path: filePath } }),
      '111',
    ],
    ['an edit that does not fit', edited({ originalFile: null, oldString: 'nine' }), '111'],
  ])('%s', (_, second, expected) => {
    expect(originsOf(filePath, [created, second])).toBe(expected);
  });

  it('a deletion ends every origin, and a renaming keeps them', () => {
    const change = (changes: JsonObject[]) => result('patch', {}, { changes, details: {} });
    const content = 'one\n\ttwo\nthree\n';
    const renamed = change([{ path: '/w/b.go', from: filePath, before: content, after: content }]);
    expect(originsOf('/w/b.go', [created, renamed])).toBe('111');
    expect(originsOf(filePath, [created, renamed])).toBe('');
    const deleted = change([{ path: filePath, before: content, after: null }]);
    expect(originsOf(filePath, [created, deleted, created])).toBe('333');
  });

  it('equal texts across a change that nobody recorded prove nothing, except lines of their own', () => {
    const content = 'func total(items) int {\n}\nfunc isEmpty(items) bool {\n}\n';
    const written = result('Write', { type: 'create', filePath, content, originalFile: null });
    expect(originsOf(filePath, [written], `// a person\n${content}`)).toBe('-111-');
    expect(originsOf(filePath, [written], content.replace('int', 'float'))).toBe('--1-');
    expect(originsOf(filePath, [written], 'other\n}\n')).toBe('--');
  });
});

/** Every result of a real transcript that has the content before and a patch. */
function* recordedEdits(): Generator<JsonObject> {
  for (const name of readdirSync(join(corpus, 'claude-transcripts'), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.jsonl')) continue;
    for (const line of readFileSync(join(corpus, 'claude-transcripts', name), 'utf8').split('\n')) {
      if (!line.includes('"structuredPatch"')) continue;
      yield JSON.parse(line).toolUseResult as JsonObject;
    }
  }
}

describe.skipIf(!isCorpusThere)(`the edits of real transcripts${skipped}`, () => {
  it('are replayed as their patches state them', () => {
    let count = 0;
    for (const output of recordedEdits()) {
      if (typeof output.originalFile !== 'string') continue;
      const table = new LineTable();
      const [record] = fileRecordsOf(result('Edit', output));
      const { before, after, sources } = stepOf(table, record as never);
      const hunks = output.structuredPatch as { oldLines: number; newLines: number; lines: string[] }[];
      const changed = (sign: string) =>
        hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length;
      expect(sources?.filter((source) => source < 0).length).toBe(changed('+'));
      expect(after?.length).toBe((before?.length ?? 0) - changed('-') + changed('+'));
      count += 1;
    }
    expect(count).toBeGreaterThan(10);
  });
});

describe('an update that Codex states as a difference', () => {
  const codex = (changes: JsonObject, more: JsonObject = {}) =>
    result('apply_patch', {}, { details: { changes }, ...more });
  const before = '\tone\ntwo\nthree\n';
  const added = codex({}, { changes: [{ path: filePath, before: null, after: before }] });
  const update = (unified_diff: string, move_path: string | null = null) => ({
    [filePath]: { type: 'update', unified_diff, move_path },
  });
  const diff = '@@ -1,3 +1,4 @@\n \tone\n-two\n+\tTWO\n+more\n three\n';

  it('is replayed on a content that is recorded, with its tabs', () => {
    expect(originsOf(filePath, [added, codex(update(diff))])).toBe('1221');
    expect(originsOf(filePath, [added, codex(update(diff))], '\tone\n\tTWO\nmore\nthree\n')).toBe('1221');
  });

  it('is replayed where the file has moved', () => {
    const moved = codex(update(diff, '/w/b.go'));
    expect(originsOf('/w/b.go', [added, moved])).toBe('1221');
    expect(originsOf(filePath, [added, moved])).toBe('');
    expect(originsOf('/w/b.go', [added, codex(update('', '/w/b.go'))])).toBe('111');
  });

  it('is replayed beside a file that the same patch adds', () => {
    const both = codex(update(diff), { changes: [{ path: '/w/b.go', before: null, after: 'b\n' }] });
    expect(originsOf(filePath, [added, both])).toBe('1221');
    expect(originsOf('/w/b.go', [added, both])).toBe('2');
  });

  it.each([
    ['that does not fit', '@@ -1,2 +1,2 @@\n \tone\n-zwei\n+TWO\n'],
    ['that is not a difference', 'two -> TWO\n'],
    ['with a line that no difference has', '@@ -1,2 +1,2 @@\n \tone\n?\n-two\n+TWO\n'],
  ])('%s writes no line', (_, wrong) => {
    expect(originsOf(filePath, [added, codex(update(wrong))])).not.toContain('2');
  });

  it('says nothing without a content before, and nothing if the call failed', () => {
    expect(originsOf(filePath, [codex(update(diff))])).toBe('');
    expect(originsOf(filePath, [added, codex(update(diff), { status: 'error' })])).toBe('111');
  });
});
