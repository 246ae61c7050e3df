import { type ListedTask, noSession, readableOf, type Scope, toTaskName } from '@hansard/compose';
import type { DispatchEntry } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type Explanation, explainError } from '../terminal/explain-error.ts';

/** The readable dispatches of a scope, oldest first, and an error that names each unreadable one. @throws if none is readable */
export function readableSessions({ taskDir, dispatchId, listings }: Scope): {
  readonly envelopes: readonly DispatchEnvelope[];
  readonly failure: CliError | null;
} {
  const chosen = dispatchId === null ? listings : listings.filter((one) => one.dispatchId === dispatchId);
  const { envelopes, errors } = readableOf(chosen);
  if (envelopes.length === 0) throw errors[0] ?? noSession(taskDir);
  return { envelopes, failure: unreadableSessions(chosen, taskDir, 'shown') };
}

/** The error that names each unreadable one among these dispatches, of a task or of all (null); null if all are readable. */
export function unreadableSessions(
  listings: readonly DispatchEntry[],
  taskDir: string | null,
  done: 'shown' | 'listed',
): CliError | null {
  const bad = listings.flatMap((one) => ('error' in one ? { error: one.error, own: one.taskDir } : []));
  const [first] = bad;
  if (first === undefined) return null;
  const explained = bad.map(({ error, own }) => ({ own, ...explainError(error) }));
  const worst = explained.find((one) => one.exitCode === exitCode.damaged) ?? explainError(first.error);
  const where = taskDir === null ? '' : ` of ${toTaskName(taskDir)}`;
  const count = `${bad.length} of ${listings.length} sessions${where} can't be read; the others are ${done}.`;
  const lines = explained.map(({ own, message }) =>
    taskDir === null ? `${toTaskName(own)}: ${message}` : message,
  );
  return new CliError(...codeAndAdvice([count, ...lines].join('\n  '), worst));
}

/** A wrong path is in the store here, and not in the arguments. */
function codeAndAdvice(
  message: string,
  { exitCode: code, advice }: Explanation,
): ConstructorParameters<typeof CliError> {
  return code === exitCode.usage
    ? [exitCode.failed, message, 'Remove the link that points outside the folder of the store.']
    : [code, message, advice];
}

/** The error that reports each unreadable task with its place; null if all tasks are readable. */
export function unreadableTasks(tasks: readonly ListedTask[], done: 'listed' | 'exported'): CliError | null {
  const problems = tasks.flatMap(({ taskDir, errors }) =>
    errors.map((error) => ({ name: toTaskName(taskDir), ...explainError(error) })),
  );
  const [first] = problems;
  if (first === undefined) return null;
  const worst = problems.find((one) => one.exitCode === exitCode.damaged) ?? first;
  const bad = tasks.filter(({ errors }) => errors.length > 0);
  const count = `${bad.length} of ${tasks.length} tasks can't be read completely; the others are ${done}.`;
  const lines = problems.map(({ name, message }) => `${name}: ${message}`);
  // The wrong path is in the store, not in the arguments.
  const [code, advice] =
    worst.exitCode === exitCode.usage
      ? [exitCode.failed, 'Remove the link that points outside the folder of the store.']
      : [worst.exitCode, worst.advice];
  return new CliError(code, [count, ...lines].join('\n  '), advice);
}
