import type { HarnessConfig } from '@hansard/compose';
import { addRedactions, type RedactionCounts } from '@hansard/events';
import { formatBytes } from '@hansard/events/plain';
import type { Redactor, RedactorOptions, UnreadContent } from '@hansard/redaction';
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

/** Collects the values of an option that can be repeated. */
export function repeated(value: string, before: readonly string[] = []): readonly string[] {
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

const mostPositions = 10;

/** The contents that no pattern reads, by type, and the events that name them. */
export function unreadInWords(unread: readonly UnreadContent[]): string {
  const positions = [...new Set(unread.flatMap(({ position, namedBy }) => namedBy[0] ?? position))];
  const shown = positions.slice(0, mostPositions).join(', ');
  const more = positions.length > mostPositions ? `, and ${positions.length - mostPositions} more` : '';
  const events = `${positions.length === 1 ? 'event' : 'events'} ${shown}${more}`;
  return `${contentsInWords(unread)} not read (${events})`;
}

/** Contents by type, and their size: `2 image/png, 1 application/pdf, 80 KB`. */
export function contentsInWords(
  contents: readonly { readonly mediaType: string | null; readonly size: number }[],
): string {
  const counts: Record<string, number> = {};
  for (const { mediaType } of contents) addRedactions(counts, { [mediaType ?? 'of unknown type']: 1 });
  return `${kindsInWords(counts)}, ${formatBytes(contents.reduce((sum, { size }) => sum + size, 0))}`;
}

/** What `hansard secrets redact` never changes. */
export const keptPlaces = 'ids, types, times and names of folders';
