import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { DispatchSource } from '@hansard/events';

type SourceFiles = DispatchSource['files'];

/** The files of a log as they are now. Called before they are read, so that what grows meanwhile is seen by the next import. */
export function sourceFiles(paths: readonly string[]): SourceFiles {
  return paths.map((path) => {
    const { size, mtimeMs } = statSync(path);
    return { name: basename(path), bytes: size, modifiedAt: mtimeMs };
  });
}

/** Whether these are the files that the last complete import read, in size and time. */
export function areSameFiles(one: SourceFiles, other: SourceFiles): boolean {
  return (
    one.length === other.length &&
    one.every(({ name, bytes, modifiedAt }, at) => {
      const file = other[at];
      return name === file?.name && bytes === file.bytes && modifiedAt === file.modifiedAt;
    })
  );
}
