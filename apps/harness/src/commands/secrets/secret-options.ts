import type { HarnessConfig } from '@hansard/compose';
import type { RedactionCounts } from '@hansard/events';
import type { Redactor, RedactorOptions } from '@hansard/redaction';
import type { Command } from 'commander';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import type { CommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';

export interface SecretOptions extends CommonOptions {
  readonly env?: readonly string[];
  readonly pattern?: readonly string[];
}

/** `verb`: what is done with a secret. */
export function withSecretOptions(command: Command, verb: string): Command {
  return command
    .option(
      '--env <name>',
      `also ${verb} the value of this environment variable, besides those of the configuration; can be repeated`,
      repeated,
    )
    .option(
      '--pattern <kind=expression>',
      `also ${verb} matches of this regular expression (RE2), besides those of the configuration; can be repeated`,
      repeated,
    );
}

/** Every known format, with the variables and patterns of the configuration and of the options. */
export function redactorOptions(
  { redact }: HarnessConfig,
  { env }: CliContext,
  options: SecretOptions,
): RedactorOptions {
  const { environment = [], patterns = {} } = redact === false ? {} : redact;
  return {
    environment: [...new Set([...environment, ...(options.env ?? [])])],
    patterns: { ...patterns, ...patternsOf(options.pattern ?? []) },
    env,
  };
}

export function counted(number: number, one: string, several = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : several}`;
}

function repeated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** @throws CliError that does not quote an option: an expression can contain a secret */
function patternsOf(options: readonly string[]): Readonly<Record<string, string>> {
  const patterns = options.map((option): readonly [kind: string, expression: string] => {
    const at = option.indexOf('=');
    if (at > 0) return [option.slice(0, at), option.slice(at + 1)];
    throw new CliError(
      exitCode.usage,
      'A --pattern must be KIND=EXPRESSION.',
      'Write it as --pattern acme-key=acme_[0-9a-f]{32}.',
    );
  });
  return Object.fromEntries(patterns);
}

interface Address {
  readonly taskDir: string;
  readonly dispatchId: string | null;
}

/** An address as it is printed: the names in it can have secrets, which stay in the store. */
export function printable<A extends Address>(redactor: Redactor, address: A): A {
  const { taskDir, dispatchId } = address;
  return {
    ...address,
    taskDir: redactor.text(taskDir).text,
    dispatchId: dispatchId === null ? null : redactor.text(dispatchId).text,
  };
}

export function kindsInWords(counts: RedactionCounts): string {
  return Object.entries(counts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}

/** What `hansard secrets redact` never changes. */
export const keptPlaces = 'ids, types, times and names of folders';
