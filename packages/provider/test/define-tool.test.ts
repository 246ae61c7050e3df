import { z } from '@hansard/events/zod';
import { describe, expect, it } from 'vitest';
import { combineTools, defineTool, ToolRefusal } from '../src/define-tool.ts';
import { LoggedString, type ToolCall, type ToolProvider } from '../src/index.ts';

const call = (tool: string, input: ToolCall['input']): ToolCall => ({
  taskDir: 't',
  dispatchId: 'D1',
  toolCallId: 'c1',
  tool,
  input,
  signal: new AbortController().signal,
  observe: async () => 'o1',
});

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.strictObject({ one: z.int(), other: z.int().default(1) }),
  run: ({ one, other }) => `${one + other}`,
});

const greet = defineTool({
  name: 'greet',
  description: 'Greets a person.',
  input: {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1 } },
    required: ['name'],
    additionalProperties: false,
  },
  run({ name }, { toolCallId }) {
    if (name === 'Voldemort') throw new ToolRefusal('That name is not said. Choose another one.');
    if (name === 'Crash') throw new Error('out of words');
    return { status: 'completed', text: `Hello, ${String(name)}.`, metadata: { toolCallId } };
  },
});

describe('defineTool', () => {
  it('shows the model the JSON Schema of what it may give', async () => {
    expect(await add.listTools()).toEqual([
      {
        name: 'add',
        description: 'Adds two numbers.',
        inputSchema: expect.objectContaining({
          type: 'object',
          required: ['one'],
          properties: {
            one: expect.objectContaining({ type: 'integer' }),
            other: expect.objectContaining({ default: 1 }),
          },
        }),
      },
    ]);
    expect(await greet.listTools()).toMatchObject([{ inputSchema: { required: ['name'] } }]);
  });

  it('gives the function a checked input with its defaults, and takes a text as the result', async () => {
    expect(await add.callTool(call('add', { one: 2 }))).toEqual({ status: 'completed', text: '3' });
  });

  it.each<[string, ToolProvider, ToolCall['input'], RegExp]>([
    ['a wrong type', add, { one: 'two' }, /^add was called with the wrong input\. input\.one is "two": /],
    ['a missing field', add, {}, /input\.one is missing: /],
    ['an unknown field', add, { one: 1, two: 2 }, /input\.two is 2: /],
    ['a value that is not an object', add, null, /input is null: /],
    [
      'a missing field of a JSON Schema',
      greet,
      {},
      /^greet was called with the wrong input\. input\.name is missing: /,
    ],
    ['an unknown field of a JSON Schema', greet, { name: 'Ann', age: 3 }, /input\.age is 3: /],
    ['a field that is too short for a JSON Schema', greet, { name: '' }, /input\.name is "": /],
  ])('answers %s with what to change, and does not run', async (_, tool, input, text) => {
    const [definition] = await tool.listTools();
    const outcome = await tool.callTool(call(definition?.name ?? '', input));
    expect(outcome).toEqual({ status: 'error', text: expect.stringMatching(text) });
  });

  it('describes the fields of the input that the schema describes, to the caller of a wrong one', async () => {
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      input: z.strictObject({ minutes: z.int().describe('How long.'), why: z.string().optional() }),
      run: () => 'Done.',
    });
    const { text } = await wait.callTool(call('wait', { minutes: 'ten' }));
    expect(text).toMatch(
      /^wait was called with the wrong input\. input\.minutes is "ten": [^.]+\. It takes minutes: How long\.$/,
    );
    expect((await add.callTool(call('add', {}))).text).not.toContain('It takes');
  });

  it('takes an outcome with metadata, a refusal as a result, and throws other errors on', async () => {
    expect(await greet.callTool(call('greet', { name: 'Ann' }))).toEqual({
      status: 'completed',
      text: 'Hello, Ann.',
      metadata: { toolCallId: 'c1' },
    });
    expect(await greet.callTool(call('greet', { name: 'Voldemort' }))).toEqual({
      status: 'error',
      text: 'That name is not said. Choose another one.',
    });
    await expect(greet.callTool(call('greet', { name: 'Crash' }))).rejects.toThrow('out of words');
    await expect(greet.callTool(call('wave', {}))).rejects.toThrow('There is no tool wave');
  });

  it('names the utterance that it gives back as what the result was made from', async () => {
    const quote = defineTool({
      name: 'quote',
      description: 'Quotes.',
      input: z.strictObject({}),
      run: () => new LoggedString('Hello', 'e1'),
    });
    expect(await quote.callTool(call('quote', {}))).toEqual({
      status: 'completed',
      text: 'Hello',
      madeFrom: ['e1'],
    });
  });
});

describe('combineTools', () => {
  it('is one provider of several tools, of which the first of a name gets the calls', async () => {
    const closed: string[] = [];
    const second = {
      ...defineTool({ name: 'add', description: 'Wrong.', input: z.strictObject({}), run: () => '0' }),
      close: () => void closed.push('second'),
    };
    const all = combineTools([add, greet, second]);
    expect((await all.listTools()).map(({ name, description }) => [name, description])).toEqual([
      ['add', 'Adds two numbers.'],
      ['greet', 'Greets a person.'],
    ]);
    expect(await all.callTool(call('add', { one: 1 }))).toMatchObject({ text: '2' });
    expect(await all.callTool(call('greet', { name: 'Ben' }))).toMatchObject({ text: 'Hello, Ben.' });
    await expect(all.callTool(call('wave', {}))).rejects.toThrow('There is no tool wave');
    await all.close?.();
    expect(closed).toEqual(['second']);
  });
});
