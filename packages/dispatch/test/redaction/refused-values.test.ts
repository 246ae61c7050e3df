import { inspect } from 'node:util';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it } from 'vitest';

const secret = 'AKIAQ7RZ2LMN4PQR6STU';

class Instance {
  readonly key = secret;
}

/** Values that are not plain data, so that they cannot be cleaned. */
const refused: Readonly<Record<string, () => unknown>> = {
  'an instance': () => new Instance(),
  'an instance with a long text': () => Object.assign(new Instance(), { key: `${'a'.repeat(45)} ${secret}` }),
  'an instance below a key': () => ({ [secret]: new Instance() }),
  'a String object': () => new String(secret),
  'a symbol': () => Symbol(secret),
  'a function': () => ({ [secret]: () => secret }),
  'a value with toJSON': () => ({ key: secret, toJSON: () => secret }),
  'an error': () => new Error(secret),
  'a cycle': () => {
    const cycle: Record<string, unknown> = {};
    cycle[secret] = cycle;
    return cycle;
  },
  'a key far below': () => {
    let value: unknown = { [secret]: 1n };
    for (let depth = 0; depth < 60; depth += 1) value = { a: value };
    return value;
  },
};

it.each(Object.entries(refused))('the error that refuses %s has no secret', async (_, make) => {
  const store = openDispatchStore(createMemoryStore(), { redact: createRedactor() });
  const dispatch = await store.beginDispatch('lab/one', { role: 'worker' });
  const event = newEvent('agent:text', { text: 'x', a: make() } as never);
  const error: unknown = await Promise.resolve()
    .then(() => dispatch.append(event))
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'EVENT_NOT_JSON' });
  const shown = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error);
  for (let start = 0; start + 8 <= secret.length; start += 1)
    expect(shown).not.toContain(secret.slice(start, start + 8));
});
