import { createWriteStream, existsSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FileSink, TextSink } from '@hansard/events';
import { type HarnessError, harnessErrors } from '../harness-errors.ts';

/** Where an export is written. */
export interface ExportTarget {
  /** The file or folder; null: a sink of the program. */
  readonly path: string | null;
  /** The text of a format that is one text. */
  readonly text: TextSink;
  /** Opens a new file of a format that is a folder. Its name can have folders. @throws HARNESS_FILE_UNUSABLE */
  file(name: string): FileSink;
  /**
   * Waits for all writes, then renames the result to its final name. `check` reads what was written under its `.part` name before that; what it throws is
   * thrown, and nothing is renamed. @throws HARNESS_FILE_UNUSABLE after a failed write
   */
  close(check?: (part: string) => Promise<void>): Promise<void>;
  /** Removes everything written so far. Does nothing after `close`. */
  discard(): Promise<void>;
}

/**
 * Opens the target of an export. It never overwrites an existing file, and until the export is complete, its name ends in
 * `.part`. Only the owner can read it: an export has the same content as the store.
 * @throws HARNESS_OPTION_INVALID if the format needs a folder and none is named, HARNESS_FILE_UNUSABLE if something is there
 */
export function openExportTarget(
  cwd: string,
  out: string | TextSink | undefined,
  { id, target }: { readonly id: string; readonly target: 'text' | 'folder' },
): ExportTarget {
  if (typeof out === 'string') {
    const path = resolve(cwd, out);
    return target === 'folder' ? openFolder(path, id) : openText(path, id);
  }
  if (target === 'folder') missingFolder(id);
  const missing: TextSink = {
    write() {
      throw harnessErrors.error('HARNESS_OPTION_INVALID', `${id} is written as one text.`, {
        advice: 'Name a new file, or pass a sink for the text.',
      });
    },
  };
  return {
    path: null,
    text: out ?? missing,
    file: () => missingFolder(id),
    async close() {},
    async discard() {},
  };
}

function openText(path: string, format: string): ExportTarget {
  const parts = openParts(path);
  let text: TextSink | null = null;
  return {
    path,
    text: {
      write(piece) {
        text ??= parts.open(parts.path);
        return text.write(piece);
      },
    },
    file: () => missingFolder(format),
    close(check) {
      if (text === null) parts.open(parts.path);
      return parts.close(check);
    },
    discard: parts.discard,
  };
}

function openFolder(path: string, format: string): ExportTarget {
  const parts = openParts(path);
  let isCreated = false;
  const text: TextSink = {
    write() {
      throw new TypeError(`${format} is written as several files.`);
    },
  };
  const file = (name: string) => {
    // Created with the first file, so that a format that fails before it writes leaves no folder.
    if (!isCreated) parts.makeFolder();
    isCreated = true;
    const file = join(parts.path, name);
    if (dirname(file) !== parts.path) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    return parts.open(file);
  };
  return { path, text, file, close: parts.close, discard: parts.discard };
}

/** The file or folder under its `.part` name, until it is complete. */
function openParts(path: string) {
  if (existsSync(path)) throw cannotWrite(path, new Error('it already exists'));
  const part = `${path}.part`;
  const opened = new Map<Writable, Promise<void>>();
  let isWritten = false;
  let isDone = false;
  const atOwnPlace = <T>(make: () => T): T => {
    try {
      return make();
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotWrite(path, cause as Error);
      throw harnessErrors.error('HARNESS_FILE_UNUSABLE', `${path} can't be written: ${part} exists.`, {
        advice:
          'Another export is writing it. If none is running, an earlier export was interrupted: remove that file or folder.',
        cause,
      });
    }
  };
  return {
    path: part,
    open(file: string): FileSink {
      const stream = createWriteStream(file, { fd: atOwnPlace(() => openSync(file, 'wx', 0o600)) });
      const ended = finished(stream);
      // Awaited in `close`. Before that, the next write reports a failure.
      ended.catch(() => {});
      opened.set(stream, ended);
      isWritten = true;
      const sink = sinkOf(stream, async (cause) => {
        throw cannotWrite(path, cause);
      });
      return {
        ...sink,
        async end() {
          stream.end();
          await ended.catch((cause) => {
            throw cannotWrite(path, cause);
          });
          opened.delete(stream);
        },
      };
    },
    async close(check?: (part: string) => Promise<void>) {
      try {
        for (const stream of opened.keys()) stream.end();
        for (const ended of opened.values()) await ended;
      } catch (cause) {
        throw cannotWrite(path, cause as Error);
      }
      await check?.(part);
      try {
        if (existsSync(path)) throw new Error('it already exists');
        if (isWritten) renameSync(part, path);
      } catch (cause) {
        throw cannotWrite(path, cause as Error);
      }
      isDone = true;
    },
    makeFolder: () => atOwnPlace(() => mkdirSync(part, { mode: 0o700 })),
    async discard() {
      if (isDone || !isWritten) return;
      isDone = true;
      for (const stream of opened.keys()) stream.destroy();
      await Promise.allSettled(opened.values());
      rmSync(part, { recursive: true, force: true });
    },
  };
}

function sinkOf(stream: Writable, fail: (cause: Error) => Promise<never>): Pick<FileSink, 'write'> {
  let failure: Error | null = null;
  stream.on('error', (error) => {
    failure ??= error;
  });
  return {
    async write(piece) {
      if (failure !== null) await fail(failure);
      if (stream.write(piece)) return;
      await new Promise<void>((done) => {
        const go = () => {
          for (const event of ['drain', 'close', 'error']) stream.off(event, go);
          done();
        };
        for (const event of ['drain', 'close', 'error']) stream.once(event, go);
      });
    },
  };
}

function cannotWrite(path: string, cause: Error): HarnessError {
  return harnessErrors.error('HARNESS_FILE_UNUSABLE', `${path} can't be written: ${cause.message}`, {
    advice: 'Name a new path in a writable folder with enough free space.',
    cause,
  });
}

function missingFolder(format: string): never {
  throw harnessErrors.error('HARNESS_OPTION_INVALID', `${format} is written as several files.`, {
    advice: 'Name a new folder: --out FOLDER.',
  });
}
