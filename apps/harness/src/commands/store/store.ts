import {
  importStore,
  listAll,
  loadConfig,
  readableOf,
  resolveScope,
  resolveSession,
  storePlace,
  toTaskName,
} from '@hansard/compose';
import { type DispatchRef, type DispatchStore, excludedTask } from '@hansard/dispatch';
import { findNamed, formatCount } from '@hansard/facts';
import { type CopiesElsewhere, findCopiesElsewhere } from '@hansard/maintenance';
import { type ClaimState, type SetupRoles, type StoreError, storeErrors } from '@hansard/provider';
import type { Command } from 'commander';
import { packageDirs } from '../../harness.ts';
import { printAnswer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import {
  type AddCommand,
  type CommonOptions,
  sessionHelp,
  withCommonOptions,
  withExamples,
} from '../../terminal/command.ts';
import { confirm, yesOption } from '../../terminal/confirm.ts';
import { type CliContext, note } from '../../terminal/context.ts';
import { plainTable } from '../../terminal/plain-table.ts';
import { answerFromStore, withStore } from '../../terminal/with-store.ts';
import { addSeal } from './seal.ts';
import { addVerify } from './verify.ts';

export const addStore: AddCommand = (command, context) => {
  addVerify(command, context);
  addUnlock(command, context);
  addAdopt(command, context);
  addDelete(command, context);
  addSeal(command, context);
  addInfo(command, context);
  addSetup(command, context);
  withExamples(
    command,
    'store verify',
    'store unlock 4K7Q',
    'store adopt research/route-models',
    'store delete 4K7Q',
    'store seal latest',
    'store info',
    'store setup',
  );
};

/** Adds `store info`: where the store is, how much is in it, and what it can do. */
function addInfo(parent: Command, context: CliContext): void {
  const command = parent
    .command('info')
    .description('print where the store is, how much is in it, and what it can do');
  withExamples(withCommonOptions(command), 'store info', 'store info --json').action(
    (options: CommonOptions) =>
      answerFromStore(context, options, async (harness) => {
        const { store, plugins } = harness;
        const [provider] = plugins.providers('DispatchStoreProvider');
        const tasks = await store.listTasks();
        const { envelopes, errors } = readableOf(await listAll(store, {}));
        const figures = {
          tasks: tasks.length,
          sessions: envelopes.length,
          running: envelopes.filter(({ status }) => status === 'running').length,
          unreadable: errors.length,
          excluded: (await listAll(store, { taskDir: excludedTask })).length,
        };
        const capabilities = { ...store.capabilities };
        const rows = [
          ['store', provider?.id ?? 'unknown'],
          ['place', storePlace(harness)],
          ...Object.entries(figures).map(([name, count]) => [name, count.toLocaleString('en')]),
          ...Object.entries(capabilities).map(([name, value]) => [name, inWords(value)]),
        ];
        return {
          rows: [{ store: provider?.id ?? null, place: storePlace(harness), ...figures, capabilities }],
          text: await plainTable(rows[0] ?? [], rows.slice(1)),
        };
      }),
  );
}

function inWords(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}

interface AdoptOptions extends CommonOptions {
  readonly yes?: boolean;
}

/** Adds `store adopt`: gives logs that were written under another name (STORE_MISPLACED) the name of their place. */
function addAdopt(parent: Command, context: CliContext): void {
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

function addSetup(parent: Command, context: CliContext): void {
  const command = parent
    .command('setup')
    .description(
      'print the SQL that prepares the server of the configured store: its tables, and the rights of its roles',
    );
  withCommonOptions(command)
    .option('--owner <role>', 'the role that owns the tables (default: the user that runs the SQL)')
    .option('--writer <role>', 'a role that records, and can never change or delete an event')
    .option('--reader <role>', 'a role that only reads')
    .addHelpText(
      'after',
      '\nThe roles must exist on the server. The command connects to nothing: read the SQL, and run it as a user that may create schemas.\n\nExamples:\n  hansard store setup\n  hansard store setup --owner agents_owner --writer agents_writer --reader agents_reader | psql agents',
    )
    .action(async ({ owner, writer, reader, ...options }: CommonOptions & SetupRoles) => {
      const { plugin, config } = await importStore(loadConfig(context, options), packageDirs);
      const roles = {
        ...(owner === undefined ? {} : { owner }),
        ...(writer === undefined ? {} : { writer }),
        ...(reader === undefined ? {} : { reader }),
      };
      const text = setupOf(() => plugin.setup?.(config, roles) ?? null);
      await printAnswer(context, options, {
        rows: [{ plugin: plugin.id, setup: text }],
        text: text?.trimEnd() ?? `-- ${plugin.id} has no server, and needs no set-up.`,
      });
    });
}

/** @throws CliError for a name that the server does not allow */
function setupOf(make: () => string | null): string | null {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CliError(exitCode.usage, error.message, 'Use the name of a role as the server has it.', {
      cause: error,
    });
  }
}

interface UnlockOptions extends CommonOptions {
  readonly yes?: boolean;
}

function addUnlock(parent: Command, context: CliContext): void {
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

interface DeleteOptions extends CommonOptions {
  readonly allow?: boolean;
  readonly yes?: boolean;
}

/** Adds `store delete`: removes sessions for good, and keeps imports from bringing them back. */
function addDelete(parent: Command, context: CliContext): void {
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
  const copies = await findCopiesElsewhere(store, ({ taskDir, dispatchId }) =>
    named.has(`${taskDir} ${dispatchId}`),
  );
  const copiesOf = ({ ref }: Doomed) =>
    copies.filter(({ of }) => of.dispatchId === ref.dispatchId && of.taskDir === ref.taskDir);
  for (const one of doomed) {
    note(context, one.words);
    for (const copy of copiesOf(one)) note(context, copyInWords(copy));
  }
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
      copies: copiesOf(one).map(({ of: _, ...copy }) => copy),
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

function copyInWords({ taskDir, dispatchId, events }: CopiesElsewhere): string {
  return `${formatCount(events, 'of its events is', 'of its events are')} also in ${toTaskName(taskDir)}/${dispatchId}, and ${events === 1 ? 'stays' : 'stay'} there.`;
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
