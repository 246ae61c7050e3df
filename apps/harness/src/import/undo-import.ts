import { toTaskName } from '@hansard/compose';
import { formatCount, shortId } from '@hansard/facts';
import { findImportRun, type ImportRunRecord, type UndoneSession, undoImport } from '@hansard/import';
import { withHarness } from '../harness.ts';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CommonOptions } from '../terminal/command.ts';
import { confirm } from '../terminal/confirm.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { shownTime } from '../terminal/shown-time.ts';

export interface UndoOptions extends CommonOptions {
  /** The run; true: the newest. */
  readonly undo: string | true;
  readonly yes?: boolean;
}

/** Deletes the sessions that one run of `import` created, if the user confirms it. */
export function runUndo(context: CliContext, { undo, yes, ...options }: UndoOptions): Promise<void> {
  const { config, root } = options;
  return withHarness(context, { config, root, load: 'store' }, async ({ store }) => {
    const run = await findImportRun(store, undo === true ? undefined : undo);
    note(context, describeRun(context, run));
    if (
      !(await confirm(context, 'Delete them? Their sources stay, and can be imported again.', {
        yes: yes === true,
      }))
    )
      return printAnswer(context, options, { rows: [], text: 'Nothing was deleted.' });
    const undone: UndoneSession[] = [];
    for await (const session of undoImport(store, run)) {
      undone.push(session);
      if (context.signal.aborted) break;
    }
    const kept = undone.filter((one) => one.kept !== null);
    const open = run.sessions.length - undone.length;
    await printAnswer(context, options, {
      rows: undone.map(({ ref, kept: reason }) => ({
        ...ref,
        deleted: reason === null,
        ...(reason === null ? {} : { reason: typeof reason === 'string' ? reason : reason.code }),
      })),
      text: `${formatCount(undone.length - kept.length, 'session')} deleted.`,
      notesAfter: kept.map(({ ref, kept: reason }) => `hansard: ${nameOf(ref)} stays: ${inWords(reason)}`),
      failure:
        open === 0
          ? null
          : new CliError(
              exitCode.failed,
              `The undo was interrupted: ${formatCount(open, 'session')} left.`,
              `Repeat it: hansard import --undo ${run.run}`,
            ),
    });
  });
}

function describeRun(context: CliContext, { run, startedAt, sessions }: ImportRunRecord): string {
  const tasks = new Set(sessions.map(({ taskDir }) => taskDir)).size;
  const time = shownTime(context, startedAt).slice(0, 16).replace('T', ' ');
  const what = `${formatCount(sessions.length, 'session')} in ${formatCount(tasks, 'task')}`;
  return `The import ${run} (${time}) created ${what}, which the store still has.`;
}

function nameOf({ taskDir, dispatchId }: UndoneSession['ref']): string {
  return `${toTaskName(taskDir)} ${shortId(dispatchId)}`;
}

function inWords(reason: UndoneSession['kept']): string {
  if (reason === 'continued') return 'it has events that no import wrote.';
  return reason === null ? '' : reason.message;
}
