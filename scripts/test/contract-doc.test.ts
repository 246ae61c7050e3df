import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventDataSchemas, eventFields } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { requiredMethods } from '../../packages/provider/src/index.ts';
import { root } from '../workspace.ts';

const text = readFileSync(join(root, 'docs/contract.md'), 'utf8');
const firstCells = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = '']) => cell);

describe('docs/contract.md', () => {
  it('has a row for each event type, and no other', () => {
    expect(firstCells.filter((cell) => cell.includes(':'))).toEqual(Object.keys(eventDataSchemas));
  });

  it('has a row for each key of an event', () => {
    expect(firstCells.filter((cell) => /^[a-z]\w*$/.test(cell) && !cell.includes(':'))).toEqual([
      ...Object.keys(eventFields),
      'data',
    ]);
  });

  it('has a row for each provider type', () => {
    expect(firstCells.filter((cell) => cell.endsWith('Provider'))).toEqual(Object.keys(requiredMethods));
  });
});
