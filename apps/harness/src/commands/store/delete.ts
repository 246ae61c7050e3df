import { listAll, readableOf, resolveSession, toTaskName } from '@hansard/compose';
import { type DispatchRef, type DispatchStore, excludedTask } from '@hansard/dispatch';
import { findNamed, formatCount } from '@hansard/facts';
import { type StoreError, storeErrors } from '@hansard/provider';
import type { Command } from 'commander';
import { printAnswer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { type CommonOptions, sessionHelp, withCommonOptions, withExamples } from '../../terminal/command.ts';
import { confirm, yesOption } from '../../terminal/confirm.ts';
import { type CliContext, note } from '../../terminal/context.ts';
import { withStore } from '../../terminal/with-store.ts';

interface DeleteOptions extends CommonOptions {
  readonly allow?: boolean;
  readonly yes?: boolean;
}

/** Adds `store delete`: removes sessions for good, and keeps imports from bringing them back. */
export function addDelete(parent: Command, context: CliContext): void {
  const command = parent
    .command('delete')
    .description('delete sessions with their events and letters, after you confirm it')
    .argument('<session...>', sessionHelp);
  withExamples(
    withCommonOptions(command)
      .option('--allow', 'let imports bring these sessions back, which were deleted')
      .option(...yesOption),
    'store delete 4K7Q',
    'store delete research/route-models/latest --yes --json',
    'store delete 4K7Q --allow',
  ).action((words: readonly string[], options: DeleteOptions) =>
    withStore(context, options, async ({ store }) => {
      if (options.allow === true) await allow(context, store, words, options);
      else await deleteSessions(context, store, words, options);
    }),
  );
}

interface Doomed {
  readonly ref: DispatchRef;
  readonly name: string;
  readonly words: string;
  readonly isImported: boolean;
}

async function deleteSessions(
  context: CliContext,
  store: DispatchStore,
  words: readonly string[],
  options: DeleteOptions,
): Promise<void> {
  const named = new Map<string, Doomed>();
  for (const word of words) {
    const ref = await resolveSession(store, word);
    named.set(`${ref.taskDir} ${ref.dispatchId}`, await describe(store, ref));
  }
  const doomed = [...named.values()];
  for (const { words: line } of doomed) note(context, line);
  const question = `Delete ${doomed.length === 1 ? 'it' : `these ${doomed.length} sessions`}?`;
  const isWanted = await confirm(context, question, options);
  const refused = new Map<Doomed, StoreError>();
  for (const one of isWanted ? doomed : []) {
    try {
      await store.deleteDispatch(one.ref);
    } catch (error) {
      if (!storeErrors.is(error) || doomed.length === 1) throw error;
      refused.set(one, error);
    }
  }
  const isDeleted = (one: Doomed) => isWanted && !refused.has(one);
  const imported = doomed.some((one) => one.isImported && isDeleted(one));
  const [refusal] = refused.values();
  await printAnswer(context, options, {
    rows: doomed.map((one) => ({
      ...one.ref,
      deleted: isDeleted(one),
      excluded: one.isImported && isDeleted(one),
      ...(refused.has(one) ? { error: refused.get(one)?.message } : {}),
    })),
    text: doomed.map((one) => `${one.name} ${isDeleted(one) ? 'is deleted' : 'is unchanged'}.`),
    notesAfter: imported
      ? [
          'hansard: imports leave out what was imported. `hansard store delete SESSION --allow` takes that back.',
        ]
      : [],
    failure: refusal ?? null,
  });
}

/** What is lost with a session, and what stays. */
async function describe(store: DispatchStore, ref: DispatchRef): Promise<Doomed> {
  const name = `Session ${ref.dispatchId} of ${toTaskName(ref.taskDir)}`;
  let letters = 0;
  for await (const _ of store.readLetters(ref)) letters += 1;
  const { envelopes } = readableOf(await listAll(store, { taskDir: ref.taskDir }));
  const workers = envelopes.filter(({ parentDispatchId }) => parentDispatchId === ref.dispatchId).length;
  const rest = [
    ...(letters === 0 ? [] : [formatCount(letters, 'letter')]),
    ...(workers === 0 ? [] : [`its ${formatCount(workers, 'worker')} ${workers === 1 ? 'stays' : 'stay'}`]),
  ];
  try {
    const log = await store.openDispatch(ref);
    const { title, source } = log.envelope;
    const titled = title === null ? '' : ` (${title})`;
    const events = formatCount(await log.count(), 'event');
    return {
      ref,
      name,
      isImported: source !== null,
      words: `${name}${titled}: ${[events, ...rest].join(', ')}.`,
    };
  } catch (error) {
    const isNewer = storeErrors.is(error, 'STORE_NEWER');
    if (!isNewer && !storeErrors.is(error, 'STORE_CORRUPT')) throw error;
    // Whether it was imported is not known, so it is excluded.
    const state = isNewer ? 'written by a newer version' : 'damaged';
    return { ref, name, isImported: true, words: `${name}: ${[state, ...rest].join(', ')}.` };
  }
}

/** Takes exclusions back. */
async function allow(
  context: CliContext,
  store: DispatchStore,
  words: readonly string[],
  options: DeleteOptions,
): Promise<void> {
  const { envelopes } = readableOf(await listAll(store, { taskDir: excludedTask }));
  const ids = envelopes.map(({ dispatchId }) => dispatchId);
  const allowed = new Set(words.map((word) => excludedId(ids, word)));
  for (const dispatchId of allowed) await store.deleteDispatch({ taskDir: excludedTask, dispatchId });
  await printAnswer(context, options, {
    rows: [...allowed].map((dispatchId) => ({ dispatchId, allowed: true })),
    text: [...allowed].map((dispatchId) => `Imports may bring ${dispatchId} back.`),
  });
}

/** @throws CliError for a word that names no excluded session, or several */
function excludedId(ids: readonly string[], word: string): string {
  const found = findNamed(ids, word, (id) => ({ id }));
  if (found.kind === 'found') return found.item;
  const choices = found.kind === 'ambiguous' ? found.items : ids;
  throw new CliError(
    exitCode.usage,
    `${JSON.stringify(word)} names ${found.kind === 'ambiguous' ? 'several excluded sessions' : 'no excluded session'}.`,
    choices.length === 0 ? 'No session is excluded from imports.' : `Excluded are: ${choices.join(', ')}`,
  );
}
