import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { renderSessionView, type SessionView, sessionView } from '@hansard/views';
import { findDispatch, findReadable } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, letInterrupt } from '../terminal/context.ts';
import { answerFromStore } from '../terminal/with-store.ts';

export const addShow: AddCommand = (command, context) => {
  withCommonOptions(command)
    .addHelpText(
      'after',
      '\nExamples:\n  hansard show research/route-models latest\n  hansard show research/route-models 4K7Q',
    )
    .action((task: string, dispatch: string | undefined, options: CommonOptions) =>
      answerFromStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const { envelopes, failure } =
          dispatch === undefined
            ? await findReadable(store, taskDir)
            : { envelopes: [(await findDispatch(store, taskDir, dispatch)).envelope], failure: null };
        const views = readViews(context, store, taskDir, envelopes);
        return { rows: views, text: viewTexts(views), failure };
      }),
    );
};

async function* readViews(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
): AsyncGenerator<SessionView> {
  for (const envelope of envelopes) {
    await letInterrupt(context);
    yield sessionView(envelope, await store.getDispatchEvents(taskDir, envelope.dispatchId));
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
