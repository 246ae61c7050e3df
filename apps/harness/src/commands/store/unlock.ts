import { resolveSession, toTaskName } from '@hansard/compose';
import type { ClaimState } from '@hansard/provider';
import type { Command } from 'commander';
import { printAnswer } from '../../terminal/answer.ts';
import { type CommonOptions, sessionHelp, withCommonOptions } from '../../terminal/command.ts';
import { confirm, yesOption } from '../../terminal/confirm.ts';
import { type CliContext, note } from '../../terminal/context.ts';
import { withStore } from '../../terminal/with-store.ts';

interface UnlockOptions extends CommonOptions {
  readonly yes?: boolean;
}

export function addUnlock(parent: Command, context: CliContext): void {
  const command = parent
    .command('unlock')
    .description('show which process has claimed a session, and after you confirm, release it')
    .argument('<session>', sessionHelp);
  withCommonOptions(command)
    .option(...yesOption)
    .addHelpText(
      'after',
      '\nThe owner of the claim gets STORE_LOCKED for its next write, and nothing that it writes from then on is in the log.\n\nExamples:\n  hansard store unlock 4K7Q\n  hansard store unlock 4K7Q --yes --json',
    )
    .action((word: string, options: UnlockOptions) =>
      withStore(context, options, async ({ store }) => {
        const dispatch = await resolveSession(store, word);
        const { taskDir, dispatchId } = dispatch;
        const name = `Session ${dispatchId} of ${toTaskName(taskDir)}`;
        const claim = await store.findClaim(dispatch);
        let isBroken = false;
        if (claim !== null) {
          note(context, `${name} belongs to ${claim.owner}. ${describeState(claim)}`);
          isBroken = await confirm(context, 'Release it?', options);
          if (isBroken) await store.breakClaim(dispatch);
        }
        await printAnswer(context, options, {
          rows: [{ ...dispatch, claim, isBroken }],
          text:
            claim === null ? `${name} is not claimed.` : `${name} ${isBroken ? 'is free' : 'is unchanged'}.`,
        });
      }),
    );
}

function describeState({ state, expiresInMs }: ClaimState): string {
  if (state === 'running') return 'That process is running.';
  if (state === 'expired')
    return 'It no longer renews its claim, so another process can take the dispatch over.';
  const seconds = Math.ceil((expiresInMs ?? 0) / 1_000);
  return `It is not known whether that process still runs. Its claim expires in ${seconds} s if it does not renew it.`;
}
