import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import type { TaskListing } from '@hansard/provider';
import { formatCost } from '@hansard/views';
import { type AddCommand, type CommonOptions, taskHelp, withCommonOptions, withStore } from '../command.ts';
import { printJson, printLine } from '../context.ts';
import { findDispatches } from '../find-dispatch.ts';
import { plainTable } from '../plain-table.ts';
import { toTaskDir, toTaskName } from '../task-name.ts';

export const addLs: AddCommand = (program, context) => {
  withCommonOptions(program.command('ls'))
    .argument('[task]', taskHelp)
    .description('list the tasks, or the dispatches of one')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard ls\n  hansard ls research/route-models\n  hansard ls research/route-models --json',
    )
    .action((task: string | undefined, options: CommonOptions) =>
      withStore(context, options, async ({ store }) => {
        if (task !== undefined) {
          const envelopes = await findDispatches(store, toTaskDir(task));
          if (options.json) for (const envelope of envelopes) printJson(context, envelope);
          else printLine(context, dispatchTable(envelopes));
          return;
        }
        const tasks = await summariseTasks(store);
        if (options.json) for (const summary of tasks) printJson(context, summary);
        else
          printLine(
            context,
            tasks.length === 0 ? 'No tasks yet. `hansard demo` records one.' : taskTable(tasks),
          );
      }),
    );
};

interface TaskSummary extends TaskListing {
  readonly dispatches: number;
  readonly running: number;
  readonly costUsd: number;
  readonly lastStartedAt: string | null;
}

async function summariseTasks(store: DispatchStore): Promise<TaskSummary[]> {
  const summaries: TaskSummary[] = [];
  for (const listing of await store.listTasks()) {
    const envelopes = await store.getDispatchEnvelopes(listing.taskDir);
    summaries.push({
      ...listing,
      dispatches: envelopes.length,
      running: envelopes.filter(({ status }) => status === 'running').length,
      costUsd: envelopes.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
      lastStartedAt: envelopes.at(-1)?.startedAt ?? null,
    });
  }
  return summaries;
}

function taskTable(tasks: readonly TaskSummary[]): string {
  const rows = tasks.map(({ taskDir, task, dispatches, running, costUsd, lastStartedAt }) => [
    toTaskName(taskDir),
    task?.status ?? '',
    running === 0 ? String(dispatches) : `${dispatches} (${running} running)`,
    formatCost(costUsd),
    lastStartedAt ?? '',
    task?.name ?? '',
  ]);
  return plainTable(['task', 'status', 'dispatches', 'cost', 'last started', 'name'], rows);
}

function dispatchTable(envelopes: readonly DispatchEnvelope[]): string {
  const rows = envelopes.map(({ dispatchId, role, status, model, cost, startedAt, parentDispatchId }) => [
    dispatchId,
    role,
    status,
    model ?? '',
    cost === null ? '' : formatCost(cost),
    startedAt,
    parentDispatchId ?? '',
  ]);
  return plainTable(['dispatch', 'role', 'status', 'model', 'cost', 'started', 'parent'], rows);
}
