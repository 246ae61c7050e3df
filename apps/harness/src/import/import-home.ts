import { homedir, hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Harness } from '@hansard/compose';
import { formatBytes } from '@hansard/events/plain';
import { formatCount } from '@hansard/facts';
import type { ProductSurvey } from '@hansard/import';
import { printAnswer } from '../terminal/answer.ts';
import type { CommonOptions } from '../terminal/command.ts';
import { confirm } from '../terminal/confirm.ts';
import { type CliContext, note, terminalWidth } from '../terminal/context.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { nameFolder, unreadLine, unreadRow } from './import-answer.ts';

/** The home folder of the user, as the environment of a command names it. */
export function homeOf({ env }: CliContext): string {
  return env.HOME || env.USERPROFILE || homedir();
}

/** The name by which sessions of this machine are found. */
export function machineOf({ env }: CliContext): string {
  return env.HANSARD_MACHINE || hostname();
}

/** A path of a command, whose `~` no shell has replaced. */
export function toAbsolute(context: CliContext, path: string): string {
  return resolve(context.cwd, /^~(?:[\\/]|$)/.test(path) ? `${homeOf(context)}${path.slice(1)}` : path);
}

/**
 * Lists the sessions of all known products on this machine, and asks whether to import those that can be. Returns their folders; none if the answer
 * is no, or if nobody can answer.
 */
export async function chooseFolders(
  context: CliContext,
  harness: Harness,
  options: CommonOptions & { readonly yes?: boolean },
): Promise<string[]> {
  const { json = false, yes = false } = options;
  const found = await harness.surveyProducts(homeOf(context));
  const readable = found.filter(({ isReadable }) => isReadable);
  if (!json || !yes) await printSurvey(context, options, found);
  if (readable.length === 0) return [];
  const sessions = readable.reduce((sum, one) => sum + (one.sessions ?? 0), 0);
  const folders = readable.map(({ folder }) => folder);
  if (yes) return folders;
  if (context.stdin.isTTY !== true || json) {
    note(context, `hansard: nothing was imported. Add --yes to import ${formatCount(sessions, 'session')}.`);
    return [];
  }
  const titles = [...new Set(readable.map(({ product }) => product.title))].join(', ');
  const isWanted = await confirm(context, `Import ${formatCount(sessions, 'session')} of ${titles}?`, {});
  return isWanted ? folders : [];
}

async function printSurvey(
  context: CliContext,
  options: CommonOptions & { readonly yes?: boolean },
  found: readonly ProductSurvey[],
): Promise<void> {
  const home = homeOf(context);
  const rows = found.map(({ product, folder, sessions, bytes, first, last, isReadable }) => [
    product.title,
    sessions === null ? '–' : `${sessions}`,
    formatBytes(bytes),
    first === null || last === null ? '–' : `${first.slice(0, 10)} to ${last.slice(0, 10)}`,
    isReadable ? 'yes' : sessions === 0 ? 'empty' : 'not yet',
    nameFolder(folder, home),
  ]);
  const head = ['product', 'sessions', 'size', 'days (UTC)', 'import', 'folder'];
  const fit = { width: terminalWidth(context), cut: [{ column: 'folder', least: 10, keep: 'end' as const }] };
  await printAnswer(context, options, {
    rows: found.map(({ product, notRead, ...facts }) => ({
      ...product,
      ...facts,
      notRead: notRead.map(unreadRow),
    })),
    text:
      found.length === 0
        ? `No known product has a folder with sessions in ${home}. Name the folder or the file to import.`
        : await plainTable(head, rows, fit),
    notesAfter: found.flatMap(({ problems, notRead }) => [
      ...problems.map((problem) => `hansard: ${problem}`),
      // An import reports these files itself.
      ...(options.yes === true ? [] : notRead.map((files) => `hansard: ${unreadLine(files, home)}`)),
    ]),
  });
}
