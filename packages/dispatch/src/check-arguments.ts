import { StoreError } from '@hansard/provider';

/** @throws TypeError if the number is not whole or is below the minimum */
export function assertCount(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new TypeError(`${name} must be a whole number from ${least}; it is ${String(value)}.`);
}

/** @throws STORE_INVALID_CURSOR if the cursor is neither the position of an event nor -1 */
export function assertCursor(after: number): void {
  if (Number.isSafeInteger(after) && after >= -1) return;
  throw new StoreError(
    'STORE_INVALID_CURSOR',
    `A cursor is the position of an event, or -1 for the beginning; it is ${String(after)}.`,
    { details: { after } },
  );
}
