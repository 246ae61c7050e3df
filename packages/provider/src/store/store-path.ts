import { storeErrors } from './store-errors.ts';

/** Names of devices on Windows, where spaces before the dot do not count. */
const reserved = /^(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³]) *(\.|$)/i;
/** The maximum length of a name in common file systems, in bytes of UTF-8. */
const longestSegment = 255;
/** The maximum length of a `taskDir`, so that its path and an index of a database can hold it, in bytes of UTF-8. */
const longestTaskDir = 1_024;

/**
 * Whether a task is below `_hansard`, where Hansard keeps its own records, such as letters. Listings of the whole store omit these tasks
 * and their dispatches. A caller that names such a task gets them.
 */
export function isInternalTask(taskDir: string): boolean {
  return taskDir.startsWith('_hansard/');
}

/**
 * Refuses a `taskDir` that is not a plain relative path: segments of letters, digits, `.`, `_`, `-`, space and other
 * printable characters, separated by `/`. A segment must not be empty, start with a dot or have a special meaning in a file
 * system. It has at most 1,024 bytes, and a segment at most 255.
 * @throws STORE_INVALID_PATH
 */
export function assertTaskDir(taskDir: string): void {
  const reason = typeof taskDir === 'string' ? whyNotTaskDir(taskDir) : 'it is not a string';
  if (reason === null) return;
  throw storeErrors.error('STORE_INVALID_PATH', `${JSON.stringify(taskDir)} can't be a task: ${reason}.`, {
    details: { taskDir },
  });
}

/**
 * Refuses a `dispatchId` that could not be the name of a file: 1 to 128 characters of `A-Z a-z 0-9 . _ -`, not starting
 * with a dot. (An id with `:` names an event, never a dispatch.)
 * @throws STORE_INVALID_PATH
 */
export function assertDispatchId(dispatchId: string): void {
  if (
    typeof dispatchId === 'string' &&
    /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(dispatchId) &&
    !reserved.test(dispatchId)
  )
    return;
  throw storeErrors.error(
    'STORE_INVALID_PATH',
    `${JSON.stringify(dispatchId)} can't be a dispatch id. Use 1 to 128 of A-Z a-z 0-9 . _ -, without a dot in front, and no name that Windows reserves.`,
    {
      details: { dispatchId },
    },
  );
}

/** Whether a text has more bytes in UTF-8. Each of its units has at most three. */
function isLonger(text: string, bytes: number): boolean {
  return 3 * text.length > bytes && new TextEncoder().encode(text).length > bytes;
}

function whyNotTaskDir(taskDir: string): string | null {
  if (taskDir === '') return 'it is empty';
  if (isLonger(taskDir, longestTaskDir)) return `it is longer than ${longestTaskDir} bytes`;
  for (const segment of taskDir.split('/')) {
    if (segment === '') return 'it has an empty part (a leading, trailing or doubled /)';
    if (segment.startsWith('.')) return `its part ${JSON.stringify(segment)} starts with a dot`;
    if (!segment.isWellFormed()) return 'it has half of a surrogate pair';
    if (isLonger(segment, longestSegment)) return `a part is longer than ${longestSegment} bytes`;
    if (/[\p{Cc}\p{Zl}\p{Zp}\\:*?"<>|]/u.test(segment))
      return `its part ${JSON.stringify(segment)} has a character that is not allowed in paths`;
    if (/[. ]$/.test(segment)) return `its part ${JSON.stringify(segment)} ends with a dot or a space`;
    if (reserved.test(segment)) return `${JSON.stringify(segment)} is reserved by some file systems`;
  }
  return null;
}
