import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shortId } from '@hansard/facts';
import { claudeStreamFixtures, corpus } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';
import { envelopesOf, eventsOf } from './read-back.ts';

const folders = [
  fileURLToPath(new URL('../demo', import.meta.url)),
  claudeStreamFixtures,
  join(corpus, 'claude-stream'),
];
const streams = [
  ...new Map(
    folders.flatMap((cwd) => globSync('*.jsonl', { cwd }).map((file) => [file, join(cwd, file)] as const)),
  ),
].sort();

/** What the command says about a dispatch. */
const readings: readonly (readonly string[])[] = [
  ['tree', 'lab/log'],
  ['show', 'lab/log'],
  ['show', 'lab/log', '--raw'],
  ['export', 'lab/log', '--as', 'markdown'],
  ['export', 'lab/log', '--as', 'html'],
  ['export', 'lab/log', '--as', 'otlp', '--content', 'spans'],
];

/** A stream in a store of its own: its envelope, its events, and all readings of it, with `ID` for the id of the dispatch. */
async function recorded(path: string, command: 'run' | 'import', ...options: string[]) {
  using line = commandLine();
  const common = ['--task', 'lab/log', '--fidelity', 'full'];
  const { err } = await line.hansard(command, path, ...common, ...options);
  const [envelope, ...others] = await envelopesOf(line, 'lab/log');
  if (envelope === undefined || others.length > 0) throw new Error(`Not one dispatch: ${err}`);
  const { dispatchId, source: _, ...facts } = envelope;
  const texts: Record<string, string> = {};
  for (const args of readings) {
    const { code, out, err: problem } = await line.hansard(...args);
    expect(code, problem).toBe(0);
    texts[args.join(' ')] = withoutIds(out, dispatchId);
  }
  return { facts, events: await eventsOf(line, 'lab/log'), texts };
}

/** The ids of a trace are made from the id of the dispatch. */
function withoutIds(text: string, dispatchId: string): string {
  return text
    .replaceAll(dispatchId, 'ID')
    .replaceAll(shortId(dispatchId), 'ID')
    .replaceAll(/"(traceId|spanId|parentSpanId)":"[0-9a-f]+"/g, '"$1":"ID"');
}

describe('a recorded stream', () => {
  it.each(streams)(
    'has the same envelope, events, tree, view, timeline, reports and trace if it is run as if it is imported: %s',
    async (_, path) => {
      const run = await recorded(path, 'run', '--quiet', '--role', 'imported');
      const imported = await recorded(path, 'import');
      expect(run.events.length).toBeGreaterThan(3);
      expect(run.events).toEqual(imported.events);
      expect(run.facts).toEqual(imported.facts);
      for (const [reading, text] of Object.entries(imported.texts)) {
        expect(text.length, reading).toBeGreaterThan(100);
        expect(run.texts[reading], reading).toBe(text);
      }
    },
  );
});
