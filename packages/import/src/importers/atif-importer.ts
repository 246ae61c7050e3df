import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { dispatchIdOf, resolveOwn } from '@hansard/claude';
import { formatErrors, longestContent, toNarrative } from '@hansard/events';
import { type AtifHead, type AtifSource, detectAtif, readAtif, readAtifHead } from '@hansard/formats';
import type { LogImporterProvider, OpenLog } from '@hansard/provider';
import { chunksOf, readHead } from '../find/read-source.ts';
import { importErrors } from '../import-errors.ts';
import { toName } from './task-names.ts';

/** Trajectories of ATIF: one JSON document each, which is written again as a whole during a run. */
export const atifImporter: LogImporterProvider = {
  contract: 1,
  id: 'atif',
  title: 'a trajectory of ATIF',
  endings: ['.json'],
  detect: ({ text }) => detectAtif(text),
  open({ files: [file = ''] }) {
    const opened: OpenLog[] = [];
    openWithOthers(file, { opened, files: new Set([file]) });
    return opened;
  },
};

interface Opening {
  readonly opened: OpenLog[];
  readonly files: Set<string>;
}

const mostFiles = 1_000;

/** Opens a trajectory, and those that it names: its sub-agents, and the one that continues it. */
function openWithOthers(file: string, { opened, files }: Opening, parent?: OpenLog): void {
  const source = chunksOf(file);
  const head = readAtifHead(source);
  const log = openTrajectory(file, source, head, parent);
  opened.push(log);
  const { subAgents, continuation } = head;
  for (const path of continuation === null ? subAgents : [...subAgents, continuation]) {
    const other = besideDocument(file, path);
    if (other === null || files.has(other) || files.size > mostFiles || !isTrajectory(other)) continue;
    files.add(other);
    openWithOthers(other, { opened, files }, log);
  }
}

function isTrajectory(file: string): boolean {
  try {
    return detectAtif(readHead(file, 64 * 1024).text) && readAtifHead(chunksOf(file)).firstStep === 'known';
  } catch (error) {
    if (formatErrors.is(error)) return false;
    throw error;
  }
}

/** A file below the folder of a document. Null if the path leads out of it, or not to a regular file. */
function besideDocument(file: string, path: string): string | null {
  if (isAbsolute(path) || path.includes('://')) return null;
  const wanted = join(dirname(file), path);
  const found = resolveOwn(wanted, dirname(file));
  return found.kind === 'own' && found.stats.isFile() ? wanted : null;
}

function mediaBeside(file: string): (path: string) => Uint8Array | null {
  return (path) => {
    const found = besideDocument(file, path);
    try {
      return found === null || statSync(found).size > longestContent ? null : readFileSync(found);
    } catch {
      // A part whose bytes cannot be read names them.
      return null;
    }
  };
}

function openTrajectory(file: string, source: AtifSource, head: AtifHead, parent?: OpenLog): OpenLog {
  if (head.firstStep === null) refuse(file);
  const { schemaVersion, name, isNamed, startedAt } = head;
  if (head.firstStep === 'unknown' && schemaVersion?.startsWith('ATIF-') !== true)
    throw importErrors.error(
      'IMPORT_FOREIGN',
      `${file} is not a trajectory of ATIF: its steps have no step_id, source and message.`,
      {
        details: { file, as: 'atif' },
      },
    );
  const place = isNamed ? [] : [basename(dirname(file)), basename(file)];
  const dispatchId = dispatchIdOf(['atif', name, ...place].join('\n'), 0);
  const reading = readAtif(source, { head, media: mediaBeside(file) });
  return {
    format: 'atif',
    files: [file],
    dispatchId,
    ...(parent === undefined ? {} : { parentDispatchId: parent.dispatchId }),
    startedAt,
    taskDir: parent?.taskDir ?? taskOf(head, dispatchId),
    isMutable: true,
    ...(isNamed ? {} : { identifiedByPlace: file }),
    async *read({ fidelity = 'full', signal, onProgress } = {}) {
      for (const batch of reading.read()) {
        if (signal?.aborted) return;
        yield fidelity === 'full' ? batch : batch.map((event) => toNarrative(event));
        onProgress?.(reading.summary().bytes);
      }
    },
    summary() {
      const { bytes: _, isAnswered, ...summary } = reading.summary();
      return {
        ...summary,
        status: 'running',
        statusIfQuiet: isAnswered ? 'completed' : 'crashed',
        lastRecordAt: summary.completedAt,
      };
    },
  };
}

function refuse(file: string): never {
  const { size } = statSync(file);
  const [code, problem] =
    size === 0
      ? (['FORMAT_EMPTY', 'is empty'] as const)
      : (['FORMAT_NO_RECORDS', 'has no step that is whole'] as const);
  throw formatErrors.error(code, `${file} ${problem}.`, { details: { file } });
}

/** The task of a run. A continuation and the summaries of terminus-2 name the run that they belong to. */
function taskOf({ sessionId, parentSessionId }: AtifHead, dispatchId: string): string {
  const run = (parentSessionId ?? sessionId ?? dispatchId).replace(
    /-(?:cont-\d+|summarization-\d+-[a-z]+)$/,
    '',
  );
  return `atif/tasks/${toName(run) ?? dispatchId}`;
}
