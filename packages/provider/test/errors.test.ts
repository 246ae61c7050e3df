import { describe, expect, it, vi } from 'vitest';
import {
  defineErrors,
  isCodedError,
  isPluginError,
  isStoreError,
  PluginError,
  StoreError,
} from '../src/index.ts';

describe('coded errors', () => {
  const cause = new Error('disk');
  const error = new StoreError('STORE_UNAVAILABLE', 'No space.', { cause, details: { file: 'a.json' } });

  it('keep code, cause and details, and say what they are', () => {
    expect(error).toMatchObject({
      name: 'StoreError',
      code: 'STORE_UNAVAILABLE',
      cause,
      details: { file: 'a.json' },
    });
    expect(String(error)).toBe('StoreError: No space.');
  });

  it('are told apart by family and code', () => {
    expect(isStoreError(error)).toBe(true);
    expect(isStoreError(error, 'STORE_UNAVAILABLE')).toBe(true);
    expect(isStoreError(error, 'STORE_CORRUPT')).toBe(false);
    expect(isPluginError(error)).toBe(false);
    expect(isPluginError(new PluginError('PLUGIN_NOT_FOUND', 'x'), 'PLUGIN_NOT_FOUND')).toBe(true);
  });

  it('are recognised when another copy of the package made them', async () => {
    vi.resetModules();
    const other = await import('../src/index.ts');
    const foreign = new other.StoreError('STORE_CLOSED', 'x');
    expect(foreign).not.toBeInstanceOf(StoreError);
    expect(isStoreError(foreign, 'STORE_CLOSED')).toBe(true);
    expect(foreign.advice).toBe('Open it again.');
  });

  it('of a family of your own have its codes, guard and advice', () => {
    const family = defineErrors({
      ACME_LOST: { when: 'The line was lost.', advice: 'Call again.', details: ['line'] },
      ACME_BUSY: { when: 'The line is busy.', advice: 'Wait.' },
    });
    class AcmeError extends family.Base {}
    const lost = new AcmeError('ACME_LOST', 'Line 3 was lost.', { details: { line: 3 } });
    expect(lost).toMatchObject({ name: 'AcmeError', advice: 'Call again.', details: { line: 3 } });
    expect(Object.keys(lost)).not.toContain('advice');
    expect(family.codes).toEqual(['ACME_LOST', 'ACME_BUSY']);
    expect(family.guard(lost, 'ACME_LOST')).toBe(true);
    expect(family.guard(lost, 'ACME_BUSY')).toBe(false);
    expect(family.guard(error)).toBe(false);
    expect(isStoreError(lost)).toBe(false);
  });

  it('are not taken from anything that only looks like one', () => {
    for (const value of [
      null,
      'STORE_CLOSED',
      { code: 'STORE_CLOSED' },
      Object.assign(new Error('x'), { code: 'STORE_CLOSED' }),
    ]) {
      expect(isCodedError(value)).toBe(false);
    }
  });
});
