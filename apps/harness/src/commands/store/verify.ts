import { partOfStore, resolveScope, resolveSession, toTaskName } from '@hansard/compose';
import type { DispatchStore } from '@hansard/dispatch';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { type VerifiedDispatch, verifyDispatches } from '@hansard/maintenance';
import { type DispatchDamage, isInternalTask, storeErrors } from '@hansard/provider';
import type { Command } from 'commander';
import { printAnswer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { type CommonOptions, sessionHelp, withCommonOptions } from '../../terminal/command.ts';
import { confirm, yesOption } from '../../terminal/confirm.ts';
import { type CliContext, note } from '../../terminal/context.ts';
import { explainError } from '../../terminal/explain-error.ts';
import { createProgress } from '../../terminal/progress.ts';
import { withStore } from '../../terminal/with-store.ts';
import { verifyAgainst } from './seal.ts';

interface VerifyOptions extends CommonOptions {
  readonly acceptLoss?: boolean;
  readonly against?: string;
  readonly yes?: boolean;
}

export function addVerify(parent: Command, context: CliContext): void {
  const command = parent
    .command('verify')
    .description('check every stored byte')
    .argument('[session]', `${sessionHelp} (default: all sessions)`);
  withCommonOptions(command)
    .option(
      '--accept-loss',
      'make a damaged dispatch usable again: keep its whole events, and append a notice that counts what is lost',
    )
    .option('--against <file>', 'compare sessions with the seals in this file (`store seal`)')
    .option(...yesOption)
    .addHelpText(
      'after',
      '\nExit codes: 0 everything is whole, even if some places belong to no dispatch, 3 something is damaged, under another name, or not what was sealed.\n\nExamples:\n  hansard store verify\n  hansard store verify research/route-models --json\n  hansard store verify 4K7Q --accept-loss',
    )
    .action((word: string | undefined, options: VerifyOptions) =>
      withStore(context, options, async ({ store }) => {
        if (options.against !== undefined) {
          if (word !== undefined || options.acceptLoss === true) throw onlyAgainst();
          await verifyAgainst(context, store, options.against, options);
        } else if (options.acceptLoss === true) await acceptLoss(context, store, word, options);
        else await verify(context, store, word, options);
      }),
    );
}

function onlyAgainst(): CliError {
  return new CliError(
    exitCode.usage,
    '--against takes no session and no --accept-loss.',
    'The seals in its file name the sessions.',
  );
}

async function verify(
  context: CliContext,
  store: DispatchStore,
  word: string | undefined,
  options: VerifyOptions,
): Promise<void> {
  const named = partOfStore(word === undefined ? null : await resolveScope(store, word));
  const summary = new Summary();
  const progress = createProgress(context, 'Verified dispatches');
  const results = async function* () {
    for await (const result of verifyDispatches(store, { ...named, signal: context.readSignal })) {
      summary.add(result);
      progress.update(summary.dispatches);
      if (!isWhole(result)) progress.end();
      yield result;
    }
    progress.end();
  };
  const remains = async function* () {
    for (const place of await store.findRemains(named)) {
      summary.remains += 1;
      yield place;
    }
  };
  await printAnswer(context, options, {
    rows: jsonRows(results(), remains()),
    text: lines(results(), remains(), summary),
  });
  summary.assertWhole();
}

async function acceptLoss(
  context: CliContext,
  store: DispatchStore,
  word: string | undefined,
  options: VerifyOptions,
): Promise<void> {
  if (word === undefined)
    throw new CliError(
      exitCode.usage,
      '--accept-loss is for one session.',
      'Name it: hansard store verify SESSION --accept-loss.',
    );
  const reference = await resolveSession(store, word);
  const found = await store.verifyDispatch(reference);
  const name = `Session ${reference.dispatchId} of ${toTaskName(reference.taskDir)}`;
  let isAccepted = false;
  if (found.damages.length > 0) {
    for (const line of found.damages.map(describeDamage)) note(context, line);
    const question = `Keep the ${count(found.wholeEvents, 'whole event')} and give up the rest?`;
    isAccepted = await confirm(context, question, options);
    if (isAccepted) await store.acceptLoss(reference);
  }
  const outcome = isAccepted
    ? `keeps ${count(found.wholeEvents, 'event')}, and a notice of the loss. The damaged bytes are kept beside it.`
    : 'is unchanged.';
  await printAnswer(context, options, {
    rows: [{ ...reference, ...found, isAccepted }],
    text: found.damages.length === 0 ? `${name} is whole.` : `${name} ${outcome}`,
  });
  if (found.damages.length > 0 && !isAccepted)
    throw new CliError(
      exitCode.damaged,
      `${name} is damaged.`,
      'Answer yes, or add --yes, to accept the loss.',
    );
}

/** Counts what was verified. */
class Summary {
  dispatches = 0;
  #letters = 0;
  /** The places that belong to no dispatch. */
  remains = 0;
  #events = 0;
  #bytes = 0;
  #damaged = 0;
  /** Logs whose name differs from the one under which they were written. */
  #misplaced = 0;
  #newer = 0;
  #withoutChecksums = 0;

  add(result: VerifiedDispatch): void {
    const { taskDir, dispatchId, verification } = result;
    if (isLetter(result)) this.#letters += 1;
    else if (dispatchId !== null && !isInternalTask(taskDir)) this.dispatches += 1;
    this.#events += verification?.wholeEvents ?? 0;
    this.#bytes += verification?.bytes ?? 0;
    if (storeErrors.is(result.error, 'STORE_MISPLACED')) this.#misplaced += 1;
    else if (storeErrors.is(result.error, 'STORE_NEWER')) this.#newer += 1;
    else if (!isWhole(result)) this.#damaged += 1;
    else if (verification?.integrity === 'none') this.#withoutChecksums += 1;
  }

  get text(): string {
    const letters = this.#letters === 0 ? '' : `, ${count(this.#letters, 'letter')}`;
    const all = `${count(this.dispatches, 'session', 'sessions')}, ${count(this.#events, 'event')}${letters}, ${count(this.#bytes, 'byte')}`;
    const wrong = [
      ...(this.#damaged === 0 ? [] : [`${this.#damaged} damaged`]),
      ...(this.#misplaced === 0 ? [] : [`${this.#misplaced} under another name`]),
      ...(this.#newer === 0 ? [] : [`${this.#newer} of a newer version`]),
    ];
    const state = wrong.length === 0 ? 'all whole' : wrong.join(', ');
    const checked =
      this.#withoutChecksums === 0
        ? ''
        : `\n${count(this.#withoutChecksums, 'session', 'sessions')} without checksums: only what is not an event was found there.`;
    const remains = this.remains === 0 ? '' : `; ${count(this.remains, 'place')} not verified`;
    return `${all}: ${state}${remains}.${checked}`;
  }

  /** @throws CliError with the exit code for damage, including for a log under another name */
  assertWhole(): void {
    const unread = this.#damaged + this.#newer + this.#misplaced;
    if (unread === 0) return;
    if (unread === this.#misplaced)
      throw new CliError(
        exitCode.damaged,
        `${count(this.#misplaced, 'log')} of the store cannot be read, because a file or folder has another name.`,
        'Rename each file or folder, or keep the new name with `hansard store adopt`.',
      );
    throw new CliError(
      exitCode.damaged,
      `${unread} of ${count(this.dispatches, 'session', 'sessions')}${this.#letters === 0 ? '' : ` and ${count(this.#letters, 'letter')}`} can't be read completely.`,
      this.#damaged === 0
        ? 'Update Hansard.'
        : '`hansard show SESSION --damaged` reads what is whole; `hansard store verify SESSION --accept-loss` makes a dispatch usable again.',
    );
  }
}

async function* lines(
  results: AsyncIterable<VerifiedDispatch>,
  remains: AsyncIterable<string>,
  summary: Summary,
): AsyncGenerator<string> {
  for await (const result of results) yield* describeResult(result);
  for await (const place of remains) yield neutraliseControlsInLine(`Not verified: ${place}`);
  yield summary.text;
}

async function* jsonRows(
  results: AsyncIterable<VerifiedDispatch>,
  remains: AsyncIterable<string>,
): AsyncGenerator<object> {
  for await (const { taskDir, dispatchId, letterTo, verification, error } of results) {
    const reported =
      error === null ? {} : { error: { code: error.code, message: error.message, ...error.details } };
    const letter = letterTo === null ? {} : { letterTo };
    yield { taskDir, dispatchId, ...letter, ...verification, ...reported };
  }
  for await (const place of remains) yield { taskDir: null, dispatchId: null, remains: place };
}

/** Only what is damaged has lines. */
function describeResult(result: VerifiedDispatch): string[] {
  if (isWhole(result)) return [];
  const { verification, error } = result;
  const place = placeOf(result);
  if (error !== null) return [`${place}: ${explainError(error).message}`];
  const damages = verification?.damages ?? [];
  const whole = count(verification?.wholeEvents ?? 0, 'whole event');
  return [`${place}: damaged, ${whole}`, ...damages.map((damage) => `  ${describeDamage(damage)}`)];
}

function describeDamage({ place, offset, bytes, eventsBefore, lostEvents, reason }: DispatchDamage): string {
  const extent = bytes === 0 ? '' : `, ${count(bytes, 'byte')}`;
  const lost =
    lostEvents === null ? 'an unknown number of events is lost' : `${count(lostEvents, 'event')} lost`;
  return `${place}, at ${offset}${extent}: ${reason} (after ${count(eventsBefore, 'event')}; ${lost})`;
}

function isLetter({ taskDir }: VerifiedDispatch): boolean {
  return isInternalTask(taskDir) && !taskDir.startsWith('_hansard/notes');
}

function placeOf(result: VerifiedDispatch): string {
  const { taskDir, dispatchId, letterTo } = result;
  const name = isLetter(result) ? taskDir : toTaskName(taskDir);
  const place = dispatchId === null ? name : `${name} ${dispatchId}`;
  if (letterTo === null) return place;
  return `Letter ${dispatchId ?? ''} to ${letterTo.dispatchId}`.replace('  ', ' ');
}

function isWhole({ verification, error }: VerifiedDispatch): boolean {
  return error === null && verification !== null && verification.damages.length === 0;
}

function count(number: number, one: string, several = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : several}`;
}
