import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { messageOf } from '@hansard/events';
import type { CommunicationHost } from '@hansard/provider';

/**
 * Delivers each line of an input as a message, one after the other, and ignores empty lines. Reports a message that was not
 * delivered. Returns a function that ends the reading.
 */
export function readMessages(
  input: Readable,
  host: CommunicationHost,
  say: (text: string) => void,
): () => void {
  let stopped = false;
  let delivered = Promise.resolve();
  const lines = createInterface({ input, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });

  async function deliver(text: string): Promise<void> {
    if (stopped) return;
    try {
      if (await host.deliver({ text })) return;
      if (!stopped) say('Not delivered: no dispatch is running.');
    } catch (error) {
      if (!stopped) say(`Not delivered: ${messageOf(error)}`);
    }
  }

  lines.on('line', (line) => {
    const text = line.trim();
    if (text !== '') delivered = delivered.then(() => deliver(text));
  });
  // Errors of the input arrive here, too.
  lines.on('error', (error) => say(`No more messages can be typed: ${messageOf(error)}`));

  return () => {
    stopped = true;
    lines.close();
  };
}
