import { CliError, exitCode } from '../terminal/cli-error.ts';
import { explainError } from '../terminal/explain-error.ts';
import type { ListedTask } from './listed-task.ts';
import { toTaskName } from './task-name.ts';

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
