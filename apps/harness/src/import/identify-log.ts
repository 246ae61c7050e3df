import { basename, dirname } from 'node:path';
import { dispatchIdOf } from '@hansard/claude';
import type { LogOrigin } from '@hansard/formats';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { ImportFormatId } from './import-formats.ts';

/** The dispatches of one import, each with the file that it is of. */
export type TakenDispatches = Map<string, string>;

/**
 * The dispatch of a log, which a second import finds again: named by the id and the time that the log gives itself; where
 * it gives no id, by its first record; where it gives no time either, also by its file and the folder that it lies in.
 */
export function identifyLog(
  format: ImportFormatId,
  { id, time, firstRecord, file = '' }: LogOrigin,
  number = 1,
): string {
  const place = time === null ? [basename(dirname(file)), basename(file)] : [];
  const name = id === null ? [...place, JSON.stringify(firstRecord)] : [id];
  return dispatchIdOf([format, ...name, ...(number === 1 ? [] : [number])].join('\n'), time ?? 0);
}

/** Whether nothing but its place and its beginning tells a log from another. */
export function isVague({ id, time }: LogOrigin): boolean {
  return id === null && time === null;
}

/** Takes the dispatch of a log, unless another file of this import that begins in the same way has taken it. */
export function takeDispatch(
  taken: TakenDispatches,
  taskDir: string,
  dispatchId: string,
  origin: LogOrigin,
): void {
  const { file = '' } = origin;
  const key = `${taskDir} ${dispatchId}`;
  const other = taken.get(key) ?? file;
  if (other !== file && isVague(origin))
    throw new CliError(
      exitCode.failed,
      `${file} and ${other} have the same name and the same first record, so nothing tells whether they are one log.`,
      'Import each into a task of its own: --task PROJECT/SLUG.',
    );
  taken.set(key, file);
}
