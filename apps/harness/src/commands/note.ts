import { userInfo } from 'node:os';
import { onlySession, resolveScope, toTaskName } from '@hansard/compose';
import { eventNamed, pagedLog } from '@hansard/compose/reading';
import { type DispatchStore, type NewNote, type Note, NoteWriter, readNotes } from '@hansard/dispatch';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { shortIds } from '@hansard/facts';
import { Option } from 'commander';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import {
  type AddCommand,
  type CommonOptions,
  eventHelp,
  withCommonOptions,
  withExamples,
} from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { ago } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';

export const readerHelp =
  'the name under which marks are made (default: HANSARD_READER, or your name on this machine)';

/** The name of the person at the terminal. */
export function readerName({ env }: Pick<CliContext, 'env'>, as: string | undefined): string {
  const name = (as ?? env.HANSARD_READER ?? '').trim();
  if (name !== '') return name;
  try {
    return userInfo().username;
  } catch {
    // A container can have a user without a name.
    return 'reader';
  }
}

interface NoteOptions extends CommonOptions {
  readonly event?: string;
  readonly tag?: readonly string[];
  readonly bookmark?: boolean;
  readonly rate?: number;
  readonly remove?: string;
  readonly search?: string;
  readonly as?: string;
}

export const addNote: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .option('--event <event>', `mark this event of the session: ${eventHelp}`)
      .option('--tag <tag...>', 'tag it')
      .option('--bookmark', 'bookmark it')
      .option('--rate <n>', 'rate it with 1 to 5', parseCount({ from: 1, example: 4 }))
      .option('--as <name>', readerHelp)
      .addOption(
        new Option('--remove <mark>', 'remove a mark of yours: its id, or the end of it').conflicts([
          'tag',
          'bookmark',
          'rate',
          'event',
        ]),
      )
      .option('--search <text>', 'list only marks that contain this text, ignoring case')
      .addHelpText(
        'after',
        [
          '',
          'Marks are kept beside the sessions, one log for each reader and project, and no session changes. They are in',
          'no list, sum, search or export of sessions. With --json each mark is one line with the task, the session',
          'and the event that it is on, to join it with exported rows.',
        ].join('\n'),
      ),
    'note latest "The parser is wrong here." --event 31',
    'note latest --tag parser --rate 4',
    'note research/route-models',
    'note --search parser --json',
  ).action((word: string | undefined, text: string | undefined, options: NoteOptions) =>
    answerFromStore(context, options, ({ store }) => noteAnswer(context, store, word, text, options)),
  );
};

async function noteAnswer(
  context: CliContext,
  store: DispatchStore,
  word: string | undefined,
  text: string | undefined,
  options: NoteOptions,
): Promise<Answer> {
  const writer = new NoteWriter(store, readerName(context, options.as));
  const scope = word === undefined ? null : await resolveScope(store, word);
  const wanted = newNotes(text, options);
  if (wanted.length > 0) {
    if (scope === null || word === undefined)
      throw new CliError(exitCode.usage, 'A mark is on a session.', 'Name the session before the text.');
    const ref = onlySession(scope, word);
    const event =
      options.event === undefined
        ? null
        : await eventNamed(
            pagedLog(await store.openDispatch(ref), context.readSignal),
            options.event,
            context,
          );
    const on = {
      taskDir: ref.taskDir,
      dispatchId: ref.dispatchId,
      ...(event === null ? {} : { event: { id: event.event.id, position: event.position } }),
    };
    const made: Note[] = [];
    for (const note of wanted) made.push(await writer.add({ ...note, on }));
    return { rows: made.map(rowOf), text: await table(context, made) };
  }
  if (options.event !== undefined)
    throw new CliError(
      exitCode.usage,
      '--event names what is marked.',
      'Add a text, --tag, --bookmark or --rate.',
    );
  const { notes, errors } = await readNotes(store, {
    ...(scope === null ? {} : { taskDir: scope.taskDir }),
    ...(scope === null || scope.dispatchId === null ? {} : { dispatchId: scope.dispatchId }),
  });
  if (options.remove !== undefined) return removed(writer, notes, options.remove);
  const words = (options.search ?? '').toLowerCase();
  const found = notes.filter((note) =>
    `${note.kind} ${note.text} ${note.reader}`.toLowerCase().includes(words),
  );
  return {
    rows: found.map(rowOf),
    text: found.length === 0 ? 'No marks.' : await table(context, found),
    failure: errors[0] ?? null,
  };
}

function newNotes(text: string | undefined, { tag = [], bookmark = false, rate }: NoteOptions) {
  return [
    ...(text === undefined ? [] : [{ kind: 'note', text } as const]),
    ...tag.map((name) => ({ kind: 'tag', text: name.replace(/^#/, '') }) as const),
    ...(bookmark ? [{ kind: 'bookmark' } as const] : []),
    ...(rate === undefined ? [] : [{ kind: 'rating', rating: rate } as const]),
  ] satisfies Omit<NewNote, 'on'>[];
}

async function removed(writer: NoteWriter, notes: readonly Note[], mark: string): Promise<Answer> {
  const own = notes.filter(({ id, reader }) => reader === writer.reader && id.endsWith(mark));
  const [note, other] = own;
  if (note === undefined)
    throw new CliError(
      exitCode.failed,
      `${writer.reader} has no mark ${mark}.`,
      '`hansard note` lists the marks.',
    );
  if (other !== undefined)
    throw new CliError(exitCode.failed, `Several marks end with ${mark}.`, 'Give more of the id.');
  await writer.remove(note);
  return { rows: [{ removed: note.id }], text: `Removed: ${inWords(note)}` };
}

function rowOf({ on, ...note }: Note): object {
  const { taskDir = null, dispatchId = null, event } = on ?? {};
  return { taskDir, dispatchId, eventId: event?.id ?? null, position: event?.position ?? null, ...note };
}

function inWords({ kind, text, rating }: Note): string {
  if (kind === 'tag') return `#${text}`;
  if (kind === 'rating') return `${rating}/5`;
  return kind === 'bookmark' ? '★' : text;
}

async function table(context: CliContext, notes: readonly Note[]): Promise<string> {
  const ids = shortIds(notes.map(({ id }) => id));
  const sessions = shortIds(notes.map(({ on }) => on?.dispatchId ?? ''));
  const rows = notes.map((note, at) => [
    neutraliseControlsInLine(inWords(note)),
    note.on === null ? 'filter' : `${toTaskName(note.on.taskDir)}/${sessions[at]}`,
    String(note.on?.event?.position ?? ''),
    neutraliseControlsInLine(note.reader),
    ago(context, note.at),
    ids[at] ?? '',
  ]);
  return plainTable(['mark', 'session', 'event', 'reader', 'when', 'id'], rows);
}
