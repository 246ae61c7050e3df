import { type CapturedEvent, type JsonObject, newEvent } from '@hansard/events';
import { sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../src/index.ts';

const value = 'hunter2-secret-value';
const key = 'acme_01234567';
const redactor = createRedactor({
  environment: ['PW'],
  env: { PW: value },
  patterns: { acme: 'acme_[0-9a-f]{8}' },
});

const eventWith = (data: JsonObject, type = 'agent:text'): CapturedEvent =>
  ({ ...sampleEvents['agent:text'], type, data }) as CapturedEvent;

describe('counts of redaction', () => {
  it.each([
    ['the value of a variable', value, 'env-PW'],
    ['a match of a pattern', key, 'acme'],
    ['a text with a match', `x-${key}`, 'acme'],
  ])('are none if %s is in the place of a kind, which is replaced', (_, secret, kind) => {
    for (const given of [
      eventWith({ text: 'x', redactions: { [secret]: 1 } }),
      eventWith({ text: key, redactions: { [secret]: 1, acme: 2 } }),
      eventWith({ problem: 'p', replaced: { [secret]: 1 } }, 'system:notice'),
    ]) {
      const redacted = redactor.event(given);
      expect(JSON.stringify(redacted)).not.toContain(secret);
      expect(JSON.stringify(redacted)).toContain(`[REDACTED:${kind}]`);
      expect(redactor.find(redacted as never)).toEqual([]);
      expect(redactor.event(redacted)).toBe(redacted);
    }
  });

  it('stay, with the kinds of formats, patterns and variables, and those of an earlier configuration', () => {
    const counts = { 'github-token': 1, 'secret-value': 1, acme: 2, 'env-PW': 1, 'env-OLD': 3, older: 4 };
    const clean = eventWith({ text: 'x', redactions: counts });
    expect(redactor.event(clean)).toBe(clean);
    const { data } = redactor.event(eventWith({ text: key, redactions: counts }));
    expect(data).toEqual({ text: '[REDACTED:acme]', redactions: { ...counts, acme: 3 } });
  });

  it.each([
    ['a pattern', createRedactor({ patterns: { acme: 'acme|PW|github|secret' } }), 'acme'],
    ['a variable', createRedactor({ environment: ['PW'], env: { PW: 'github-token' } }), 'env-PW'],
  ])('stay if %s matches the name of a kind, its own included, however often it runs', (_, own, kind) => {
    const text = kind === 'acme' ? 'of acme' : 'of github-token';
    const counts = { acme: 1, 'env-PW': 1, 'github-token': 1, 'secret-value': 1 };
    const configured = Object.fromEntries(
      Object.entries(counts).filter(([name]) => kind === 'env-PW' || name !== 'env-PW'),
    );
    const first = own.event(eventWith({ text, redactions: configured }));
    expect(first.data).toEqual({
      text: `of [REDACTED:${kind}]`,
      redactions: { ...configured, [kind]: (counts[kind as never] ?? 0) + 1 },
    });
    expect(own.event(first)).toBe(first);
    const notice = newEvent('system:notice', { problem: 'p', replaced: configured });
    expect(own.event(notice)).toBe(notice);
  });

  it('are only those of the event itself: `replaced` counts in a notice, `redactions` not in other objects', () => {
    for (const given of [
      eventWith({ text: 'x', deep: { redactions: { [key]: 1 } } }),
      eventWith({ text: 'x', replaced: { [key]: 1 } }),
    ])
      expect(JSON.stringify(redactor.event(given).data)).toContain('"[REDACTED:acme]":1');
  });
});
