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

/** What a path below a folder leads to, after links are resolved. */
export type OwnPath =
  | { readonly kind: 'own'; readonly stats: Stats }
  /** A link to a place outside of the folder. */
  | { readonly kind: 'outside'; readonly target: string; readonly stats: Stats }
  /** Nothing can be examined, as for a link in a circle. */
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'absent' };

/** Resolves the links of a path, and checks whether it leads out of a folder. The links of the folder itself do not count. */
export function resolveOwn(path: string, folder: string): OwnPath {
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

/** A file in the folder of a session beside the transcripts and their metadata. */
export interface BesideFile {
  readonly path: string;
  /** The path from the folder of the session's file. */
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Why it is not read. */
  readonly problem?: string;
  /** The sub-agent that it is the metadata of. Absent: it is the output of a tool. */
  readonly agentId?: string;
  /** Whether the balance of the sub-agent's file counts it. */
  readonly isCounted?: boolean;
}

/** The name of the metadata file of a sub-agent. */
const metadataName = /^agent-(.+)\.meta\.json$/;

/** What earlier readings have read of it: name, bytes and time of the last change, and the id of its event. */
export type KeptBeside = readonly [name: string, bytes: number, modifiedAt: number, id: string];

const mostFiles = 5_000;
const mostBytes = 16 * 1024 * 1024;
export const mostBytesOfMeta = 1_000_000;

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
    .slice(0, mostFiles)
    .map((file) => besideFile(file, { root, folder }));
}

/** No linked folder is entered. A link out of `root` that the search for transcripts names, to a folder or of a transcript, is left to it. */
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

function besideFile(
  path: string,
  { root, folder }: { readonly root: string; readonly folder: string },
): BesideFile {
  const name = relative(root, path).replaceAll(sep, '/');
  const found = resolveOwn(path, root);
  const isThere = found.kind === 'own';
  const stats = isThere ? found.stats : { size: 0, mtimeMs: 0 };
  const facts = { path, name, bytes: stats.size, modifiedAt: stats.mtimeMs };
  const problem = (text: string): BesideFile => ({ ...facts, problem: text });
  if (found.kind === 'outside') return problem(`is a link to ${found.target}, outside of ${root}`);
  if (!isThere) return problem('is a link that leads nowhere');
  if (!found.stats.isFile()) return { ...problem('is not a regular file'), bytes: 0 };
  // The metadata of a sub-agent can be there before its transcript.
  const [, agentId] = metadataName.exec(basename(path)) ?? [];
  if (
    agentId !== undefined &&
    path.startsWith(join(folder, 'subagents', sep)) &&
    stats.size <= mostBytesOfMeta
  )
    return { ...facts, agentId };
  if (dirname(path) !== join(folder, 'tool-results')) return problem('is of a kind that is not read');
  return stats.size > mostBytes ? problem(`has ${stats.size} bytes, more than ${mostBytes}`) : facts;
}

/** The files beside a session, while it is read. */
export class BesideFiles {
  readonly #files: readonly BesideFile[];
  readonly #kept: KeptBeside[];
  readonly #known: Set<string>;
  readonly #problems = new Map<BesideFile, string>();
  readonly #given = new Set<BesideFile>();

  constructor(files: readonly BesideFile[], kept: readonly KeptBeside[] = []) {
    this.#files = files;
    this.#kept = [...kept];
    this.#known = new Set(kept.map(([, , , id]) => id));
    for (const file of files) if (file.problem !== undefined) this.#problems.set(file, file.problem);
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
      const name = namedIn(event);
      const file =
        name === null
          ? undefined
          : this.#waiting.find(({ path, agentId }) => agentId === undefined && basename(path) === name);
      const output = file === undefined ? null : await this.#read(file, fidelity);
      if (output !== null) outputs.push(output);
    }
    return outputs;
  }

  /** Whether a result among the events names an output. */
  areNamedIn(events: readonly CapturedEvent[]): boolean {
    return (
      this.#files.some(({ agentId }) => agentId === undefined) &&
      events.some((event) => namedIn(event) !== null)
    );
  }

  /** The events of all other outputs. */
  async *others(fidelity: Fidelity): AsyncGenerator<CapturedEvent> {
    for (const file of this.#waiting) {
      const event = await this.#read(file, fidelity);
      if (event !== null) yield event;
    }
  }

  addTo(sheet: BalanceSheet): void {
    for (const file of this.#files) {
      if (file.isCounted === true) continue;
      const isLeftOut = this.#problems.has(file);
      sheet.take('files');
      sheet.take('bytes', file.bytes);
      if (isLeftOut) {
        sheet.leaveOut('files', 'not_read');
        sheet.leaveOut('bytes', 'not_read', file.bytes);
      } else {
        sheet.record('files');
        sheet.record('bytes', file.bytes);
      }
    }
  }

  get #waiting(): BesideFile[] {
    return this.#files.filter(
      (file) =>
        !this.#given.has(file) &&
        !this.#problems.has(file) &&
        !this.#kept.some((kept) => isAsKept(file, kept)),
    );
  }

  async #read(file: BesideFile, fidelity: Fidelity): Promise<CapturedEvent | null> {
    this.#given.add(file);
    try {
      await using source = await open(file.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      const bytes = await source.readFile();
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      const event =
        file.agentId === undefined ? outputEvent(basename(file.path), text) : metadataEvent(file, text);
      if (event === null) {
        this.#problems.set(file, 'does not hold a JSON object');
        return null;
      }
      this.#kept.push([file.name, file.bytes, file.modifiedAt, event.id]);
      if (this.#known.has(event.id)) return null;
      this.#known.add(event.id);
      return fidelity === 'full' ? event : toNarrative(event);
    } catch (error) {
      const isText = !(error instanceof TypeError);
      this.#problems.set(file, isText ? `cannot be read: ${messageOf(error)}` : 'is not text');
      return null;
    }
  }
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

/**
 * The event of the metadata that Claude Code keeps beside the transcript of a sub-agent, with all its keys. Other content is another event.
 * Null: the text does not hold a JSON object.
 */
function metadataEvent({ path, agentId = '' }: BesideFile, text: string): CapturedEvent | null {
  const metadata = parseObject(text);
  if (metadata === null) return null;
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

/** JSON with the keys in order: a store may return them in another one. */
function inOrder(value: JsonValue = null): string {
  if (Array.isArray(value)) return `[${value.map(inOrder).join()}]`;
  if (!isPlainObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value as JsonObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${inOrder(field)}`).join()}}`;
}

function isAsKept(file: BesideFile, [name, bytes, modifiedAt]: KeptBeside): boolean {
  return file.name === name && file.bytes === bytes && file.modifiedAt === modifiedAt;
}

function namedIn({ type, data }: CapturedEvent): string | null {
  if (type !== 'agent:tool_result') return null;
  const { outputFile } = (data.metadata ?? {}) as { readonly outputFile?: unknown };
  return typeof outputFile === 'string' ? outputFile : null;
}
