import { exampleNumbers, exampleText, isCorpusThere, skipped } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';
import { recordsIn } from './make.ts';

describe.each([sessionFormats['session-v1'], sessionFormats['session-v2']])(
  'the examples of $id',
  ({ id, read, write }) => {
    it.skipIf(!isCorpusThere)(
      `are four, and are the same bytes when they are written again${skipped}`,
      () => {
        expect(exampleNumbers(id)).toEqual(['1', '2', '3', '4']);
        for (const number of exampleNumbers(id)) {
          const text = exampleText(id, number);
          const { events, report } = read(text);
          expect(report.records, number).toBe(recordsIn(text).length);
          const written = write(events);
          expect(written.text, number).toBe(text);
          expect(written.leftOut, number).toEqual({});
        }
      },
    );

    it.skipIf(!isCorpusThere)(`have only diagnostics about an earlier part of their log${skipped}`, () => {
      const codesOf = (number: string) => {
        const { diagnostics } = read(exampleText(id, number)).report;
        return [...new Set(diagnostics.map(({ code }) => code))].sort();
      };
      expect(exampleNumbers(id).map(codesOf)).toEqual([
        [],
        ['agent_not_created', 'reference_missing'],
        ['agent_not_created'],
        ['agent_not_created'],
      ]);
    });
  },
);
