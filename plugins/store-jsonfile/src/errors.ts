import { StoreError } from '@hansard/provider';

/** The error of a damaged file. A damaged file is never read as a shorter log. */
export function corrupt(file: string, offset: number, what: string, cause?: unknown): StoreError {
  return new StoreError(
    'STORE_CORRUPT',
    `${file} is damaged at byte ${offset}: ${what}. Restore the file from a copy, or repair it by hand.`,
    { details: { file, offset }, cause },
  );
}

/** The error of a file that ends before acknowledged events; `end` is the end of those events. */
export function eventsMissing(file: string, size: number, end: number): StoreError {
  return corrupt(file, size, `it ends here, but its events must reach byte ${end}`);
}

/** The error of a folder, a link or another special file in the place of a file. */
export function notAFile(file: string, kind: string): StoreError {
  return new StoreError(
    'STORE_CORRUPT',
    `${file} is ${kind}, and not a regular file. Move it away. If there was a file, restore it from a copy.`,
    { details: { file } },
  );
}
