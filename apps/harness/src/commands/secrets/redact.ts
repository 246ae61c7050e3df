import { partOfStore, resolveScope, toTaskName } from '@hansard/compose';
import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import { addRedactions, type RedactionCounts } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  type CopiesElsewhere,
  type FoundContent,
  findContents,
  findCopiesElsewhere,
  type RedactedDispatch,
  type RedactedTask,
  redactDispatches,
  redactTasks,
  type VerifyScope,
} from '@hansard/maintenance';
import { type StoreError, storeErrors } from '@hansard/provider';
import { createRedactor, type Redactor, type UnreadContent } from '@hansard/redaction';
import type { Command } from 'commander';
import { printAnswer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { sessionHelp, withCommonOptions } from '../../terminal/command.ts';
import { confirm, yesOption } from '../../terminal/confirm.ts';
import { type CliContext, note } from '../../terminal/context.ts';
import { createProgress } from '../../terminal/progress.ts';
import { withStore } from '../../terminal/with-store.ts';
import {
  contentsInWords,
  counted,
  keptPlaces,
  kindsInWords,
  printable,
  redactorOptions,
  repeated,
  type SecretOptions,
  unreadInWords,
  withSecretOptions,
} from './secret-options.ts';

interface RedactOptions extends SecretOptions {
  readonly content?: readonly string[];
  readonly yes?: boolean;
}

export function addRedact(parent: Command, context: CliContext): void {
  const command = parent
    .command('redact')
    .description('replace stored secrets of ended sessions')
    .argument('[session]', `${sessionHelp} (default: all sessions)`);
  withSecretOptions(withCommonOptions(command), 'replace')
    .option(
      '--content <digest>',
      'instead of secrets, remove the bytes of the image, document or sound with this SHA-256, or with these first digits (at least 8); can be repeated',
      repeated,
    )
    .option(...yesOption)
    .addHelpText(
      'after',
      "\nReplaces each secret in task records, and in the envelopes, events and letters of ended dispatches, by [REDACTED:kind]. Ids, positions and times stay. Each dispatch is replaced in one step, and gets a notice with the counts at its end. Its letters follow. Then cleans unused parts of the store once, which can take as long as writing the whole store again. This cannot be undone. Dispatches that are running are skipped. Secrets in ids, types, times and names of folders stay, and are counted. The bytes of images, documents and sounds are not searched for secrets: they are counted, with the events that have them. --content removes such bytes; their digest, type and size stay, and the same source does not bring them back. Forks and continuations of a session repeat its events: with a session or a task, the command names the other sessions that have copies with secrets, and does not change them. Exports, backups and copies elsewhere keep the secrets, too: revoke them at their issuers.\n\nExit codes: 0 done, 1 some dispatches were skipped, or the store could not be cleaned.\n\nExamples:\n  hansard secrets scan\n  hansard secrets redact\n  hansard secrets redact research/route-models --yes\n  hansard secrets redact --pattern 'acme-key=acme_[0-9a-f]{32}' --yes --json\n  hansard secrets redact research/route-models --content 1a2b3c4d",
    )
    .action((word: string | undefined, options: RedactOptions) =>
      withStore(context, options, async ({ store, loaded }) => {
        const scope = {
          ...partOfStore(word === undefined ? null : await resolveScope(store, word)),
          signal: context.readSignal,
        };
        const place = word === undefined ? 'the whole store' : word;
        const contents =
          options.content === undefined ? null : await chosenContents(store, scope, place, options);
        const redactor = createRedactor(
          contents === null
            ? redactorOptions(loaded.config, context, options)
            : { formats: false, contents: contents.map(({ sha256 }) => sha256) },
        );
        const question =
          contents === null
            ? `Replace the secrets in the ended sessions of ${place}? This cannot be undone.`
            : `Remove the bytes of ${contentsInWords(contents)}, from the ended sessions of ${place}? This cannot be undone.`;
        if (!(await confirm(context, question, options))) {
          note(context, 'Nothing was changed.');
          return;
        }
        const copies = await copiesOutside(store, redactor, scope);
        const summary = new Summary(contents !== null, copies);
        const progress = createProgress(context, 'Read dispatches');
        const results = async function* (): AsyncGenerator<Result> {
          if (scope.dispatchId === undefined && contents === null)
            for await (const task of redactTasks(store, redactor, scope)) {
              summary.addTask(task);
              yield { task: { ...task, taskDir: redactor.text(task.taskDir).text } };
            }
          for await (const result of redactDispatches(store, redactor, scope)) {
            summary.add(result);
            progress.update(summary.dispatches);
            if (contents !== null ? isOutside(result) : isClean(result)) continue;
            progress.end();
            yield { dispatch: printable(redactor, result) };
          }
          progress.end();
          await summary.clean(store);
          if (summary.remains.size > 0) yield { remains: [...summary.remains] };
        };
        await printAnswer(context, options, {
          rows: jsonRows(results(), copies),
          text: lines(results(), summary),
        });
        for (const remains of summary.notCovered()) note(context, `Not covered: ${remains}`);
        if (options.json === true) note(context, summary.text);
        summary.assertAllDone();
      }),
    );
}

/** The other sessions that have copies of events with secrets. Found before the change: equal copies can differ after it. */
async function copiesOutside(
  store: DispatchStore,
  redactor: Redactor,
  { taskDir, dispatchId, signal }: VerifyScope,
): Promise<readonly CopiesElsewhere[]> {
  if (taskDir === undefined) return [];
  const isInside = (one: DispatchRef) =>
    one.taskDir === taskDir && (dispatchId === undefined || one.dispatchId === dispatchId);
  const copies = await findCopiesElsewhere(store, isInside, { redactor, signal });
  return copies.map((copy) => ({ ...printable(redactor, copy), of: printable(redactor, copy.of) }));
}

/** The contents that `--content` names. @throws CliError if a digest names none, or several */
async function chosenContents(
  store: DispatchStore,
  scope: VerifyScope,
  place: string,
  { content = [], env, pattern }: RedactOptions,
): Promise<readonly FoundContent[]> {
  if (env !== undefined || pattern !== undefined)
    throw new CliError(
      exitCode.usage,
      '--content removes bytes, and replaces no secrets.',
      'Run the command once with --content, and once with --env and --pattern.',
    );
  const beginnings = content.map((digest) => digest.toLowerCase());
  const strange = content.find((digest) => !/^[0-9a-f]{8,64}$/i.test(digest));
  if (strange !== undefined)
    throw new CliError(
      exitCode.usage,
      `${JSON.stringify(strange)} is not the beginning of a SHA-256.`,
      'Give 8 to 64 hexadecimal digits, as `hansard show` and `hansard secrets scan --json` print them.',
    );
  const found = await findContents(store, beginnings, scope);
  for (const beginning of beginnings) {
    const named = found.filter(({ sha256 }) => sha256.startsWith(beginning));
    if (named.length === 1) continue;
    const digests = named.map(({ sha256 }) => sha256).join(', ');
    throw new CliError(
      exitCode.failed,
      named.length === 0
        ? `There is no image, document or sound with the SHA-256 ${beginning} in ${place}.`
        : `${beginning} is the beginning of several digests in ${place}: ${digests}.`,
      '`hansard secrets scan --json` lists the digests of each session.',
    );
  }
  return found;
}

/** The result for a dispatch, or for the record of a task; at the end, the places that can still hold old text. */
type Result =
  | { readonly dispatch: RedactedDispatch }
  | { readonly task: RedactedTask }
  | { readonly remains: readonly string[] };

/** Of an error only the code: a message can quote what is stored. */
async function* jsonRows(
  results: AsyncIterable<Result>,
  copies: readonly CopiesElsewhere[],
): AsyncGenerator<unknown> {
  for await (const result of results) {
    if ('remains' in result) {
      yield { taskDir: null, dispatchId: null, remains: result.remains };
    } else if ('task' in result) {
      const { taskDir, counts, kept, error } = result.task;
      yield { taskDir, dispatchId: null, isTaskRecord: true, counts, kept, error: error?.code ?? null };
    } else {
      const { taskDir, dispatchId, redaction, kept, error } = result.dispatch;
      const { counts, events, hasEnvelope, letters, unread } = redaction ?? {};
      yield {
        taskDir,
        dispatchId,
        counts,
        events,
        hasEnvelope,
        letters,
        unread,
        kept,
        copies: copies.filter(({ of }) => of.dispatchId === dispatchId).map(({ of: _, ...copy }) => copy),
        error: error?.code ?? null,
      };
    }
  }
}

async function* lines(results: AsyncIterable<Result>, summary: Summary): AsyncGenerator<string> {
  for await (const result of results)
    if (!('remains' in result)) yield neutraliseControlsInLine(lineOf(result));
  yield summary.text;
}

type ResultOfRecord = Exclude<Result, { readonly remains: unknown }>;

function lineOf(result: ResultOfRecord): string {
  const { taskDir, error } = 'task' in result ? result.task : result.dispatch;
  const place = 'task' in result ? 'task record' : (result.dispatch.dispatchId ?? '(unknown)');
  const name = `${toTaskName(taskDir)} ${place}`;
  if (error !== null) return `${name}: skipped (${reasonOf(error.code)})`;
  const { kept } = 'task' in result ? result.task : result.dispatch;
  const staying = hasAny(kept) ? [`${kindsInWords(kept)} in ids or names (stays)`] : [];
  const { unread = [] } = 'task' in result ? {} : (result.dispatch.redaction ?? {});
  const notRead = unread.length === 0 ? [] : [unreadInWords(unread)];
  return `${name}: ${[...replacedIn(result), ...staying, ...notRead].join('; ')}`;
}

function replacedIn(result: ResultOfRecord): string[] {
  if ('task' in result) {
    const { counts } = result.task;
    return hasAny(counts ?? {}) ? [kindsInWords(counts ?? {})] : [];
  }
  const { dispatch } = result;
  if (!isChanged(dispatch)) return [];
  const { counts = {}, events = 0, hasEnvelope = false, letters = 0 } = dispatch.redaction ?? {};
  const places = [
    ...(events > 0 || letters === 0 ? [counted(events, 'event')] : []),
    ...(letters > 0 ? [counted(letters, 'letter')] : []),
    ...(hasEnvelope ? ['the envelope'] : []),
  ];
  return [`${kindsInWords(counts)} in ${places.join(' and ')}`];
}

/** Whether a session has none of the contents that are removed. */
function isOutside(result: RedactedDispatch): boolean {
  return result.error === null && !isChanged(result);
}

/** Whether there is nothing to report about a session. */
function isClean(result: RedactedDispatch): boolean {
  return isOutside(result) && !hasAny(result.kept) && result.redaction?.unread.length === 0;
}

function isChanged({ redaction }: RedactedDispatch): boolean {
  return redaction !== null && (redaction.events > 0 || redaction.hasEnvelope || redaction.letters > 0);
}

function hasAny(counts: RedactionCounts): boolean {
  return Object.keys(counts).length > 0;
}

function reasonOf(code: string): string {
  return code === 'STORE_LOCKED' ? 'it is running, or another process has it' : code;
}

const mostCopies = 10;

function addressOf({ taskDir, dispatchId }: DispatchRef): string {
  return `${toTaskName(taskDir)}/${dispatchId}`;
}

/** Counts what was replaced and skipped. */
class Summary {
  dispatches = 0;
  /** The places that can still hold old text. */
  remains = new Set<string>();
  /** Why the store could not be cleaned. */
  #failure: StoreError | null = null;
  readonly #kept: Record<string, number> = {};
  #changed = 0;
  #tasks = 0;
  #tasksPassedOver = 0;
  #passedOver = 0;
  readonly #unread: UnreadContent[] = [];
  readonly #isOfContents: boolean;
  readonly #counts: Record<string, number> = {};

  readonly #copies: readonly CopiesElsewhere[];

  constructor(isOfContents: boolean, copies: readonly CopiesElsewhere[]) {
    this.#isOfContents = isOfContents;
    this.#copies = copies;
  }

  addTask({ counts, kept, error }: RedactedTask): void {
    if (error !== null) this.#tasksPassedOver += 1;
    addRedactions(this.#kept, kept);
    if (counts === null || !hasAny(counts)) return;
    this.#tasks += 1;
    this.remains.add('the old records of tasks, in unused parts of the files or tables of the store.');
    addRedactions(this.#counts, counts);
  }

  add(dispatch: RedactedDispatch): void {
    const { redaction, kept, error } = dispatch;
    this.dispatches += 1;
    if (error !== null) this.#passedOver += 1;
    addRedactions(this.#kept, kept);
    this.#unread.push(...(redaction?.unread ?? []));
    if (!isChanged(dispatch)) return;
    this.#changed += 1;
    for (const place of redaction?.remains ?? []) this.remains.add(place);
    addRedactions(this.#counts, redaction?.counts ?? null);
  }

  /** Where secrets can still be, in words. */
  notCovered(): string[] {
    const kept = hasAny(this.#kept)
      ? [`${kindsInWords(this.#kept)} in ${keptPlaces}, which stay. Revoke them at their issuers.`]
      : [];
    const shown = this.#copies.slice(0, mostCopies).map(({ of, events, ...copy }) => {
      const [one, several] = this.#isOfContents
        ? ['image, document or sound', 'images, documents and sounds']
        : ['event with secrets', 'events with secrets'];
      return `${addressOf(copy)} has ${counted(events, one, several)} that ${addressOf(of)} has, too. Redact that session as well.`;
    });
    const more = this.#copies.length - shown.length;
    const others =
      more === 0
        ? []
        : [`copies in ${counted(more, 'more session', 'more sessions')}. \`--json\` names them.`];
    return [...kept, ...shown, ...others, ...this.remains];
  }

  /** Cleans the unused parts of the store, including after a run that was killed, which leaves nothing to replace. */
  async clean(store: DispatchStore): Promise<void> {
    try {
      const remains = await store.removeRemains();
      if (remains !== null) this.remains = new Set(remains);
    } catch (error) {
      if (!storeErrors.is(error)) throw error;
      this.#failure = error;
      this.remains.add('unused parts of the store, because they could not be cleaned.');
    }
  }

  get text(): string {
    const all = counted(this.dispatches, 'session', 'sessions');
    if (this.#isOfContents && this.#changed === 0) return `${all}: nothing was removed.`;
    if (this.#isOfContents)
      return `${all}, ${this.#changed.toLocaleString('en')} changed: ${counted(this.#counts.content ?? 0, 'content')} removed.`;
    const unread = this.#unread.length === 0 ? '' : ` ${contentsInWords(this.#unread)} not read.`;
    if (this.#changed + this.#tasks === 0) return `${all}: no secret was replaced.${unread}`;
    const tasks = this.#tasks === 0 ? '' : `, and ${counted(this.#tasks, 'task record')}`;
    const changed = `${this.#changed.toLocaleString('en')} changed${tasks}`;
    return `${all}, ${changed}: ${kindsInWords(this.#counts)} replaced.${unread}`;
  }

  /** What was replaced before the cleaning. */
  get #done(): string {
    if (this.#changed + this.#tasks === 0) return 'Nothing had to be replaced, but';
    return this.#isOfContents ? 'The contents are removed, but' : 'The secrets are replaced, but';
  }

  /** @throws CliError if dispatches were skipped, or the store could not be cleaned */
  assertAllDone(): void {
    const passedOver = [
      ...(this.#passedOver === 0 ? [] : [counted(this.#passedOver, 'session', 'sessions')]),
      ...(this.#tasksPassedOver === 0 ? [] : [counted(this.#tasksPassedOver, 'task record')]),
    ];
    if (this.#failure !== null) {
      const also = passedOver.length === 0 ? '' : ` ${passedOver.join(' and ')} skipped.`;
      throw new CliError(
        exitCode.failed,
        `${this.#done} unused parts of the store could not be cleaned: ${this.#failure.message}${also}`,
        'Run `hansard secrets redact` again: it cleans them, even if no secret is left to replace.',
      );
    }
    if (passedOver.length === 0) return;
    throw new CliError(
      exitCode.failed,
      `${passedOver.join(' and ')} skipped.`,
      'Try again when they have ended; `hansard store verify` shows damage.',
    );
  }
}
