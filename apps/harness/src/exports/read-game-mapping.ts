import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '@hansard/events';
import { type GameMapping, parseGameMapping } from '@hansard/formats';
import { Option } from 'commander';
import { parse } from 'yaml';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';

export const gameMappingOption = new Option(
  '--mapping <file>',
  'for streams, where it is needed, and training data: what the events and tools of a game mean, in YAML or JSON',
);

/** The mapping of a game in a file, YAML or JSON. @throws CliError */
export function readGameMapping({ cwd }: CliContext, name: string): GameMapping {
  const file = resolve(cwd, name);
  try {
    // JSON is YAML.
    return parseGameMapping(parse(readFileSync(file, 'utf8')), file);
  } catch (cause) {
    throw new CliError(
      exitCode.failed,
      `The mapping can't be used: ${messageOf(cause)}`,
      'The README of @hansard/formats shows one. Nothing was written.',
      { cause },
    );
  }
}
