import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openClaudeStream, openClaudeTranscript } from '../../src/index.ts';
import { readToEnd } from './transcripts.ts';

const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../../shared/fixtures');
const isThere = existsSync(join(corpus, 'claude-transcripts'));
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';
const logs = globSync(['claude-transcripts/**/*.jsonl', 'claude-stream/*.jsonl'], { cwd: corpus })
  .filter((name) => !name.includes('/subagents/'))
  .sort();

/** What is wrong with the files themselves. All others are healthy. */
const faults: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  // A slice of a session: its first record names a parent before it.
  'compacted.jsonl': { reference_missing: 1 },
  // The first lines of a session, whose compaction worker names records after them.
  'with-subagents/session.jsonl': { reference_missing: 3 },
  // Claude Code wrote two records on one line, and two records under one id.
  'concatenated-records.jsonl': { several_records: 1, id_repeated: 1 },
  // Test data of another project, with broken records.
  'edge-cases.jsonl': {
    wrong_value: 3,
    time_missing: 1,
    id_taken: 2,
    not_an_object: 3,
    unknown_kind: 1,
    time_goes_back: 1,
    session_changed: 2,
    reference_missing: 1,
  },
};

describe('the diagnostics of recorded sessions', () => {
  it.skipIf(!isThere).each(isThere ? logs : ['none'])(
    `%s: are faults of the file; a healthy session has none${skipped}`,
    async (name) => {
      const path = join(corpus, name);
      const open = name.startsWith('claude-stream/') ? openClaudeStream : openClaudeTranscript;
      const { summary } = await readToEnd(await open(path));
      expect(summary.counts).toEqual(faults[name.replace('claude-transcripts/', '')] ?? {});
    },
  );

  it.skipIf(!isThere)(`name faults of 4 of 16 sessions${skipped}`, () => {
    expect(logs).toHaveLength(16);
    const known = Object.keys(faults).filter((name) => logs.includes(`claude-transcripts/${name}`));
    expect(known).toHaveLength(4);
  });
});
