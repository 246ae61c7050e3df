import { logImporters } from '@hansard/import';
import { describe, it } from 'vitest';
import { importerConformance } from '../src/index.ts';
import { notesImporter } from './example-importer.ts';
import { game, notes, session, transcript } from './sources.ts';

const known = (id: string) => {
  const importer = logImporters.find((one) => one.id === id);
  if (importer === undefined) throw new Error(`There is no importer ${id}.`);
  return importer;
};

const seed = 1;
const runner = { describe, it, seed };

importerConformance({ ...runner, name: 'the example importer', importer: notesImporter(), write: notes });
importerConformance({ ...runner, name: 'session-v1', importer: known('session-v1'), write: session('v1') });
importerConformance({ ...runner, name: 'session-v2', importer: known('session-v2'), write: session('v2') });
importerConformance({ ...runner, name: 'game-log', importer: known('game-log'), write: game });
importerConformance({
  ...runner,
  name: 'claude-transcript',
  importer: known('claude-transcript'),
  write: transcript,
});
