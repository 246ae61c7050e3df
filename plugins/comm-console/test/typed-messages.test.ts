import { PassThrough } from 'node:stream';
import type { CommunicationHost, IncomingMessage } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import type { ConsoleOptions } from '../src/create-console.ts';
import { createConsole } from '../src/index.ts';
import { envelope, FakeOutput, taskDir } from './make.ts';

function setUp(deliver: CommunicationHost['deliver'], options: Partial<ConsoleOptions> = {}) {
  const output = new FakeOutput();
  const input = new PassThrough();
  const shown = createConsole({ output, input, readAnyInput: true, ...options });
  const start = () => Promise.reject(new Error('not allowed'));
  shown.start?.({ deliver, abort: () => false, accepts: () => ({ messages: true, abort: false }), start });
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

describe('a typed line with a name', () => {
  const ids = ['01JM0000000000000000000AAA1', '01JM0000000000000000000BBB2', '01JM0000000000000000000CCC3'];

  /** Two writers and their worker, an editor; only the worker takes no messages. */
  async function several() {
    const messages: IncomingMessage[] = [];
    const setting = setUp(async (message) => message.dispatchId !== ids[2] && messages.push(message) > 0);
    const { input, output, shown } = setting;
    const [writer = '', other = '', worker = ''] = ids;
    const start = (dispatchId: string, role: string, parentDispatchId: string | null = null) =>
      shown.dispatchStarted?.({ taskDir, envelope: envelope({ dispatchId, role, parentDispatchId }) });
    start(writer, 'writer');
    start(other, 'editor');
    start(worker, 'worker', other);
    const type = async (text: string) => {
      output.text = '';
      messages.length = 0;
      input.write(`${text}\n`);
      await turn();
      await turn();
      return { messages: [...messages], said: output.lines };
    };
    const end = (dispatchId: string) =>
      shown.dispatchEnded?.({ taskDir, envelope: envelope({ dispatchId }) });
    return { ...setting, type, start, end, writer, other, worker };
  }

  it('reaches that dispatch alone, by its role or the end of its id, ignoring case', async () => {
    const { type, writer, other } = await several();
    expect((await type('@writer  more rhymes, please')).messages).toEqual([
      { text: 'more rhymes, please', dispatchId: writer },
    ]);
    expect((await type('@Editor stop')).messages).toEqual([{ text: 'stop', dispatchId: other }]);
    expect((await type('@bbb2 stop')).messages).toEqual([{ text: 'stop', dispatchId: other }]);
    expect((await type('to whom it may concern')).messages).toEqual([{ text: 'to whom it may concern' }]);
  });

  it('is not delivered where nothing or several have the name, and says so', async () => {
    const { type, start } = await several();
    const help = '`@` lists what runs; a line that begins with @ is typed as @@.';
    expect(await type('@painter hello')).toEqual({
      messages: [],
      said: [`Not delivered: nothing that runs is called painter. ${help}`],
    });
    start('01JM0000000000000000000DDD4', 'writer');
    expect(await type('@writer hello')).toEqual({
      messages: [],
      said: [`Not delivered: writer is the name of several: AAA1, DDD4. ${help}`],
    });
    expect((await type('@AA1 hello')).messages).toEqual([]);
    expect((await type('@worker hello')).said).toEqual(['Not delivered: worker takes no messages.']);
  });

  it('without a text chooses where later lines go, until that dispatch ends', async () => {
    const { type, end, writer } = await several();
    expect(await type('@writer')).toEqual({ messages: [], said: ['Lines without a name go to writer now.'] });
    expect((await type('hello')).messages).toEqual([{ text: 'hello', dispatchId: writer }]);
    end(writer);
    expect(await type('are you there?')).toEqual({
      messages: [],
      said: ['Not delivered: writer has ended. Lines without a name go to the latest one again.'],
    });
    expect((await type('hello')).messages).toEqual([{ text: 'hello' }]);
  });

  it('lists what runs, and who gets the next line', async () => {
    const { type, end, writer, other, worker } = await several();
    expect((await type('@')).said).toEqual([
      `@writer  writer, ${taskDir}`,
      `@editor  editor, ${taskDir}, gets lines without a name`,
      `@worker  worker, ${taskDir}`,
    ]);
    for (const id of [writer, other, worker]) end(id);
    expect((await type('@')).said).toEqual(['Nothing is running.']);
  });

  it('may begin with @, which is typed twice', async () => {
    const { type } = await several();
    expect((await type('@@types/node is missing')).messages).toEqual([{ text: '@types/node is missing' }]);
    expect((await type('@ home')).messages).toEqual([]);
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
