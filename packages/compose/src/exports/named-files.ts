import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type GameMapping, mappingFor, parseGameMapping } from '@hansard/datasets';
import { type DispatchEnvelope, type JsonValue, messageOf } from '@hansard/events';
import { parse } from 'yaml';
import { harnessErrors } from '../harness-errors.ts';

/** Reads the mapping of a game from a YAML or JSON file. @throws HARNESS_FILE_UNUSABLE */
export function readGameMapping(cwd: string, name: string): GameMapping {
  const file = resolve(cwd, name);
  try {
    // JSON is valid YAML.
    return parseGameMapping(parse(readFileSync(file, 'utf8')), file);
  } catch (cause) {
    throw harnessErrors.error('HARNESS_FILE_UNUSABLE', `The mapping can't be used: ${messageOf(cause)}`, {
      advice: 'The README of @hansard/datasets shows one. Nothing was written.',
      cause,
    });
  }
}

/** The mapping of a dispatch, from a file if one is named. @throws FORMAT_MAPPING_MISSING, HARNESS_FILE_UNUSABLE */
export function mappingOf(cwd: string, envelope: DispatchEnvelope, name: string | undefined): GameMapping {
  return parseGameMapping(mappingFor(envelope, name === undefined ? undefined : readGameMapping(cwd, name)));
}

/** Reads a JSON array of tool definitions. @throws HARNESS_FILE_UNUSABLE */
export function readTools(cwd: string, name: string): JsonValue[] {
  const file = resolve(cwd, name);
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (Array.isArray(value)) return value as JsonValue[];
    throw new TypeError('it is not a JSON array');
  } catch (cause) {
    throw harnessErrors.error(
      'HARNESS_FILE_UNUSABLE',
      `The tools in ${file} can't be used: ${messageOf(cause)}`,
      {
        advice:
          'Name a file with a JSON array of tool definitions, in the form that the export format needs.',
        cause,
      },
    );
  }
}

/** @throws HARNESS_FILE_UNUSABLE */
export function readVerdictFile(cwd: string, name: string): string {
  const path = resolve(cwd, name);
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw harnessErrors.error('HARNESS_FILE_UNUSABLE', `${path} can't be read: ${messageOf(cause)}`, {
      advice: 'Check the path. Nothing was imported.',
      cause,
    });
  }
}
