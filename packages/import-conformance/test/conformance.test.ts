import { logImporters } from '@hansard/import';
import { describe, it } from 'vitest';
import { importerConformance } from '../src/index.ts';
import { atifDocument } from './atif-source.ts';
import { codexThread } from './codex-source.ts';
import { copilotSession } from './copilot-source.ts';
import { notesImporter } from './example-importer.ts';
import { geminiDocument, geminiLines } from './gemini-source.ts';
import { openCodeGoDatabase } from './opencode-go-source.ts';
import { openCodeDatabase } from './opencode-source.ts';
import { piSession } from './pi-source.ts';
import { qwenSession } from './qwen-source.ts';
import { game, notes, session, smallchat, stream, transcript } from './sources.ts';

const known = (id: string) => {
  const importer = logImporters.find((one) => one.id === id);
  if (importer === undefined) throw new Error(`There is no importer ${id}.`);
  return importer;
};

/** `HANSARD_SEEDS` sets how many sources each case is checked with. */
const seeds = Number(process.env.HANSARD_SEEDS ?? 3);
const runner = { describe, it, seed: 1, seeds };

importerConformance({ ...runner, name: 'the example importer', importer: notesImporter(), write: notes });
importerConformance({ ...runner, name: 'session-v1', importer: known('session-v1'), write: session('v1') });
importerConformance({ ...runner, name: 'session-v2', importer: known('session-v2'), write: session('v2') });
importerConformance({ ...runner, name: 'smallchat', importer: known('smallchat'), write: smallchat });
importerConformance({ ...runner, name: 'game-log', importer: known('game-log'), write: game });
importerConformance({ ...runner, name: 'codex', importer: known('codex'), write: codexThread });
importerConformance({
  ...runner,
  name: 'gemini-cli, lines',
  importer: known('gemini-cli'),
  write: geminiLines,
});
importerConformance({
  ...runner,
  name: 'gemini-cli, document',
  importer: known('gemini-cli'),
  write: geminiDocument,
});
importerConformance({
  ...runner,
  // Each case writes databases.
  seeds: Math.ceil(seeds / 2),
  name: 'opencode',
  importer: known('opencode'),
  write: openCodeDatabase,
});
importerConformance({
  ...runner,
  seeds: Math.ceil(seeds / 2),
  name: 'opencode-go',
  importer: known('opencode-go'),
  write: openCodeGoDatabase,
});
importerConformance({ ...runner, name: 'pi', importer: known('pi'), write: piSession });
importerConformance({ ...runner, name: 'qwen-code', importer: known('qwen-code'), write: qwenSession });
importerConformance({
  ...runner,
  name: 'copilot-cli',
  importer: known('copilot-cli'),
  write: copilotSession,
});
importerConformance({ ...runner, name: 'atif', importer: known('atif'), write: atifDocument });
importerConformance({
  ...runner,
  name: 'claude-transcript',
  importer: known('claude-transcript'),
  write: transcript,
  knownGaps: {
    'complete/unknown-fields-within':
      'other fields of the last answer are held back with its usage, until a record shows that the answer is over',
  },
});
importerConformance({
  ...runner,
  name: 'claude-stream',
  importer: known('claude-stream'),
  write: stream,
  knownGaps: {
    'grown/every-cut':
      'a stream is named by its session and its first time, because two runs of a session are two streams; before that time comes, it has another name',
  },
});
