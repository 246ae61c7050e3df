import { defineErrors, formatErrors } from '@hansard/events';
import { pluginErrors, storeErrors } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { errorSections } from '../../../scripts/error-families.ts';
import { CliError, exitCode } from '../src/terminal/cli-error.ts';
import { exitCodeOf, explainError } from '../src/terminal/explain-error.ts';

const codes = errorSections.flatMap(({ family }) => Object.keys(family.rows));

describe('the command, stopped by an error,', () => {
  it('exits with 2 where the words of the command were wrong, 3 for damaged data, else 1', () => {
    const withExit = (code: number) => codes.filter((name) => exitCodeOf(name) === code).sort();
    expect(withExit(exitCode.damaged)).toEqual(['STORE_CORRUPT', 'STORE_MISPLACED', 'STORE_NEWER']);
    expect(withExit(exitCode.usage)).toEqual([
      'AGENT_CWD_MISSING',
      'EVENT_ENVELOPE_INVALID',
      'FORMAT_MAPPING_MISSING',
      'FORMAT_NOT_JSONL',
      'HARNESS_CONFIG_INVALID',
      'HARNESS_FOLDER_MISSING',
      'HARNESS_NAME_INVALID',
      'HARNESS_NO_STORE',
      'HARNESS_OPTION_INVALID',
      'HARNESS_PROVIDER_UNKNOWN',
      'IMPORT_FIDELITY_FIXED',
      'IMPORT_FORMAT_MISMATCH',
      'IMPORT_FORMAT_UNKNOWN',
      'IMPORT_TASK_REQUIRED',
      'PLUGIN_CONFIG_INVALID',
      'PLUGIN_NOT_FOUND',
      'REDACTION_PATTERN_INVALID',
      'SCENARIO_INVALID',
      'STORE_INVALID_PATH',
      'STORE_UNSUPPORTED',
      'TRACE_ENDPOINT_INVALID',
      'VIEW_ADDRESS_UNKNOWN',
      'VIEW_TOKEN_NEEDED',
    ]);
    expect(withExit(exitCode.done)).toEqual([]);
    expect(exitCodeOf('ACME_BROKEN')).toBe(exitCode.failed);
  });

  it('says what the error family advises', () => {
    const error = storeErrors.error('STORE_CORRUPT', 'a.jsonl is damaged.');
    expect(explainError(error)).toEqual({
      message: 'STORE_CORRUPT: a.jsonl is damaged.',
      advice: error.advice,
      exitCode: exitCode.damaged,
    });
    expect(error.advice).toContain('--accept-loss');
  });

  it('names its own options and commands where that helps more', () => {
    expect(explainError(formatErrors.error('FORMAT_NO_RECORDS', 'x')).advice).toContain('--as');
    expect(explainError(storeErrors.error('STORE_DISPATCH_NOT_FOUND', 'x')).advice).toContain(
      'hansard ls TASK',
    );
  });

  it('explains a store that can not be opened by the error of the store', () => {
    const cause = storeErrors.error('STORE_UNAVAILABLE', 'No space.');
    const error = pluginErrors.error('PLUGIN_CREATE_FAILED', 'could not create', { cause });
    expect(explainError(error)).toEqual(explainError(cause));
  });

  it('repeats the advice of a plugin that declares its own errors', () => {
    const acmeErrors = defineErrors('acme', {
      ACME_LOST: { when: 'The line broke.', advice: 'Call again.' },
    });
    expect(explainError(acmeErrors.error('ACME_LOST', 'The line was lost.'))).toEqual({
      message: 'ACME_LOST: The line was lost.',
      advice: 'Call again.',
      exitCode: exitCode.failed,
    });
  });

  it('repeats what a command says itself, and reports anything else as a fault', () => {
    const own = new CliError(exitCode.usage, 'Not a number.', 'Give a number.');
    expect(explainError(own)).toBe(own);
    expect(explainError('torn')).toMatchObject({ message: 'unexpected: torn', exitCode: exitCode.failed });
    expect(explainError(new TypeError('x is not a function'))).toMatchObject({
      message: 'unexpected: x is not a function',
      exitCode: exitCode.failed,
    });
  });
});
