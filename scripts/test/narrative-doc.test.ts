import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newEvent, toNarrative } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { narrativeDoc } from '../narrative-doc.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/narrative.md'), 'utf8');

describe('docs/narrative.md', () => {
  it('is what the rules say (else: pnpm docs:narrative)', () => {
    expect(text).toBe(narrativeDoc());
  });

  it('names fields of results that a narrative keeps, and fields that it leaves out', () => {
    const rows = text.split('\n').filter((line) => /^\| (always|Edit|Bash|Read|WebFetch)/.test(line));
    const named = rows.flatMap((line) => [...line.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    const own = ['tool', 'target', 'status', 'durationMs', 'error', 'metadata'];
    const inMetadata = [...new Set(named)].filter((name) => !own.includes(name));
    const data = {
      toolCallId: 't1',
      tool: 'Bash',
      target: 'cat a.txt',
      status: 'completed' as const,
      durationMs: 5,
      error: 'no such file',
      metadata: Object.fromEntries(inMetadata.map((name) => [name, `a ${name}`])),
    };
    const left = ['content', 'stdout', 'output', 'input'];
    const event = newEvent('agent:tool_result', {
      ...data,
      metadata: { ...data.metadata, ...Object.fromEntries(left.map((name) => [name, 'CANARY'])) },
      output: 'CANARY',
    });
    const { leftOut, ...kept } = toNarrative(event).data;
    expect(kept).toEqual(data);
    expect(Object.keys(leftOut ?? {}).length).toBeGreaterThan(0);
    expect(inMetadata.length).toBeGreaterThanOrEqual(10);
  });
});
