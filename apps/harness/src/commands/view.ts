import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { onlySession, resolveScope } from '@hansard/compose';
import { eventNamed, pagedLog } from '@hansard/compose/reading';
import { type DispatchStore, NoteWriter } from '@hansard/dispatch';
import { createViewer, type RunningViewer, readTokenFile } from '@hansard/viewer';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, note, printJson, printLine } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { withStore } from '../terminal/with-store.ts';
import { readerHelp, readerName } from './note.ts';

interface ViewOptions extends CommonOptions {
  readonly port?: number;
  readonly open?: boolean;
  readonly host?: string;
  readonly tokenFile?: string;
  readonly readOnly?: boolean;
  readonly as?: string;
}

/** Milliseconds. A page says that the store does not answer, and asks again itself. */
const retryMs = 2_000;

export const addView: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option(
      '--port <n>',
      'listen at this port of 127.0.0.1 (default: any free one)',
      parseCount({ example: 4700 }),
    )
    .option('--open', 'open the page in your browser')
    .option(
      '--host <address>',
      'listen at this address of the machine, or at 0.0.0.0 for all of them (default: 127.0.0.1, for this machine only)',
    )
    .option(
      '--token-file <file>',
      'the token of the page, in a file that only you can read; made if it is missing (default: a new token)',
    )
    .option('--read-only', 'show the marks of people, and take none')
    .option('--as <name>', readerHelp)
    .addHelpText(
      'after',
      '\nThe page changes no session. Notes, tags, bookmarks and ratings that you make on it\nare recorded beside the sessions, except with --read-only. Anyone with the printed\naddress can read everything in the store and make marks; it is valid until the command\nends. With --token-file the address is printed without its token, and stays valid.\n\nAnother --host than 127.0.0.1 needs a token file, because there is no TLS: who\ncan read the traffic between can read the log. This shows the page of another\nmachine without both:\n  ssh -L 4700:127.0.0.1:4700 MACHINE hansard view --port 4700\n\nExamples:\n  hansard view\n  hansard view research/route-models\n  hansard view latest 31 --port 4700\n  hansard view --open\n  hansard view --host 0.0.0.0 --port 4700 --token-file ~/.hansard-token',
    )
    .action((word: string | undefined, event: string | undefined, options: ViewOptions) =>
      withStore(context, { ...options, retryMs }, async ({ store }) => {
        const place = await placeOf(context, store, word, event);
        const running = await start(context, store, options);
        try {
          const { origin } = new URL(running.url);
          const address = options.tokenFile === undefined ? `${running.url}${place}` : `${origin}/${place}`;
          if (options.json === true) printJson(context, { address });
          else printLine(context, address);
          if (options.open === true) openAddress(context, `${running.openOnce()}${place}`);
          for (const line of notesOf(options, origin)) note(context, line);
          await aborted(context.readSignal);
        } finally {
          await running.close();
        }
      }),
    );
};

/** The part of the address that says what the page shows. */
async function placeOf(
  context: CliContext,
  store: DispatchStore,
  word: string | undefined,
  event: string | undefined,
): Promise<string> {
  if (word === undefined) return '';
  const scope = await resolveScope(store, word);
  const task = encodeURIComponent(scope.taskDir);
  if (scope.dispatchId === null && event === undefined) return `#/t/${task}`;
  const reference = onlySession(scope, word);
  const place = `#/d/${task}/${encodeURIComponent(reference.dispatchId)}`;
  if (event === undefined) return place;
  const log = await store.openDispatch(reference);
  const { position } = await eventNamed(pagedLog(log, context.readSignal), event, context);
  return `${place}?at=${position}&open=${position}`;
}

function start(
  context: CliContext,
  store: DispatchStore,
  { port = 0, host, tokenFile, readOnly = false, as }: ViewOptions,
): Promise<RunningViewer> {
  const token = tokenFile === undefined ? {} : tokenIn(context, resolve(context.cwd, tokenFile));
  const notes = readOnly ? undefined : new NoteWriter(store, readerName(context, as));
  return createViewer({ store, notes, ...token }).start({ port, ...(host === undefined ? {} : { host }) });
}

function tokenIn(context: CliContext, path: string): { readonly token: string } {
  const { token, isNew } = readTokenFile(path);
  if (isNew) note(context, `Made a token in ${path}.`);
  return { token };
}

function notesOf({ host, tokenFile }: ViewOptions, origin: string): string[] {
  const where = host === undefined ? 'in a browser of this machine' : 'in a browser';
  if (tokenFile === undefined) return [`Open this address ${where}. Ctrl-C ends the viewer.`];
  return [
    `Open ${origin}/?t=TOKEN ${where} first, with the token in ${tokenFile}. Ctrl-C ends the viewer.`,
    ...(host === undefined
      ? []
      : ['There is no TLS: who can read the traffic between can read the token and the log.']),
  ];
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** The programs that open an address as their user has chosen, by the platform. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Opens an address with the platform's opener, and does not wait for it. Where there is none, or it fails, a note with a code says so:
 * `VIEW_NO_OPENER`, `VIEW_OPENER_FAILED`. The address is in the arguments of programs, which every user of the machine can read.
 */
function openAddress(context: CliContext, address: string, platform = process.platform): void {
  const [program, ...args] = openers[platform] ?? ['xdg-open'];
  const fail = (code: string, reason: string) =>
    note(context, `${code}: ${reason} Open the printed address yourself.`);
  const child = spawn(program, [...args, address], { env: context.env, stdio: 'ignore', detached: true });
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') fail('VIEW_NO_OPENER', `There is no ${program} here.`);
    else fail('VIEW_OPENER_FAILED', `${program} could not be started: ${error.message}.`);
  });
  child.on('exit', (status) => {
    if (status !== 0) fail('VIEW_OPENER_FAILED', `${program} failed (${status ?? 'ended by a signal'}).`);
  });
  child.unref();
}
