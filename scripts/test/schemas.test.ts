import { readFileSync } from 'node:fs';
import { sampleEvents } from '@hansard/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { committedSchemas } from '../schemas.ts';

const schemas = await committedSchemas();

describe('the committed JSON Schemas', () => {
  it.each(Object.entries(schemas))('%s is what the zod schemas say (else: pnpm schema)', (path, schema) => {
    expect(readFileSync(path, 'utf8')).toBe(schema);
  });

  it('accept every known event and any other type, and refuse what is wrong', () => {
    const text = Object.entries(schemas).find(([path]) => path.endsWith('event.json'))?.[1] ?? '';
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(text));
    const event = sampleEvents['agent:text'];
    for (const sample of Object.values(sampleEvents))
      expect([sample.type, validate(sample)]).toEqual([sample.type, true]);
    expect(validate({ ...event, type: 'game:vote', data: { any: 1 } })).toBe(true);
    expect(validate({ ...event, data: { text: 1 } })).toBe(false);
    expect(validate({ ...event, substance: 'a', cause: 'b' })).toBe(false);
    expect(validate({ ...event, type: 'delta:text', data: {} })).toBe(false);
    expect(validate({ ...event, timestamp: 'today' })).toBe(false);
    expect(validate({ ...event, type: 'game:vote', data: [] })).toBe(false);
  });
});
