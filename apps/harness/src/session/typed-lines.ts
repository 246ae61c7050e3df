import { createInterface } from 'node:readline';
import type { Harness } from '@hansard/compose';
import type { IncomingSource } from '@hansard/provider';
import type { CliContext } from '../terminal/context.ts';

const endWord = '/end';

/** A line with its source: a person who types, or what a communication provider names. */
export interface TypedLine {
  readonly text: string;
  readonly source: IncomingSource;
}

/**
 * The lines that the user types, until `/end` or the end of the input. If a communication provider reads the terminal, it
 * delivers the lines; otherwise they are read from standard input.
 */
export async function* typedLines(
  context: CliContext,
  harness: Harness,
  dispatchId: string,
): AsyncIterable<TypedLine> {
  if (comeThroughConsole(context, harness)) {
    yield* deliveredLines(context, harness, dispatchId);
    return;
  }
  const lines = createInterface({ input: context.stdin, signal: context.signal });
  for await (const line of lines) {
    if (line.trim() === endWord) return;
    if (line.trim() !== '') yield { text: line, source: { kind: 'user' } };
  }
}

async function* deliveredLines(
  { signal, stdin }: CliContext,
  { communication }: Harness,
  dispatchId: string,
): AsyncIterable<TypedLine> {
  const waiting: TypedLine[] = [];
  let signalChange = () => {};
  const detach = communication.attach(dispatchId, async (text, source) => {
    waiting.push({ text, source });
    signalChange();
    return true;
  });
  const onEnd = () => signalChange();
  signal.addEventListener('abort', onEnd);
  stdin.on('end', onEnd);
  try {
    while (!signal.aborted) {
      const line = waiting.shift();
      if (line?.text.trim() === endWord) return;
      if (line !== undefined) yield line;
      else if (stdin.readableEnded) return;
      else {
        await new Promise<void>((resolve) => {
          signalChange = resolve;
          if (signal.aborted || stdin.readableEnded || waiting.length > 0) resolve();
        });
      }
    }
  } finally {
    signal.removeEventListener('abort', onEnd);
    stdin.off('end', onEnd);
    detach();
  }
}

/** Whether a communication provider reads the terminal and delivers the lines to a running dispatch. */
function comeThroughConsole(context: CliContext, harness: Harness): boolean {
  return context.stdin.isTTY === true && harness.plugins.providers('CommunicationProvider').length > 0;
}

/**
 * The same lines after the first one is typed; null if none is typed. The console delivers lines only to a running dispatch,
 * so its lines are returned at once.
 */
export async function whenTyped(
  context: CliContext,
  harness: Harness,
  lines: AsyncIterable<TypedLine>,
): Promise<AsyncIterable<TypedLine> | null> {
  if (comeThroughConsole(context, harness)) return lines;
  const iterator = lines[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) return null;
  return (async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}
