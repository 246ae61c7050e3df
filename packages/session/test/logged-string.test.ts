import { LoggedString } from '@hansard/session';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { answers, says } from './scripted.ts';

describe('a LoggedString', () => {
  it('is a string for code that only needs its text', () => {
    const line = new LoggedString('Hello', 'e1');
    expect(`${line}, ${line.toUpperCase()}`).toBe('Hello, HELLO');
    expect(String(line)).toBe('Hello');
    expect(JSON.stringify({ line })).toBe('{"line":"Hello"}');
    expect(line.length).toBe(5);
  });

  it('has the text as a primitive string, for what compares', () => {
    const line = new LoggedString('Hello', 'e1');
    expect(line.text).toBe('Hello');
    expect([line].join()).toBe('Hello');
    expect(structuredClone({ line: line.text })).toEqual({ line: 'Hello' });
  });

  it.each([
    ['an answer', (said: LoggedString) => said],
    ['an answer in other words', (said: LoggedString) => said.reworded('[Root]: Done.')],
    [
      'a copy that another version of the package made',
      (said: LoggedString) => Object.assign(new String(said), { messageId: 'e1' }),
    ],
  ])('can be %s as the result of a session', async (_, resultOf) => {
    const { create, events } = prepare();
    const { root, session } = await create({ model: answers(says('Done.')) });
    await root.harken('Go');
    const result = resultOf(await root.response()) as LoggedString;
    await session.complete('completed', result);
    expect(find(await events(), 'session:complete').data.result).toBe(String(result));
  });

  it('keeps its substance in other words', () => {
    const quoted = new LoggedString('Hello', 'e1').reworded('[Jack]: Hello');
    expect(String(quoted)).toBe('[Jack]: Hello');
    expect(quoted.messageId).toBe('e1');
  });

  it('gives the substance of what an agent hears', async () => {
    const { create, events } = prepare();
    const { root } = await create();
    const messageId = await root.harken(new LoggedString('[Jack]: Hello', 'e1'));
    expect(find(await events(), 'user:message')).toMatchObject({ id: messageId, substance: 'e1' });
  });
});
