import type { DispatchStore, ReadAccess } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { renderSessionView, type SessionView, sessionView } from '@hansard/views';
import { type DamagedOption, damagedAccess, damagedOption } from '../tasks/answer-events.ts';
import { findDispatch, findReadable } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, letInterrupt } from '../terminal/context.ts';
import { answerFromStore } from '../terminal/with-store.ts';

export const addShow: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option(...damagedOption)
    .addHelpText(
      'after',
      '\nExamples:\n  hansard show research/route-models latest\n  hansard show research/route-models 4K7Q\n  hansard show research/route-models 4K7Q --damaged',
    )
    .action((task: string, dispatch: string | undefined, options: CommonOptions & DamagedOption) =>
      answerFromStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const access = damagedAccess(options);
        const { envelopes, failure } =
          dispatch === undefined
            ? await findReadable(store, taskDir)
            : { envelopes: [(await findDispatch(store, taskDir, dispatch, access)).envelope], failure: null };
        const views = readViews(context, store, taskDir, envelopes, access);
        return { rows: views, text: viewTexts(views), failure };
      }),
    );
};

async function* readViews(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
  access: ReadAccess,
): AsyncGenerator<SessionView> {
  for (const envelope of envelopes) {
    await letInterrupt(context);
    const log = await store.openDispatch(taskDir, envelope.dispatchId, access);
    const events: CapturedEvent[] = [];
    for await (const page of log.pages()) events.push(...page.events);
    yield sessionView(envelope, events);
  }
}

async function* viewTexts(views: AsyncIterable<SessionView>): AsyncGenerator<string> {
  let separator: string[] = [];
  for await (const view of views) {
    yield* separator;
    yield renderSessionView(view);
    separator = [''];
  }
}
