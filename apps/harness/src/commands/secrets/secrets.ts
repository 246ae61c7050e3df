import { partOfStore, resolveScope, toTaskName } from '@hansard/compose';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { type ScanItem, type StoredSecret, scanSecrets } from '@hansard/maintenance';
import { createRedactor, type Redactor, type UnreadContent } from '@hansard/redaction';
import type { Command } from 'commander';
import { printAnswer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { type AddCommand, sessionHelp, withCommonOptions, withExamples } from '../../terminal/command.ts';
import { type CliContext, note } from '../../terminal/context.ts';
import { createProgress } from '../../terminal/progress.ts';
import { withStore } from '../../terminal/with-store.ts';
import { addRedact } from './redact.ts';
import {
  contentsInWords,
  counted,
  keptPlaces,
  printable,
  redactorOptions,
  type SecretOptions,
  unreadInWords,
  withSecretOptions,
} from './secret-options.ts';

export const addSecrets: AddCommand = (command, context) => {
  addScan(command, context);
  addRedact(command, context);
  withExamples(command, 'secrets scan', 'secrets redact research/route-models --yes');
};

function addScan(parent: Command, context: CliContext): void {
  const command = parent
    .command('scan')
    .description('find stored secrets')
    .argument('[session]', `${sessionHelp} (default: all sessions)`);
  withSecretOptions(withCommonOptions(command), 'find')
    .addHelpText(
      'after',
      "\nPrints the task, the dispatch, the position, the field and the kind of each secret, including those in letters to a session. Never prints the secret, and replaces it in the names that are printed. A secret that stays is in an id or a name, which `hansard secrets redact` does not change. The bytes of images, documents and sounds are not searched for secrets: they are counted, with the events that have them.\n\nExit codes: 0 no secret was found, 3 something could not be read or belongs to no dispatch, 4 secrets were found.\n\nExamples:\n  hansard secrets scan\n  hansard secrets scan research/route-models --json\n  hansard secrets scan --env DATABASE_PASSWORD --pattern 'acme-key=acme_[0-9a-f]{32}'",
    )
    .action((word: string | undefined, options: SecretOptions) =>
      withStore(context, options, async ({ store, loaded }) => {
        const redactor = createRedactor(redactorOptions(loaded.config, context, options));
        const scope = {
          ...partOfStore(word === undefined ? null : await resolveScope(store, word)),
          signal: context.readSignal,
        };
        const summary = new Summary();
        const progress = createProgress(context, 'Scanned events');
        const items = async function* () {
          for await (const item of scanSecrets(store, redactor, scope)) {
            summary.add(item);
            progress.update(summary.events);
            if (item.read !== undefined) continue;
            progress.end();
            yield withoutSecrets(redactor, item);
          }
          progress.end();
        };
        await printAnswer(context, options, { rows: jsonRows(items()), text: lines(items(), summary) });
        if (options.json === true) note(context, summary.text);
        summary.assertNothingFound();
      }),
    );
}

/** The item with names that can be printed. */
function withoutSecrets(redactor: Redactor, item: ScanItem): ScanItem {
  const { secret, scanned, scannedLetter, unreadTask, remains } = item;
  if (remains !== undefined) return { remains: redactor.text(remains).text };
  if (secret !== undefined) {
    const type = secret.type === null ? null : redactor.text(secret.type).text;
    const letterId = secret.letterId === null ? null : redactor.text(secret.letterId).text;
    return { secret: { ...printable(redactor, secret), type, letterId } };
  }
  if (scanned !== undefined) return { scanned: printable(redactor, scanned) };
  if (scannedLetter !== undefined) return { scannedLetter: printable(redactor, scannedLetter) };
  if (unreadTask === undefined) return item;
  return { unreadTask: { ...unreadTask, taskDir: redactor.text(unreadTask.taskDir).text } };
}

/** Of an error only the code: a message can quote what is stored. */
async function* jsonRows(items: AsyncIterable<ScanItem>): AsyncGenerator<unknown> {
  for await (const { secret, scanned, scannedLetter, unreadTask, remains } of items)
    if (secret !== undefined) {
      const { letterId, ...rest } = secret;
      yield { secret: letterId === null ? rest : secret };
    } else if (scannedLetter !== undefined)
      yield { scannedLetter: { ...scannedLetter, error: scannedLetter.error?.code ?? null } };
    else if (remains !== undefined) yield { remains };
    else if (unreadTask !== undefined) yield { unreadTask: { ...unreadTask, error: unreadTask.error.code } };
    else yield { scanned: { ...scanned, error: scanned?.error?.code ?? null } };
}

async function* lines(items: AsyncIterable<ScanItem>, summary: Summary): AsyncGenerator<string> {
  for await (const { secret, scanned, scannedLetter, unreadTask, remains } of items) {
    if (secret) yield describe(secret);
    else if (remains !== undefined) yield neutraliseControlsInLine(`Not scanned: ${remains}`);
    else if (unreadTask)
      yield `${toTaskName(unreadTask.taskDir)} task record: not read (${unreadTask.error.code})`;
    else if (scannedLetter?.error)
      yield `${scannedLetter.taskDir} ${scannedLetter.dispatchId ?? '(unknown)'}: letter not read (${scannedLetter.error.code})`;
    else if (scanned && scanned.unread.length > 0)
      yield neutraliseControlsInLine(
        `${toTaskName(scanned.taskDir)} ${scanned.dispatchId ?? '(unknown)'}: ${unreadInWords(scanned.unread)}`,
      );
    if (scanned?.error)
      yield `${toTaskName(scanned.taskDir)} ${scanned.dispatchId ?? '(unknown)'}: not read to the end (${scanned.error.code})`;
  }
  yield summary.text;
}

function describe(secret: StoredSecret): string {
  const { taskDir, dispatchId, position, type, letterId, field, kind, count, isKept } = secret;
  const inEnvelope = letterId === null ? 'envelope' : `letter ${letterId}`;
  const inDispatch = position === null ? inEnvelope : `event ${position} (${type})`;
  const inTask = field === '/taskDir' && isKept ? 'task folder' : `task record ${field}`;
  const place = dispatchId === null ? inTask : `${dispatchId} ${inDispatch} ${field}`;
  const times = count === 1 ? '' : ` ×${count}`;
  const stays = isKept ? ' (stays)' : '';
  // An agent wrote the keys of the field.
  return neutraliseControlsInLine(`${toTaskName(taskDir)} ${place}: ${kind}${times}${stays}`);
}

/** Counts what was read and found. */
class Summary {
  events = 0;
  #dispatches = 0;
  #letters = 0;
  #unreadLetters = 0;
  #unread = 0;
  #unreadTasks = 0;
  #remains = 0;
  #kept = 0;
  readonly #contents: UnreadContent[] = [];
  readonly #found = new Map<string, number>();

  add({ secret, read, scanned, scannedLetter, unreadTask, remains }: ScanItem): void {
    if (read !== undefined) this.events += read;
    else if (remains !== undefined) this.#remains += 1;
    else if (unreadTask !== undefined) this.#unreadTasks += 1;
    else if (scannedLetter !== undefined) {
      this.#letters += 1;
      if (scannedLetter.error !== null) this.#unreadLetters += 1;
    } else if (secret !== undefined) {
      this.#found.set(secret.kind, (this.#found.get(secret.kind) ?? 0) + secret.count);
      if (secret.isKept) this.#kept += secret.count;
    } else {
      this.#dispatches += 1;
      this.#contents.push(...scanned.unread);
      if (scanned.error !== null) this.#unread += 1;
    }
  }

  get #total(): number {
    return [...this.#found.values()].reduce((sum, count) => sum + count, 0);
  }

  get text(): string {
    const kinds = [...this.#found].sort().map(([kind, count]) => `${count} ${kind}`);
    const found =
      kinds.length === 0 ? 'no secret' : `${counted(this.#total, 'secret')} (${kinds.join(', ')})`;
    const kept = this.#kept === 0 ? '' : `; ${this.#kept.toLocaleString('en')} in ${keptPlaces}`;
    const remains = this.#remains === 0 ? '' : `; ${counted(this.#remains, 'place')} not scanned`;
    const letters = this.#letters === 0 ? '' : `, ${counted(this.#letters, 'letter')}`;
    const contents = this.#contents.length === 0 ? '' : `; ${contentsInWords(this.#contents)} not read`;
    return `${counted(this.#dispatches, 'session', 'sessions')}, ${counted(this.events, 'event')}${letters}: ${found}${kept}${remains}${contents}.`;
  }

  /** @throws CliError with the exit code for an incomplete scan, or else for secrets */
  assertNothingFound(): void {
    const unread = [
      ...(this.#unread === 0 ? [] : [counted(this.#unread, 'session', 'sessions')]),
      ...(this.#unreadTasks === 0 ? [] : [counted(this.#unreadTasks, 'task record')]),
      ...(this.#unreadLetters === 0 ? [] : [counted(this.#unreadLetters, 'letter')]),
    ];
    if (unread.length > 0)
      throw new CliError(
        exitCode.damaged,
        `${unread.join(' and ')} could not be read to the end, so the scan is incomplete.`,
        '`hansard store verify` shows the damage.',
      );
    if (this.#remains > 0 && this.#total === 0)
      throw new CliError(
        exitCode.damaged,
        `${counted(this.#remains, 'place')} of the store could not be scanned, so the scan is incomplete.`,
        'Each is named above, with what removes it.',
      );
    if (this.#total > 0)
      throw new CliError(
        exitCode.secrets,
        `${counted(this.#total, 'secret')} found.`,
        `Revoke them at their issuers. ${this.#advice}`,
      );
  }

  get #advice(): string {
    const [kept, all] = [this.#kept, this.#total];
    if (kept === 0) return '`hansard secrets redact` replaces them in the log.';
    if (kept === all)
      return `They stay in the log: \`hansard secrets redact\` does not change ${keptPlaces}.`;
    const [replaced, staying] = [all - kept, kept].map((count) => count.toLocaleString('en'));
    return `\`hansard secrets redact\` replaces ${replaced} of them in the log. ${staying} in ${keptPlaces} stay.`;
  }
}
