import { expect } from 'vitest';
import { otlpLines, traceDispatches } from '../src/index.ts';
import type { TraceOptions } from '../src/trace-options.ts';
import { decodeLogs, decodeSpans, type ReceivedLog, type ReceivedSpan } from './decode-otlp.ts';
import type { sampleRun } from './sample-run.ts';

type Source = typeof sampleRun;

export async function textOf(source: Source, options?: TraceOptions): Promise<string> {
  let text = '';
  for await (const line of otlpLines(traceDispatches(source, options))) text += line.text;
  return text;
}

export async function exported(source: Source, options?: TraceOptions) {
  const spans: ReceivedSpan[] = [];
  const logs: ReceivedLog[] = [];
  for (const line of (await textOf(source, options)).trimEnd().split('\n')) {
    const request = JSON.parse(line) as object;
    if ('resourceSpans' in request) spans.push(...decodeSpans(request));
    else logs.push(...decodeLogs(request));
  }
  return { spans, logs };
}

export function only<T extends { name: string }>(records: readonly T[], name: string): T {
  const found = records.filter((record) => record.name === name);
  expect(found.map((record) => record.name)).toEqual([name]);
  return found[0] as T;
}
