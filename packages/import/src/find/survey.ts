import {
  closeSync,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { formatErrors, messageOf, toTimestamp } from '@hansard/events';
import type { LogImporterProvider } from '@hansard/provider';
import { logImporters } from '../importers/log-importers.ts';
import { type Product, type ProductFolders, products } from '../importers/products.ts';
import { documentsOf, findLogs } from './find-logs.ts';
import { readHead } from './read-source.ts';
import { findUnreadFiles, type UnreadFiles } from './unread-files.ts';

/** What one folder of a product has. */
export interface ProductSurvey {
  readonly product: Pick<Product, 'id' | 'title' | 'core'>;
  readonly folder: string;
  /** As an import finds them, or the files of a product that cannot be imported. Null: a database holds them. */
  readonly sessions: number | null;
  readonly bytes: number;
  /** The first and the last time at the ends of the files. Null: none has one. */
  readonly first: string | null;
  readonly last: string | null;
  /** Whether an importer detects the newest of the files. */
  readonly isReadable: boolean;
  /** What could not be read, in words. */
  readonly problems: readonly string[];
  /** What the product keeps beside the sessions, which an import does not read. */
  readonly notRead: readonly UnreadFiles[];
}

export interface SurveyOptions {
  /** Absent: that of the user. */
  readonly home?: string;
  /** Absent: that of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Absent: `logImporters`. */
  readonly importers?: readonly LogImporterProvider[];
}

/** The folders of all known products that exist on this machine. No other folder is read. */
export function surveyProducts({
  home = homedir(),
  environment = process.env,
  importers = logImporters,
}: SurveyOptions = {}): ProductSurvey[] {
  return productFolders(home, environment).map(({ product, folder }) => survey(product, folder, importers));
}

/** The folders of all known products below a home folder, each once. */
export function productFolders(
  home: string,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly product: Product; readonly folder: string }[] {
  const known = new Set<string>();
  return products.flatMap((product) =>
    product.whereItLies
      .flatMap((place) => foldersOf(place, home, environment))
      .filter((folder) => isNewFolder(folder, known))
      .map((folder) => ({ product, folder })),
  );
}

function foldersOf(
  { variable, home: own, below }: ProductFolders,
  home: string,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const named = variable === undefined ? undefined : environment[variable];
  const roots = named === undefined || named === '' ? [join(home, own)] : named.split(',');
  return roots.flatMap((root) => below.map((name) => resolve(root.trim(), name)));
}

/** Whether a folder exists, and was not surveyed under another name. */
function isNewFolder(folder: string, known: Set<string>): boolean {
  try {
    const real = realpathSync(folder);
    if (known.has(real) || !statSync(real).isDirectory()) return false;
    known.add(real);
    return true;
  } catch {
    return false;
  }
}

const newest = 5;

function survey(product: Product, folder: string, importers: readonly LogImporterProvider[]): ProductSurvey {
  const problems: string[] = [];
  const files = sessionFiles(folder, product.sessions, problems).sort((a, b) => b.modifiedAt - a.modifiedAt);
  const isReadable = files.slice(0, newest).some(({ path }) => isDetected(path, importers));
  const { id, title, core } = product;
  const facts = { product: { id, title, core }, folder, isReadable, problems };
  const times = files.flatMap(({ path }) => timesAtEnds(path)).sort();
  const span = { first: times[0] ?? null, last: times.at(-1) ?? null };
  if (isReadable) {
    const { logs, problems: ofLogs } = findLogs([folder], documentsOf(importers));
    problems.push(...ofLogs.map(({ error }) => error.message));
    const bytes = logs.reduce((sum, log) => sum + log.bytes, 0);
    // A database has an unknown number of sessions.
    const sessions = logs.some(({ files: [file = ''] }) => file.endsWith('.db')) ? null : logs.length;
    return { ...facts, sessions, bytes, ...span, notRead: findUnreadFiles([folder], logs) };
  }
  const isDatabase = files.some(({ path }) => path.endsWith('.db'));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { ...facts, sessions: isDatabase ? null : files.length, bytes, ...span, notRead: [] };
}

interface SessionFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** Regular files below a folder. Links are not followed. */
function sessionFiles(folder: string, sessions: RegExp, problems: string[]): SessionFile[] {
  return entriesOf(folder, problems).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sessionFiles(path, sessions, problems);
    if (!entry.isFile() || !sessions.test(path.split(sep).join('/'))) return [];
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path, bytes: stats.size, modifiedAt: stats.mtimeMs }];
  });
}

function entriesOf(folder: string, problems: string[]): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    problems.push(`${folder} can't be read: ${messageOf(error)}`);
    return [];
  }
}

function isDetected(path: string, importers: readonly LogImporterProvider[]): boolean {
  try {
    const head = readHead(path);
    return importers.some((importer) => importer.detect(head));
  } catch (error) {
    if (formatErrors.is(error)) return false;
    throw error;
  }
}

const bytesOfEnd = 16 * 1024;
const times =
  /"(?:timestamp|ts|time|created_at|createdAt|startTime|lastUpdated)"\s*:\s*"(\d{4}-\d\d-\d\dT[^"]{5,30})"/g;

/** The times that the first and the last records of a file have. A file that cannot be read has none here: its import says so. */
function timesAtEnds(path: string): string[] {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const { size } = fstatSync(descriptor);
    const ends = size <= 2 * bytesOfEnd ? [0] : [0, size - bytesOfEnd];
    const buffer = Buffer.alloc(2 * bytesOfEnd);
    return ends.flatMap((at) => {
      const length = readSync(
        descriptor as number,
        buffer,
        0,
        ends.length === 1 ? buffer.length : bytesOfEnd,
        at,
      );
      const found = [...buffer.toString('latin1', 0, length).matchAll(times)].map(([, time = '']) =>
        Date.parse(time),
      );
      return found.filter((time) => !Number.isNaN(time)).map(toTimestamp);
    });
  } catch {
    return [];
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
