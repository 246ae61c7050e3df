import { basename, dirname } from 'node:path';
import { dispatchIdOf } from '@hansard/claude';
import type { LogOrigin } from '@hansard/formats';

/**
 * The dispatch of a log, which a second import finds again: named by the id and the time that the log gives itself; where
 * it gives no id, by its first record; where it gives no time either, also by its file and the folder of that file.
 */
export function identifyLog(
  format: string,
  { id, time, firstRecord, file = '' }: LogOrigin,
  number = 1,
): string {
  const place = time === null ? [basename(dirname(file)), basename(file)] : [];
  const name = id === null ? [...place, JSON.stringify(firstRecord)] : [id];
  return dispatchIdOf([format, ...name, ...(number === 1 ? [] : [number])].join('\n'), time ?? 0);
}
