import { resolveScope, toTaskName } from '@hansard/compose';
import { storeErrors } from '@hansard/provider';
import type { Command } from 'commander';
import { printAnswer } from '../../terminal/answer.ts';
import { type CommonOptions, sessionHelp, withCommonOptions, withExamples } from '../../terminal/command.ts';
import { confirm, yesOption } from '../../terminal/confirm.ts';
import { type CliContext, note } from '../../terminal/context.ts';
import { withStore } from '../../terminal/with-store.ts';

interface AdoptOptions extends CommonOptions {
  readonly yes?: boolean;
}

/** Adds `store adopt`: gives logs that were written under another name (STORE_MISPLACED) the name of their place. */
export function addAdopt(parent: Command, context: CliContext): void {
  const command = parent
    .command('adopt')
    .description('keep a session under its new name, after its file or its task folder was copied or renamed')
    .argument('<session>', `${sessionHelp}, or a task for all of its renamed sessions`);
  withExamples(
    withCommonOptions(command).option(...yesOption),
    'store adopt research/route-models',
    'store adopt research/route-models/4K7Q --yes',
  ).action((word: string, options: AdoptOptions) =>
    withStore(context, options, async ({ store }) => {
      const { taskDir, dispatchId, listings } = await resolveScope(store, word);
      const misplaced = listings.flatMap((listing) =>
        'error' in listing && storeErrors.is(listing.error, 'STORE_MISPLACED') ? listing.error : [],
      );
      for (const { message } of misplaced) note(context, message);
      const isWanted = misplaced.length > 0 && (await confirm(context, 'Keep the new name?', options));
      const adopted = isWanted ? await store.adoptDispatches(taskDir, dispatchId ?? undefined) : [];
      const name =
        dispatchId === null ? toTaskName(taskDir) : `Session ${dispatchId} of ${toTaskName(taskDir)}`;
      const sessions = `${adopted.length} ${adopted.length === 1 ? 'session' : 'sessions'}`;
      const unchanged =
        misplaced.length === 0 ? `${name} has the name under which it was written.` : `${name} is unchanged.`;
      await printAnswer(context, options, {
        rows: adopted.map((id) => ({ taskDir, dispatchId: id })),
        text: adopted.length === 0 ? unchanged : `${name} keeps its name: ${sessions}.`,
      });
    }),
  );
}
