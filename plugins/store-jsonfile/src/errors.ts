import { type StoreError, storeErrors } from '@hansard/provider';

export interface CorruptOptions {
  /** The number of whole events before the damage; absent if the damage is not in the events. */
  readonly wholeEvents?: number;
  readonly cause?: unknown;
}

/** The error of a damaged file. A damaged file is never read as a shorter log. */
export function corrupt(
  file: string,
  offset: number,
  what: string,
  { wholeEvents, cause }: CorruptOptions = {},
): StoreError {
  const message = `${file} is damaged at byte ${offset}: ${what}.`;
  if (wholeEvents === undefined)
    return storeErrors.error(
      'STORE_CORRUPT',
      `${message} Restore the file from a copy, or repair it by hand.`,
      {
        details: { file, offset },
        cause,
      },
    );
  return storeErrors.error(
    'STORE_CORRUPT',
    `${message} ${wholeText(wholeEvents)} Restore the file from a copy, or see \`hansard store verify\`.`,
    { details: { file, offset, wholeEvents }, cause },
  );
}

function wholeText(events: number): string {
  if (events === 0) return 'There is no whole event before it.';
  return events === 1 ? 'The event before it is whole.' : `The ${events} events before it are whole.`;
}

/** The error of a folder, a link or another special file in the place of a file. */
export function notAFile(file: string, kind: string): StoreError {
  return storeErrors.error(
    'STORE_CORRUPT',
    `${file} is ${kind}, and not a regular file. Move it away. If there was a file, restore it from a copy.`,
    { details: { file } },
  );
}
