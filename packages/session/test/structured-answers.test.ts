import { LoggedString } from '@hansard/session';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { calls, done, model, type Reply, says, tools } from './scripted.ts';

/** Reads a city. */
const city = {
  parse(value: unknown): { readonly name: string } {
    const { name } = value as { name?: unknown };
    if (typeof name !== 'string') throw new TypeError('name must be a text');
    return { name };
  },
};
const outputSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

/** A session whose model gives these answers, and what its model was asked beside the tools. */
async function asked(...replies: readonly Reply[]) {
  const prepared = prepare();
  const requests: { readonly toolChoice: unknown; readonly outputSchema: unknown; readonly last: string }[] =
    [];
  const { session, root } = await prepared.create({
    tools: [tools({ look: () => done('a wall') })],
    model: model(({ toolChoice, outputSchema: schema, messages }) => {
      requests.push({ toolChoice, outputSchema: schema, last: messages.at(-1)?.text ?? '' });
      return replies[requests.length - 1] ?? says('{}');
    }),
  });
  await root.harken('A city?');
  return { ...prepared, session, root, requests };
}

describe('an answer that must fit a schema', () => {
  it('has the value that the schema gives; the agent receives the problem of each answer that does not fit, and the log has it all', async () => {
    const right = '```json\n{"name":"Lyon"}\n```';
    const { session, root, requests, events, load } = await asked(
      says('Lyon'),
      says('{"name":5}'),
      says(right),
    );
    const said = await root.response({ schema: city, outputSchema });
    expect(said.value.name).toBe('Lyon');
    expect(said).toBeInstanceOf(LoggedString);
    expect(said.text).toBe(right);
    expect(requests.map(({ last }) => last.split('\n')[0])).toEqual([
      'A city?',
      expect.stringContaining('Your answer does not fit: '),
      'Your answer does not fit: name must be a text',
    ]);
    expect(requests.every((request) => request.outputSchema === outputSchema)).toBe(true);
    const log = await events();
    const problems = log.filter(
      ({ type, data }) => type === 'user:message' && String(data.text).startsWith('Your'),
    );
    const texts = log.filter(({ type }) => type === 'agent:text');
    expect(problems.map(({ cause }) => cause)).toEqual(texts.slice(0, 2).map(({ id }) => id));
    const request = find(log, 'agent:inference').data.request as { parameters: string };
    expect(find(log, 'request:stored', {}).type).toBe('request:stored');
    expect(log.find(({ id }) => id === request.parameters)?.data.parameters).toEqual({ outputSchema });
    expect(root.awaitsResponse).toBe(false);
    await session.close();
    const again = await load();
    expect(again.root.awaitsResponse).toBe(false);
    await again.session.close();
  });

  it('that never fits ends with a code after the number of tries', async () => {
    const { session, root, requests, events } = await asked(says('one'), says('two'), says('three'));
    await expect(root.response({ schema: city, schemaTries: 2 })).rejects.toMatchObject({
      code: 'SESSION_SCHEMA_UNMATCHED',
      details: { agentId: root.agentId, tries: 2 },
    });
    expect(requests).toHaveLength(2);
    expect(find(await events(), 'harness:error').data.code).toBe('SESSION_SCHEMA_UNMATCHED');
    expect(String(await root.harken('Never mind.'))).toBeTruthy();
    expect(String(await root.response())).toBe('three');
    await session.close();
  });
});

describe('the choice of a tool', () => {
  it('that must be called is about the first call of an answer, and none is about all; the log has both', async () => {
    const { session, root, requests, events } = await asked(
      calls('look'),
      says('A wall.'),
      calls('look'),
      says('Well.'),
    );
    await root.response({ toolChoice: { tool: 'look' } });
    await root.harken('Again, without looking.');
    await root.response({ toolChoice: 'none' });
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual([
      { tool: 'look' },
      undefined,
      'none',
      'none',
    ]);
    const log = await events();
    const stored = log.flatMap(({ type, data }) =>
      type === 'request:stored' && data.parameters !== undefined ? [data.parameters] : [],
    );
    expect(stored).toEqual([{ toolChoice: { tool: 'look' } }, { toolChoice: 'none' }]);
    await session.close();
  });
});
