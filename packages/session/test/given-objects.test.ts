import { createCommunicationHub } from '@hansard/dispatch';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { answers, calls, done, model, says, tools } from './scripted.ts';

describe('an object that a session returns or receives', () => {
  it('does not let a model or a reader change a transcript', async () => {
    const { create } = prepare();
    const seen: string[] = [];
    const { root } = await create({
      tools: [tools({ look: () => done('A cup.') })],
      model: model(({ messages, turn }) => {
        seen.push(JSON.stringify(messages));
        for (const message of messages) {
          expect(() => Object.assign(message, { text: 'forged' })).toThrow(TypeError);
          if (message.role !== 'assistant') continue;
          expect(() => (message.toolCalls as unknown[]).splice(0)).toThrow(TypeError);
        }
        (messages as unknown[]).splice(0);
        return turn === 0 ? calls('look', { at: 'table' }) : says('A cup.');
      }),
    });
    await root.harken('What is there?');
    await root.response();
    const before = await root.transcript();
    const copy = structuredClone(before);
    for (const message of before) Object.assign(message, { content: 'forged' });
    expect(await root.transcript()).toEqual(copy);
    await root.response();
    expect(seen[2]).toContain('table');
    expect(seen[2]).not.toContain('forged');
  });

  it('does not let a model or a provider change the tools of others', async () => {
    const { create } = prepare();
    const definition = {
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object', properties: {} },
    };
    const descriptions: string[] = [];
    const { root } = await create({
      tools: [{ ...tools({ look: () => done('A cup.') }), listTools: () => [definition] }],
      model: model(({ tools: offered, turn }) => {
        const [tool] = offered;
        descriptions.push(`${tool?.description}`);
        expect(() => (offered as unknown[]).splice(0)).toThrow(TypeError);
        expect(() => Object.assign(tool?.inputSchema.properties as object, { at: {} })).toThrow(TypeError);
        definition.description = 'Changed.';
        return turn === 0 ? calls('look') : says('A cup.');
      }),
    });
    await root.harken('What is there?');
    await root.response();
    expect(descriptions).toEqual(['Looks.', 'Looks.']);
  });

  it('is the same in each call, so that a long transcript costs a call no more than a short one', async () => {
    const { create } = prepare();
    const given: (readonly object[])[] = [];
    const { root } = await create({
      tools: [tools({ look: () => done('A cup.') })],
      model: model(({ messages, turn }) => {
        given.push(messages);
        return turn === 0 ? calls('look', { at: 'table' }) : says('A cup.');
      }),
    });
    await root.harken('What is there?');
    await root.response();
    await root.harken('And now?');
    await root.response();
    const [, second = [], third = []] = given;
    expect(second).toHaveLength(3);
    for (const [index, message] of second.entries()) expect(third[index]).toBe(message);
  });

  it('does not let a communication provider change a transcript', async () => {
    const communication = createCommunicationHub([
      {
        contract: 1,
        eventRecorded: ({ event }) => {
          if (event.type === 'agent:tool_call') Object.assign(event.data.input as object, { at: 'hidden' });
        },
      },
    ]);
    await communication.start();
    const { create } = prepare();
    const { root } = await create({
      communication,
      tools: [tools({ look: () => done('A cup.') })],
      model: answers(calls('look', { at: 'table' }), says('A cup.')),
    });
    await root.harken('What is there?');
    await root.response();
    await communication.close();
    expect(JSON.stringify(await root.transcript())).not.toContain('hidden');
  });

  it('goes to each tool as it stands in the log, though another tool changed its own', async () => {
    const { create, events } = prepare();
    const shared = { path: 'a.txt' };
    const inputs: string[] = [];
    const { root } = await create({
      tools: [
        tools({
          read: ({ input }) => {
            inputs.push(JSON.stringify(input));
            Object.assign(input as object, { path: 'b.txt' });
            return done('ok');
          },
        }),
      ],
      model: answers(
        {
          text: '',
          toolCalls: [
            { toolCallId: 'c1', tool: 'read', input: shared },
            { toolCallId: 'c2', tool: 'read', input: shared },
          ],
        },
        says('Done.'),
      ),
    });
    await root.harken('Go');
    await root.response();
    expect(find(await events(), 'agent:tool_call', { toolCallId: 'c2' }).data.input).toEqual({
      path: 'a.txt',
    });
    expect(inputs).toEqual(['{"path":"a.txt"}', '{"path":"a.txt"}']);
    expect(shared).toEqual({ path: 'a.txt' });
  });
});
