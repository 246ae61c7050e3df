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
  const isShown = harness.plugins.providers('CommunicationProvider').length > 0;
  if (context.stdin.isTTY === true && isShown) {
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

/** The lines of somebody who types none. */
export async function* noLines(): AsyncIterable<never> {}
