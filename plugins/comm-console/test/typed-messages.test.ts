import { PassThrough } from 'node:stream';
import type { CommunicationHost, IncomingMessage } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { type ConsoleOptions, createConsole } from '../src/index.ts';
import { FakeOutput } from './make.ts';

function setUp(deliver: CommunicationHost['deliver'], options: Partial<ConsoleOptions> = {}) {
  const output = new FakeOutput();
  const input = new PassThrough();
  const shown = createConsole({ output, input, readAnyInput: true, ...options });
  shown.start?.({ deliver, abort: () => false });
  return { output, input, shown };
}

/** A turn of the event loop, in which streams pass on what they have. */
const turn = () => new Promise(setImmediate);

describe('a typed line', () => {
  it('reaches the host as a message, in order, without line end and spaces around it', async () => {
    const messages: IncomingMessage[] = [];
    const { input, output, shown } = setUp(async (message) => messages.push(message) > 0);
    input.write('  first\r\nsec');
    input.write('ond\n\n   \n');
    await turn();
    await turn();
    expect(messages).toEqual([{ text: 'first' }, { text: 'second' }]);
    expect(output.text).toBe('');
    await shown.close();
  });

  it('waits until the one before it was delivered', async () => {
    const opened: ((taken: boolean) => void)[] = [];
    const { input, shown } = setUp(() => new Promise((resolve) => opened.push(resolve)));
    input.write('one\ntwo\n');
    await turn();
    expect(opened).toHaveLength(1);
    opened[0]?.(true);
    await turn();
    expect(opened).toHaveLength(2);
    await shown.close();
  });

  it('that no dispatch takes is said not to be delivered', async () => {
    const { input, output, shown } = setUp(async () => false);
    input.write('hello\n');
    await turn();
    expect(output.lines).toEqual(['Not delivered: no dispatch is running.']);
    await shown.close();
  });

  it('that fails is said not to be delivered, and why', async () => {
    const { input, output, shown } = setUp(async () => {
      throw new Error('the store is \x1b[1mfull');
    });
    input.write('hello\n');
    await turn();
    expect(output.lines).toEqual(['Not delivered: the store is ␛[1mfull']);
    await shown.close();
  });
});

describe('the input', () => {
  it('is read when it is a terminal', async () => {
    const messages: IncomingMessage[] = [];
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const { shown } = setUp(async (message) => messages.push(message) > 0, { input, readAnyInput: false });
    input.write('hello\n');
    await turn();
    expect(messages).toEqual([{ text: 'hello' }]);
    await shown.close();
  });

  it('is left alone when it is not a terminal', async () => {
    const { input, shown } = setUp(async () => true, { readAnyInput: false });
    input.write('hello\n');
    await turn();
    expect(input.readableLength).toBe(6);
    expect(input.readableFlowing).toBe(null);
    await shown.close();
  });

  it('may end, quietly', async () => {
    const { input, output, shown } = setUp(async () => true);
    input.end();
    await turn();
    expect(output.text).toBe('');
    await shown.close();
  });

  it('that fails is said to have failed', async () => {
    const { input, output, shown } = setUp(async () => true);
    input.destroy(new Error('read EIO'));
    await turn();
    expect(output.lines).toEqual(['No more messages can be typed: read EIO']);
    await shown.close();
  });

  it('is let go by close, so that it keeps no process alive, and nothing more is delivered or said', async () => {
    const messages: IncomingMessage[] = [];
    const { input, output, shown } = setUp(async (message) => {
      messages.push(message);
      await shown.close();
      return false;
    });
    input.write('one\ntwo\n');
    await turn();
    await turn();
    input.write('three\n');
    await turn();
    expect(messages).toEqual([{ text: 'one' }]);
    expect(output.text).toBe('');
    expect(input.isPaused()).toBe(true);
    expect(input.listenerCount('data') + input.listenerCount('error')).toBe(0);
  });
});
