import { storeErrors } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import {
  cursorAfterEnd,
  dispatchExists,
  dispatchNotClaimed,
  dispatchNotFound,
  eventConflict,
  storeClosed,
} from '../src/index.ts';

const refusals = [
  dispatchExists('a/b', 'd1'),
  dispatchNotFound('a/b', 'd1'),
  dispatchNotClaimed('a/b', 'd1'),
  eventConflict('e1'),
  cursorAfterEnd(7, 3),
  storeClosed('/data'),
];

describe('the error of a refused request', () => {
  it.each(refusals)('$code has the details that the contract lists, and says what to do', (error) => {
    expect(storeErrors.is(error, error.code)).toBe(true);
    const row: { readonly details?: readonly string[] } = storeErrors.rows[error.code];
    const required = (row.details ?? []).filter((name) => !name.endsWith('?') && name !== 'owner');
    expect(Object.keys(error.details)).toEqual(expect.arrayContaining(required));
    expect(error.message.split(/[.:] /).length).toBeGreaterThan(1);
  });

  it('repeats the owner of a dispatch that another opening has claimed', () => {
    const refusal = storeErrors.error('STORE_LOCKED', 'It belongs to process 7.', {
      details: { owner: 'process 7' },
    });
    const error = dispatchNotClaimed('a/b', 'd1', refusal);
    expect(error.message).toMatch(/has not claimed dispatch d1 of a\/b\. .* It belongs to process 7\.$/);
    expect(error.details).toEqual({ taskDir: 'a/b', dispatchId: 'd1', owner: 'process 7' });
  });
});
