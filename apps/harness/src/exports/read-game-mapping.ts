import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type GameMapping, parseGameMapping } from '@hansard/datasets';
import { messageOf } from '@hansard/events';
import { Option } from 'commander';
import { parse } from 'yaml';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';

export const gameMappingOption = new Option(
  '--mapping <file>',
  'map the events and tools of a game (YAML or JSON); required for streams, optional for training data',
);

/** Reads the mapping of a game from a YAML or JSON file. @throws CliError */
export function readGameMapping({ cwd }: CliContext, name: string): GameMapping {
  const file = resolve(cwd, name);
  try {
    // JSON is valid YAML.
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
