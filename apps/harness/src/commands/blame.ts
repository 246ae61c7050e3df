import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { storePlace, toTaskName } from '@hansard/compose';
import {
  type BlamedFile,
  blameFile,
  type EditContext,
  EditContexts,
  type FileEvent,
  type FileHistoryStep,
} from '@hansard/compose/reading';
import { messageOf } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatCount, formatTime, shortId } from '@hansard/facts';
import { type BlamedLine, columnsOf, fitColumns, padColumns } from '@hansard/views';
import { homeOf } from '../import/import-home.ts';
import { incomplete } from '../tasks/unreadable.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, letInterrupt, terminalWidth } from '../terminal/context.ts';
import { createPainter } from '../terminal/painter.ts';
import { createProgress } from '../terminal/progress.ts';
import { shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface BlameOptions extends CommonOptions {
  readonly history?: boolean;
  readonly recordedAs?: string;
}

const notOnRecord = 'not on record';
/** Columns of a line that is not written to a terminal. */
const usualWidth = 160;

export const addBlame: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('--history', 'print every recorded change of the file, oldest first, instead of its lines')
    .option(
      '--recorded-as <path>',
      'the path that the sessions recorded, if the file was moved or is another checkout',
    )
    .addHelpText(
      'after',
      [
        '',
        'Each line has the session and the position of the event that wrote it, as other commands take them. The recorded',
        `edits of all sessions are replayed from a recorded content; a line of which they prove nothing is "${notOnRecord}".`,
        'If something else changed the file between two recorded contents, such as a person or a formatter, a line keeps',
        'its event only where the change shows that it stayed. A ~ before the position marks such a line.',
        '',
        'Examples:',
        '  hansard blame src/app.ts',
        '  hansard blame src/app.ts:40-60',
        '  hansard blame src/app.ts:12 --json',
        '  hansard blame src/app.ts --history',
        '  hansard blame src/app.ts --recorded-as /home/ann/shop/src/app.ts',
        '',
        '`hansard why SESSION POSITION` continues with the causes of an event.',
      ].join('\n'),
    )
    .action((word: string, options: BlameOptions) =>
      answerFromStore(context, options, async (harness) => {
        const { store } = harness;
        const file = fileNamed(context.cwd, word, options);
        const progress = createProgress(context, `searching ${word}: sessions`);
        const blamed = await blameFile(store, {
          ...file,
          index: indexPath(context, storePlace(harness)),
          onSession: async (searched, of) => {
            progress.update(searched, of);
            await letInterrupt(context);
          },
        }).finally(() => progress.end());
        if (blamed.steps.length === 0) throw nothingKnown(file.paths[0] ?? word, blamed);
        const contexts = new EditContexts(store);
        const asked = { context, contexts, blamed, file };
        return options.history === true ? historyAnswer(asked) : linesAnswer(asked);
      }),
    );
};

/** The file of the index of a store. It is derived from the logs: it can be deleted at any time. */
function indexPath(context: CliContext, place: string): string {
  const caches = context.env.XDG_CACHE_HOME || join(homeOf(context), '.cache');
  const name = createHash('sha256').update(place).digest('hex').slice(0, 32);
  return join(caches, 'hansard', `files-${name}`);
}

interface NamedFile {
  readonly paths: readonly string[];
  /** Null: the file does not exist. */
  readonly content: string | null;
  /** Lines from 1, both included. */
  readonly from: number;
  readonly to: number;
}

/** The file that a word names, perhaps with a line or a range of lines. @throws CliError */
function fileNamed(cwd: string, word: string, { history, recordedAs }: BlameOptions): NamedFile {
  const [, name = word, first, last = first] = /^(.+?):(\d{1,9})(?:-(\d{1,9}))?$/.exec(word) ?? [];
  const isPlain = first === undefined || contentOf(resolve(cwd, word)) !== null;
  const path = resolve(cwd, isPlain ? word : name);
  const content = contentOf(path);
  if (content === null && history !== true)
    throw new CliError(
      exitCode.usage,
      `There is no file ${path}.`,
      'Name a file that exists; --history prints the changes of one that was deleted.',
    );
  const lines = content === null ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
  const [from, to] = isPlain ? [1, lines] : [Number(first), Number(last)];
  if (!isPlain && (from < 1 || to < from || to > lines))
    throw new CliError(
      exitCode.usage,
      `${name} has ${formatCount(lines, 'line')}, so ${word.slice(name.length + 1)} is not among them.`,
      'Give a line as FILE:LINE, or several as FILE:FIRST-LAST.',
    );
  const recorded =
    recordedAs === undefined ? [] : [isAbsolute(recordedAs) ? recordedAs : resolve(cwd, recordedAs)];
  const own = content === null ? [path] : [...new Set([path, realpathSync(path)])];
  return { paths: recorded.length > 0 ? recorded : own, content, from, to };
}

/** Null: the file does not exist. @throws CliError for a file that cannot be read */
function contentOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(exitCode.usage, `${path} can't be read: ${messageOf(error)}.`, 'Name a text file.');
  }
}

function nothingKnown(path: string, { narratives, otherPaths, unreadable }: BlamedFile): CliError {
  if (narratives.length > 0)
    return new CliError(
      exitCode.failed,
      `${narratives.map(({ dispatchId }) => shortId(dispatchId)).join(', ')} changed ${path}, and ${narratives.length === 1 ? 'was' : 'were'} recorded as a narrative, without contents of files.`,
      'Record or import with --fidelity full to keep them.',
    );
  const others = otherPaths.slice(0, 10).map((other) => `\n  ${neutraliseControlsInLine(other)}`);
  const more = otherPaths.length > 10 ? `\n  and ${otherPaths.length - 10} more` : '';
  const failed =
    unreadable.length === 0 ? '' : ` ${formatCount(unreadable.length, 'session')} can't be read.`;
  if (others.length === 0)
    return new CliError(
      exitCode.failed,
      `No session on record changed ${path}.${failed}`,
      'Commands that agents run, such as sed, leave no record of the files that they change. `hansard search NAME` finds events that name the file.',
    );
  return new CliError(
    exitCode.failed,
    `No session on record changed ${path}.${failed} Files of this name that sessions changed:${others.join('')}${more}`,
    'If one of them is this file, name it with --recorded-as.',
  );
}

interface Asked {
  readonly context: CliContext;
  readonly contexts: EditContexts;
  readonly blamed: BlamedFile;
  readonly file: NamedFile;
}

async function linesAnswer({ context, contexts, blamed, file }: Asked): Promise<Answer> {
  const lines = blamed.lines
    .slice(file.from - 1, file.to)
    .map((line, at) => ({ ...line, line: file.from + at }));
  const events = new Map<string, { readonly event: FileEvent; readonly about: EditContext }>();
  for (const { origin } of lines)
    if (origin !== null && !events.has(keyOf(origin.by)))
      events.set(keyOf(origin.by), { event: origin.by, about: await contexts.of(origin.by) });
  const rows = lines.map(({ line, text, origin }) => {
    if (origin === null) return { line, text, origin };
    const { by, line: lineThen, gaps } = origin;
    return { line, text, origin: { ...by, ...events.get(keyOf(by))?.about, lineThen, gaps } };
  });
  const counts = new Map<string, number>();
  for (const { origin } of lines)
    if (origin !== null) counts.set(keyOf(origin.by), (counts.get(keyOf(origin.by)) ?? 0) + 1);
  const known = lines.filter(({ origin }) => origin !== null).length;
  return {
    rows,
    text: [
      ...lineTexts(context, lines),
      '',
      `${known} of ${formatCount(lines.length, 'line')} on record.`,
      ...[...events].flatMap(([key, { event, about }]) =>
        eventTexts(context, event, about, counts.get(key) ?? 0),
      ),
    ].map((line) => line.trimEnd()),
    isPainted: true,
    ...closing(blamed),
  };
}

function keyOf({ dispatchId, position }: FileEvent): string {
  return `${dispatchId} ${position}`;
}

function lineTexts(
  context: CliContext,
  lines: readonly (BlamedLine<FileEvent> & { readonly line: number })[],
): string[] {
  const paint = createPainter(context);
  const width = terminalWidth(context) ?? usualWidth;
  const origins = lines.map(({ origin }) =>
    origin === null
      ? notOnRecord
      : `${shortId(origin.by.dispatchId)} ${origin.gaps > 0 ? '~' : ' '}${origin.by.position}`,
  );
  const widest = Math.max(0, ...origins.map(columnsOf));
  const digits = String(lines.at(-1)?.line ?? 0).length;
  return lines.map(({ line, text, origin }, at) => {
    const place = padColumns(origins[at] ?? '', widest);
    const head = `${paint(origin === null ? 'word' : 'position', place)}  ${String(line).padStart(digits)}  `;
    const room = Math.max(20, width - widest - digits - 4);
    return head + fitColumns(neutraliseControlsInLine(text.replaceAll('\t', '  ')), room);
  });
}

/** An event with what it was for. */
function eventTexts(
  context: CliContext,
  event: FileEvent,
  { agent, prompt }: EditContext,
  lines: number,
): string[] {
  const paint = createPainter(context);
  const width = terminalWidth(context) ?? usualWidth;
  const { dispatchId, position, timestamp, tool, isMixed, taskDir } = event;
  const parts = [
    formatTime(shownTime(context, timestamp)),
    `${tool}${agent === '' ? '' : ` of ${agent}`}${isMixed ? ', changed by a person' : ''}`,
    formatCount(lines, 'line'),
    toTaskName(taskDir),
  ].filter(Boolean);
  const place = `${shortId(dispatchId)} ${position}`;
  const about = fitColumns(neutraliseControlsInLine(parts.join('  ')), width - columnsOf(place) - 2);
  const asked =
    prompt === null
      ? 'no prompt is recorded before it'
      : `${prompt.source === 'user' ? 'prompt' : `asked by ${prompt.source === 'agent' ? 'an agent' : 'the outside world'}`} ${prompt.position}: ${prompt.text}`;
  return [
    '',
    `${paint('position', place)}  ${about}`,
    `  ${fitColumns(neutraliseControlsInLine(asked), width - 2)}`,
  ];
}

async function historyAnswer({ context, contexts, blamed }: Asked): Promise<Answer> {
  const steps = blamed.steps.filter(({ isSeen, gap }) => !isSeen || gap !== null);
  const rows: object[] = [];
  const text: string[] = [];
  for (const step of steps) {
    const about = await contexts.of(step.event);
    rows.push({ ...step, ...about });
    text.push(...stepTexts(context, step, about));
  }
  return { rows, text: text.slice(1), isPainted: true, ...closing(blamed) };
}

function stepTexts(context: CliContext, step: FileHistoryStep, about: EditContext): string[] {
  const { gap, isSeen, isDeleted, isPlaced, from, written, removed } = step;
  const [, head = '', asked = ''] = eventTexts(context, step.event, about, written);
  const did = [
    ...(from === null ? [] : [`renamed from ${from}`]),
    ...(isDeleted ? ['deleted the file'] : [`wrote ${formatCount(written, 'line')}, removed ${removed}`]),
    ...(isPlaced ? [] : ['its contents are not on record']),
  ].join('; ');
  return [
    ...(gap === null
      ? []
      : [
          '',
          `    Changed without a record before this: ${formatCount(gap, 'line')} not known to be the same.`,
        ]),
    ...(isSeen
      ? []
      : [
          '',
          head,
          asked,
          `  ${neutraliseControlsInLine(isPlaced ? did : 'changed the file; its contents are not on record')}`,
        ]),
  ];
}

/** What a person should know of the answer. */
function closing({
  narratives,
  unreadable,
  isUnsure,
  lines,
  isReplayed,
}: BlamedFile): Pick<Answer, 'notesBefore' | 'notesAfter' | 'failure'> {
  const named = narratives.map(({ dispatchId }) => shortId(dispatchId)).join(', ');
  return {
    notesBefore:
      narratives.length === 0
        ? []
        : [
            `hansard: ${named} also changed the file, recorded as a narrative, without contents: those lines are ${notOnRecord}.`,
          ],
    notesAfter: [
      ...(lines.length === 0 || isReplayed
        ? []
        : ['hansard: the file was changed without a record after the last recorded content.']),
      ...(isUnsure
        ? [
            'hansard: the order of the sessions is not known: their times are missing or do not fit their contents.',
          ]
        : []),
    ],
    failure: incomplete(
      `${formatCount(unreadable.length, 'session')} can't be read; the others were searched.`,
      unreadable.map((error) => ({ error })),
    ),
  };
}
