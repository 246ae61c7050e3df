import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DispatchEnvelope } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

const corpus =
  process.env.HANSARD_CORPUS ?? fileURLToPath(new URL('../../../../shared/fixtures', import.meta.url));
const folders = [
  fileURLToPath(new URL('../demo', import.meta.url)),
  fileURLToPath(new URL('../../../packages/claude/test/fixtures/claude-stream', import.meta.url)),
  join(corpus, 'claude-stream'),
];
const streams = folders.flatMap((folder) =>
  globSync('*.jsonl', { cwd: folder })
    .sort()
    .map((file) => [`${basename(folder)}/${file}`, join(folder, file)] as const),
);

/** The times of a recording, by nothing but its lines. */
function recordedTimes(path: string): { readonly first: number; readonly last: number } {
  const times = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const { timestamp } = JSON.parse(line) as { timestamp?: string };
      return timestamp === undefined ? [] : [Date.parse(timestamp)];
    });
  if (times.length === 0) throw new Error(`${path} has no times.`);
  return { first: times[0] as number, last: Math.max(...times) };
}

interface Span {
  readonly name: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface Traces {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

async function spansOf(line: CommandLine): Promise<Span[]> {
  const { code, out } = await line.hansard('export', 'research/cafe', '--as', 'otlp');
  expect(code).toBe(0);
  return out
    .trim()
    .split('\n')
    .flatMap((text) => (JSON.parse(text) as Traces).resourceSpans ?? [])
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** The envelope and the trace of a recording that was played. */
async function play(path: string, ...options: string[]) {
  using line = commandLine();
  const run = await line.hansard('run', path, '--task', 'research/cafe', '--json', ...options);
  const envelope = run.json()[0] as DispatchEnvelope;
  return { envelope, spans: await spansOf(line) };
}

function expectRootAroundAll(spans: readonly Span[]): void {
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(roots).toHaveLength(1);
  const [root] = roots as [Span];
  const outside = spans.filter(
    (span) =>
      BigInt(span.startTimeUnixNano) < BigInt(root.startTimeUnixNano) ||
      BigInt(span.endTimeUnixNano) > BigInt(root.endTimeUnixNano),
  );
  expect(outside.map(({ name }) => name)).toEqual([]);
}

const dated = ({ startedAt, completedAt }: DispatchEnvelope) => ({
  first: Date.parse(startedAt ?? ''),
  last: Date.parse(completedAt ?? ''),
});

describe('a recording that is played with `hansard run`', () => {
  it.each(streams)(
    'has the times of the recording in its envelope, and its trace around all spans: %s',
    async (_, path) => {
      const { envelope, spans } = await play(path);
      expect(dated(envelope)).toEqual(recordedTimes(path));
      expect(spans.length).toBeGreaterThan(1);
      expectRootAroundAll(spans);
    },
  );

  it('has them with --delay too, as slow as it is played', async () => {
    const path = demoStream('hook-deny');
    const { envelope, spans } = await play(path, '--delay', '1');
    expect(dated(envelope)).toEqual(recordedTimes(path));
    expectRootAroundAll(spans);
  });
});
