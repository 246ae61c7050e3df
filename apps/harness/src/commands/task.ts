import { resolveTask, toTaskName } from '@hansard/compose';
import { ensureTaskRecord } from '@hansard/dispatch';
import { definedOnly, type TaskRecord } from '@hansard/events';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface TaskOptions extends CommonOptions {
  readonly title?: string;
  readonly status?: string;
}

export const addTask: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .option('--title <text>', 'set the title')
      .option('--status <status>', 'set the status, such as open or done'),
    "task research/route-models --title 'Which models we route to'",
    'task route-models --status done',
  ).action((word: string, { title, status, ...options }: TaskOptions) => {
    for (const [name, value] of Object.entries({ title, status }))
      if (value?.trim() === '')
        throw new CliError(exitCode.usage, `--${name} is empty.`, `Give a ${name}, or leave it out.`);
    return answerFromStore(context, options, async ({ store }) => {
      const taskDir = await resolveTask(store, word);
      const before = await store.findTask(taskDir);
      if (before === null) await ensureTaskRecord(store, taskDir, definedOnly({ name: title }));
      const made = before ?? (await store.findTask(taskDir));
      if (made === null) throw new TypeError(`The task ${taskDir} was not stored.`);
      const task: TaskRecord = { ...made, ...definedOnly({ name: title, status }) };
      const isChanged = task.name !== made.name || task.status !== made.status;
      if (isChanged) await store.putTask(taskDir, task);
      const done = before === null ? 'is made' : isChanged ? 'is changed' : 'is unchanged';
      return {
        rows: [{ taskDir, task, isNew: before === null }],
        text: `${toTaskName(taskDir)} ${done}: ${task.name} (${task.status})`,
      };
    });
  });
};
