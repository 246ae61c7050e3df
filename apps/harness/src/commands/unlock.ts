import type { ClaimState } from '@hansard/provider';
import { findDispatchId } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { toTaskName } from '../tasks/task-name.ts';
import { printAnswer } from '../terminal/answer.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { note } from '../terminal/context.ts';
import { withStore } from '../terminal/with-store.ts';

interface UnlockOptions extends CommonOptions {
  readonly yes?: boolean;
}

export const addUnlock: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option(...yesOption)
    .addHelpText(
      'after',
      '\nThe owner of the claim gets STORE_LOCKED for its next write, and nothing that it writes from then on is in the log.\n\nExamples:\n  hansard unlock research/route-models 4K7Q\n  hansard unlock research/route-models 4K7Q --yes --json',
    )
    .action((task: string, wanted: string, options: UnlockOptions) =>
      withStore(context, options, async ({ store }) => {
        const taskDir = await findTask(store, task);
        const dispatchId = await findDispatchId(store, taskDir, wanted);
        const dispatch = { taskDir, dispatchId };
        const name = `Dispatch ${dispatchId} of ${toTaskName(taskDir)}`;
        const claim = await store.getClaim(dispatch);
        let isBroken = false;
        if (claim !== null) {
          note(context, `${name} belongs to ${claim.owner}. ${describeState(claim)}`);
          isBroken = await confirm(context, 'End its claim?', options);
          if (isBroken) await store.breakClaim(dispatch);
        }
        await printAnswer(context, options, {
          rows: [{ ...dispatch, claim, isBroken }],
          text:
            claim === null ? `${name} is not claimed.` : `${name} ${isBroken ? 'is free' : 'is unchanged'}.`,
        });
      }),
    );
};

function describeState({ state, expiresInMs }: ClaimState): string {
  if (state === 'running') return 'That process is running.';
  if (state === 'expired')
    return 'It no longer renews its claim, so another process can take the dispatch over.';
  const seconds = Math.ceil((expiresInMs ?? 0) / 1_000);
  return `It is not known whether that process still runs. Its claim expires in ${seconds} s if it does not renew it.`;
}
