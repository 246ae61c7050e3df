import { hash } from 'node:crypto';
import { constants, type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, sep } from 'node:path';
import {
  type BalanceSheet,
  type CapturedEvent,
  type Fidelity,
  isId,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  messageOf,
  toNarrative,
} from '@hansard/events';
import { isStorable } from '../lines/log-parts.ts';

/** Resolves the links of a path, and checks whether it leads out of a folder. The links of the folder itself do not count. */
export function resolveOwn(
  path: string,
  folder: string,
):
  | { readonly kind: 'own'; readonly stats: Stats }
  /** A link to a place outside of the folder. */
  | { readonly kind: 'outside'; readonly target: string; readonly stats: Stats }
  /** Nothing can be examined, as for a link in a circle. */
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'absent' } {
  try {
    const target = realpathSync(path);
    const stats = statSync(target);
    return isBelow(target, realpathSync(folder))
      ? { kind: 'own', stats }
      : { kind: 'outside', target, stats };
  } catch {
    return isThere(path) ? { kind: 'unreadable' } : { kind: 'absent' };
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way);
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A file beside the transcripts of a session. */
export interface BesideFile {
  readonly path: string;
  /** The path from the folder of the session's file. */
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Why it is not read. */
  readonly problem?: string;
  /** The sub-agent whose metadata it holds. Absent: it holds the output of a tool. */
  readonly agentId?: string;
  /** The metadata of a sub-agent with a transcript, which are read before the transcript. */
  readonly metadata?: JsonObject;
}

/** The name of the metadata file of a sub-agent. */
const metadataName = /^agent-(.+)\.meta\.json$/;

/** What earlier readings have read of it: name, bytes and time of the last change, and the id of its event. */
export type KeptBeside = readonly [name: string, bytes: number, modifiedAt: number, id: string];

const mostFiles = 5_000;
const mostBytes = 16 * 1024 * 1024;
const mostBytesOfMeta = 1_000_000;
const noObject = 'does not hold a JSON object';

/** The folder that Claude Code keeps for a session beside its file. */
function folderOf(path: string): string {
  return join(dirname(path), basename(path, extname(path)));
}

/** The other files in the folder of a session, by name. `known` are read elsewhere. */
export function findBeside(path: string, known: ReadonlySet<string>): BesideFile[] {
  const root = dirname(path);
  const folder = folderOf(path);
  return filesIn(folder, root)
    .filter((file) => !known.has(file))
    .sort()
    .flatMap((file) => besideFile(file, root) ?? [])
    .map((file, at) =>
      at < mostFiles ? ofKind(file, folder) : { ...file, problem: `is one of more than ${mostFiles} files` },
    );
}

/** Reads the metadata file beside the transcript of a sub-agent. Null: there is none. */
export async function readMetadata(path: string, root: string): Promise<BesideFile | null> {
  const found = besideFile(path, root);
  const file = found === null ? null : limited(found, mostBytesOfMeta);
  if (file === null || file.problem !== undefined) return file;
  try {
    const metadata = parseObject(await readText(path));
    return metadata === null ? { ...file, problem: noObject } : { ...file, metadata };
  } catch (error) {
    return { ...file, problem: problemOf(error) };
  }
}

/** No linked folder is entered. A link out of `root` to a folder or a transcript is named by the search for transcripts. */
function filesIn(folder: string, root: string): string[] {
  if (resolveOwn(folder, root).kind !== 'own') return [];
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path, root);
    if (!entry.isSymbolicLink()) return [path];
    const found = resolveOwn(path, root);
    const isNamed = found.kind === 'outside' && (found.stats.isDirectory() || extname(path) === '.jsonl');
    return isNamed ? [] : [path];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** A file as it is now, with a problem unless it is a regular file below `root`. Null: it is not there. */
function besideFile(path: string, root: string): BesideFile | null {
  const found = resolveOwn(path, root);
  if (found.kind === 'absent') return null;
  const isFile = found.kind === 'own' && found.stats.isFile();
  const { size, mtimeMs } = isFile ? found.stats : { size: 0, mtimeMs: 0 };
  const name = relative(root, path).replaceAll(sep, '/');
  const facts = { path, name, bytes: size, modifiedAt: mtimeMs };
  if (found.kind === 'outside')
    return { ...facts, problem: `is a link to ${found.target}, outside of ${root}` };
  if (found.kind === 'unreadable') return { ...facts, problem: 'is a link that leads nowhere' };
  return isFile ? facts : { ...facts, problem: 'is not a regular file' };
}

/** A file in the folder of a session: the output of a tool, metadata without a transcript, or a file that is not read. */
function ofKind(file: BesideFile, folder: string): BesideFile {
  if (file.problem !== undefined) return file;
  const { path } = file;
  // The metadata of a sub-agent can be there before its transcript.
  const [, agentId] = metadataName.exec(basename(path)) ?? [];
  if (agentId !== undefined && path.startsWith(join(folder, 'subagents', sep)))
    return limited({ ...file, agentId }, mostBytesOfMeta);
  if (dirname(path) !== join(folder, 'tool-results'))
    return { ...file, problem: 'is of a kind that is not read' };
  return limited(file, mostBytes);
}

function limited(file: BesideFile, most: number): BesideFile {
  const { bytes, problem } = file;
  return problem !== undefined || bytes <= most
    ? file
    : { ...file, problem: `has ${bytes} bytes, more than ${most}` };
}

/** The files beside a session, while it is read. */
export class BesideFiles {
  readonly #files: readonly BesideFile[];
  readonly #kept: KeptBeside[];
  readonly #known: Set<string>;
  readonly #problems = new Map<BesideFile, string>();
  /** The files that no reading has read as they are now. */
  readonly #waiting: Set<BesideFile>;
  /** By name: those of them that are outputs. */
  readonly #outputs: ReadonlyMap<string, BesideFile>;

  constructor(files: readonly BesideFile[], kept: readonly KeptBeside[] = []) {
    this.#files = files;
    this.#kept = [...kept];
    this.#known = new Set(kept.map(([, , , id]) => id));
    for (const file of files) if (file.problem !== undefined) this.#problems.set(file, file.problem);
    const read = new Set(kept.map(([name, bytes, modifiedAt]) => stateOf({ name, bytes, modifiedAt })));
    this.#waiting = new Set(files.filter((file) => file.problem === undefined && !read.has(stateOf(file))));
    const outputs = [...this.#waiting].filter(({ agentId }) => agentId === undefined);
    this.#outputs = new Map(outputs.map((file) => [basename(file.path), file]));
  }

  get kept(): KeptBeside[] {
    return this.#kept;
  }

  /** The files that are left out, and why. */
  get problems(): readonly (readonly [path: string, problem: string])[] {
    return [...this.#problems].map(([{ path }, problem]) => [path, problem]);
  }

  /** The events of the outputs that results name, and that no reading has given yet. */
  async outputsOf(events: readonly CapturedEvent[], fidelity: Fidelity): Promise<CapturedEvent[]> {
    const outputs: CapturedEvent[] = [];
    for (const event of events) {
      const file = this.#outputs.get(namedIn(event) ?? '');
      const output = file === undefined || !this.#waiting.has(file) ? null : await this.#read(file, fidelity);
      if (output !== null) outputs.push(output);
    }
    return outputs;
  }

  /** Whether a result among the events names an output. */
  areNamedIn(events: readonly CapturedEvent[]): boolean {
    return this.#outputs.size > 0 && events.some((event) => namedIn(event) !== null);
  }

  /** The events of all other files. */
  async *others(fidelity: Fidelity): AsyncGenerator<CapturedEvent> {
    for (const file of [...this.#waiting]) {
      const event = await this.#read(file, fidelity);
      if (event !== null) yield event;
    }
  }

  addTo(sheet: BalanceSheet): void {
    for (const file of this.#files) {
      sheet.take('files');
      sheet.take('bytes', file.bytes);
      if (this.#problems.has(file)) {
        sheet.leaveOut('files', 'not_read');
        sheet.leaveOut('bytes', 'not_read', file.bytes);
      } else {
        sheet.record('files');
        sheet.record('bytes', file.bytes);
      }
    }
  }

  async #read(file: BesideFile, fidelity: Fidelity): Promise<CapturedEvent | null> {
    this.#waiting.delete(file);
    try {
      const event = await eventOf(file);
      if (event === null) {
        this.#problems.set(file, noObject);
        return null;
      }
      this.#kept.push([file.name, file.bytes, file.modifiedAt, event.id]);
      if (this.#known.has(event.id)) return null;
      this.#known.add(event.id);
      return fidelity === 'full' ? event : toNarrative(event);
    } catch (error) {
      this.#problems.set(file, problemOf(error));
      return null;
    }
  }
}

/** The name, the size and the time of a file in one text. */
function stateOf({ name, bytes, modifiedAt }: Pick<BesideFile, 'name' | 'bytes' | 'modifiedAt'>): string {
  return JSON.stringify([name, bytes, modifiedAt]);
}

/** Null: the file should hold metadata, and holds something else. */
async function eventOf(file: BesideFile): Promise<CapturedEvent | null> {
  if (file.agentId === undefined) return outputEvent(basename(file.path), await readText(file.path));
  const metadata = file.metadata ?? parseObject(await readText(file.path));
  return metadata === null ? null : metadataEvent(file, metadata);
}

/** @throws TypeError if the file is not text; errors of the file system */
async function readText(path: string): Promise<string> {
  // A pipe that replaced the file would block the import.
  await using source = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await source.readFile());
}

function problemOf(error: unknown): string {
  return error instanceof TypeError ? 'is not text' : `cannot be read: ${messageOf(error)}`;
}

/**
 * The event of an output that a tool wrote to a file of its own. The file is named after its call, or by the result. Its time is not
 * recorded. A file with other content is another event.
 */
function outputEvent(file: string, output: string): CapturedEvent {
  const stem = basename(file, extname(file));
  const digest = hash('sha256', `${file}\n${output}`, 'hex').slice(0, 16);
  const id = [stem, 'output', digest].join(':');
  return {
    id: isId(id) ? id : `output:${digest}`,
    type: 'system:tool_output',
    timestamp: null,
    data: { toolUseID: stem, file, output },
  };
}

/** The event of the metadata that Claude Code keeps of a sub-agent, with all its keys. Other content is another event. */
function metadataEvent({ path, agentId = '' }: BesideFile, metadata: JsonObject): CapturedEvent {
  const file = basename(path);
  const { toolUseId } = metadata;
  const digest = hash('sha256', `${file}\n${inOrder(metadata)}`, 'hex').slice(0, 16);
  const id = `${agentId}:metadata:${digest}`;
  return {
    id: isId(id) ? id : `metadata:${digest}`,
    type: 'system:agent_metadata',
    timestamp: null,
    data: {
      agent: agentId,
      ...(typeof toolUseId === 'string' ? { toolUseID: toolUseId } : {}),
      file,
      metadata,
    },
  };
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isPlainObject(value) && isStorable(value as JsonObject, 2) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

/** JSON with the keys in order: a store may return them in another order. */
function inOrder(value: JsonValue = null): string {
  if (Array.isArray(value)) return `[${value.map(inOrder).join()}]`;
  if (!isPlainObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value as JsonObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${inOrder(field)}`).join()}}`;
}

function namedIn({ type, data }: CapturedEvent): string | null {
  if (type !== 'agent:tool_result') return null;
  const { outputFile } = (data.metadata ?? {}) as { readonly outputFile?: unknown };
  return typeof outputFile === 'string' ? outputFile : null;
}
