import { describe, expect, it, vi } from 'vitest';
import { defineErrors, isHansardError, pluginErrors, storeErrors } from '../src/index.ts';

describe('errors of Hansard', () => {
  const cause = new Error('disk');
  const error = storeErrors.error('STORE_UNAVAILABLE', 'No space.', { cause, details: { file: 'a.json' } });

  it('keep code, cause and details, and say what they are', () => {
    expect(error).toMatchObject({
      name: 'HansardError',
      family: 'store',
      code: 'STORE_UNAVAILABLE',
      cause,
      details: { file: 'a.json' },
    });
    expect(String(error)).toBe('HansardError: No space.');
  });

  it('are told apart by family and code', () => {
    expect(storeErrors.is(error)).toBe(true);
    expect(storeErrors.is(error, 'STORE_UNAVAILABLE')).toBe(true);
    expect(storeErrors.is(error, 'STORE_CORRUPT')).toBe(false);
    expect(pluginErrors.is(error)).toBe(false);
    expect(pluginErrors.is(pluginErrors.error('PLUGIN_NOT_FOUND', 'x'), 'PLUGIN_NOT_FOUND')).toBe(true);
  });

  it('are recognised when another copy of the package made them', async () => {
    vi.resetModules();
    const other = await import('../src/index.ts');
    const foreign = other.storeErrors.error('STORE_CLOSED', 'x');
    expect(foreign).not.toBeInstanceOf(error.constructor);
    expect(storeErrors.is(foreign, 'STORE_CLOSED')).toBe(true);
    expect(foreign.advice).toBe('Open it again.');
  });

  it('of a family of your own have its codes, guard and advice', () => {
    const family = defineErrors('acme', {
      ACME_LOST: { when: 'The line was lost.', advice: 'Call again.', details: ['line'] },
      ACME_BUSY: { when: 'The line is busy.', advice: 'Wait.' },
    });
    const lost = family.error('ACME_LOST', 'Line 3 was lost.', { details: { line: 3 } });
    expect(lost).toMatchObject({ family: 'acme', advice: 'Call again.', details: { line: 3 } });
    expect(Object.keys(lost)).not.toContain('advice');
    expect(lost.stack?.split('\n')[1]).toContain('errors.test.ts');
    expect(family.is(lost, 'ACME_LOST')).toBe(true);
    expect(family.is(lost, 'ACME_BUSY')).toBe(false);
    expect(family.is(error)).toBe(false);
    expect(storeErrors.is(lost)).toBe(false);
  });

  it('are not taken from anything that only looks like one', () => {
    for (const value of [
      null,
      'STORE_CLOSED',
      { code: 'STORE_CLOSED' },
      Object.assign(new Error('x'), { code: 'STORE_CLOSED' }),
    ]) {
      expect(isHansardError(value)).toBe(false);
    }
  });
});
