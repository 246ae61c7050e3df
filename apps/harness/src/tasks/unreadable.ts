import { type ListedTask, noSession, readableOf, type Scope, toTaskName } from '@hansard/compose';
import type { DispatchEntry } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { explainError } from '../terminal/explain-error.ts';

interface Problem {
  readonly error: unknown;
  /** The task that the error does not name. */
  readonly taskDir?: string;
}

/**
 * An error about what could not be read: `head` and a line for each problem, with the exit code and the advice of the worst one. Null if
 * there is none.
 */
export function incomplete(head: string, problems: readonly Problem[]): CliError | null {
  const explained = problems.map(({ error, taskDir }) => ({ taskDir, ...explainError(error) }));
  const worst = explained.find((one) => one.exitCode === exitCode.damaged) ?? explained[0];
  if (worst === undefined) return null;
  const lines = explained.map(({ taskDir, message }) =>
    taskDir === undefined ? message : `${toTaskName(taskDir)}: ${message}`,
  );
  const message = [head, ...lines].join('\n  ');
  // A wrong path is in the store here, and not in the arguments.
  return worst.exitCode === exitCode.usage
    ? new CliError(exitCode.failed, message, 'Remove the link that points outside the folder of the store.')
    : new CliError(worst.exitCode, message, worst.advice);
}

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
  const problems = listings.flatMap((one): Problem[] => {
    if (!('error' in one)) return [];
    return [taskDir === null ? { error: one.error, taskDir: one.taskDir } : { error: one.error }];
  });
  const where = taskDir === null ? '' : ` of ${toTaskName(taskDir)}`;
  return incomplete(
    `${problems.length} of ${listings.length} sessions${where} can't be read; the others are ${done}.`,
    problems,
  );
}

/** The error that reports each unreadable task with its place; null if all tasks are readable. */
export function unreadableTasks(tasks: readonly ListedTask[], done: 'listed' | 'exported'): CliError | null {
  const problems = tasks.flatMap(({ taskDir, errors }) => errors.map((error) => ({ taskDir, error })));
  const bad = tasks.filter(({ errors }) => errors.length > 0);
  return incomplete(
    `${bad.length} of ${tasks.length} tasks can't be read completely; the others are ${done}.`,
    problems,
  );
}
