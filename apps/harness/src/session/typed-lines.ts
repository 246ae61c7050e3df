import { createInterface } from 'node:readline';
import type { Harness } from '../harness.ts';
import type { CliContext } from '../terminal/context.ts';

const endWord = '/end';

/**
 * What the user types, a line at a time, until they end it, with `/end` or with the input. On a terminal that a
 * communication provider has, the lines come through it; otherwise from standard input.
 */
export async function* typedLines(
  context: CliContext,
  harness: Harness,
  dispatchId: string,
): AsyncIterable<string> {
  if (comeThroughConsole(context, harness)) {
    yield* deliveredLines(context, harness, dispatchId);
    return;
  }
  const lines = createInterface({ input: context.stdin, signal: context.signal });
  for await (const line of lines) {
    if (line.trim() === endWord) return;
    if (line.trim() !== '') yield line;
  }
}

async function* deliveredLines(
  { signal, stdin }: CliContext,
  { communication }: Harness,
  dispatchId: string,
): AsyncIterable<string> {
  const waiting: string[] = [];
  let ring = () => {};
  const detach = communication.attach(dispatchId, async (text) => {
    waiting.push(text);
    ring();
    return true;
  });
  const onEnd = () => ring();
  signal.addEventListener('abort', onEnd);
  stdin.on('end', onEnd);
  try {
    while (!signal.aborted) {
      const line = waiting.shift();
      if (line?.trim() === endWord) return;
      if (line !== undefined) yield line;
      else if (stdin.readableEnded) return;
      else {
        await new Promise<void>((resolve) => {
          ring = resolve;
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

/** Whether lines are delivered to a running dispatch by a communication provider that has the terminal. */
function comeThroughConsole(context: CliContext, harness: Harness): boolean {
  return context.stdin.isTTY === true && harness.plugins.providers('CommunicationProvider').length > 0;
}

/**
 * The same lines once the first one was typed; null where none is. What comes through the console needs a dispatch that
 * runs, so it is not waited for.
 */
export async function whenTyped(
  context: CliContext,
  harness: Harness,
  lines: AsyncIterable<string>,
): Promise<AsyncIterable<string> | null> {
  if (comeThroughConsole(context, harness)) return lines;
  const iterator = lines[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) return null;
  return (async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}
