import { describe, expect, it } from 'vitest';
import { importerConformanceCases, runImporterConformance } from '../src/index.ts';
import { notesImporter } from './example-importer.ts';
import { mutantsOfCases, mutantsOfLaws } from './mutants.ts';
import { notes } from './sources.ts';

const subject = { write: notes, seed: 1, seeds: 8 };

describe('an importer that keeps every law', () => {
  it('passes every case', async () => {
    const results = await runImporterConformance({ ...subject, importer: notesImporter() });
    expect(results).toEqual(importerConformanceCases.map(({ id }) => ({ id, error: null })));
  });
});

describe('a broken importer', () => {
  it.each([...mutantsOfLaws, ...mutantsOfCases])(
    'is caught by the case that names its fault: $breaks',
    async ({ importer, caughtBy }) => {
      const [result] = await runImporterConformance({ ...subject, importer }, [caughtBy]);
      expect(result?.error?.message).toMatch(
        new RegExp(`^${caughtBy}: [\\s\\S]*HANSARD_SEED=\\d+ repeats it`),
      );
    },
  );
});
