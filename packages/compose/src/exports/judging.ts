import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { newVerdicts, type WrittenPackets, writeJudgePackets } from '@hansard/datasets';
import { checkPacket, type PacketMapping, type PacketProblem } from '@hansard/datasets/checking';
import type { DispatchEnvelope, RedactionCounts, TaskSource } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { type ExportParts, type ExportReading, openSessionSource } from './export-source.ts';
import { openExportTarget } from './export-target.ts';
import { mappingOf, readVerdictFile } from './named-files.ts';

export interface JudgingOptions extends ExportReading {
  /**
   * A YAML or JSON file that maps the events and tools of the game, relative to the folder of the harness. An imported game log
   * needs none.
   */
  readonly mapping?: string;
}

export interface PackOptions extends JudgingOptions {
  /** A new folder. */
  readonly out: string;
  /** Looks at the packets before the folder gets its name; what it throws leaves nothing. */
  readonly accept?: (packets: WrittenPackets & CheckedPackets) => void;
}

/** What the check of the written packets found, which shares no code with their writer. */
export interface CheckedPackets {
  /** The faults, each once although both packets have it. */
  readonly problems: readonly PacketProblem[];
}

/** The packets of a session, as they were written. */
export interface PackedSession extends WrittenPackets, CheckedPackets {
  readonly envelope: DispatchEnvelope;
  readonly path: string | null;
  /** What a person should know of the log. */
  readonly notes: readonly string[];
  /** The secrets that were replaced in texts, by their kind. */
  readonly redactions: RedactionCounts;
}

export async function packInHarness(
  harness: ExportParts,
  session: string,
  { mapping: file, out, accept, ...reading }: PackOptions,
): Promise<PackedSession> {
  const { cwd } = harness.context;
  const { log, source } = await openSessionSource(harness, session, reading);
  const { envelope } = log;
  const mapping = mappingOf(cwd, envelope, file);
  const target = openExportTarget(cwd, out, { id: 'judge pack', target: 'folder' });
  try {
    const packets = await writeJudgePackets(source, envelope.dispatchId, target.file, mapping);
    let problems: readonly PacketProblem[] = [];
    await target.close(async (part) => {
      problems = await problemsIn(part, source, packets, mapping as PacketMapping);
      accept?.({ ...packets, problems });
    });
    const notes = unmatchedPlayersNote(packets.dispatchId, packets.unmatchedPlayers);
    return { ...packets, problems, notes, envelope, path: target.path, redactions: source.redactions() };
  } finally {
    await target.discard();
  }
}

/** Checks packets as they lie in a folder. */
async function problemsIn(
  folder: string,
  { readEvents, copiedEvents }: TaskSource,
  { dispatchId, manifests }: WrittenPackets,
  mapping: PacketMapping,
): Promise<readonly PacketProblem[]> {
  const copied = (await copiedEvents?.(dispatchId)) ?? null;
  const found = new Map<string, PacketProblem>();
  for (const { pass } of manifests) {
    const [lines = '', manifest = ''] = [`${pass}.jsonl`, `${pass}.manifest.json`].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    );
    const packet = { lines, manifest, dispatchId, mapping, copied, readEvents: () => readEvents(dispatchId) };
    for (const problem of (await checkPacket(packet)).problems) {
      const key = `${problem.kind} ${problem.ref ?? problem.message}`;
      if (!found.has(key)) found.set(key, problem);
    }
  }
  return [...found.values()];
}

/** How many verdicts of a file were imported. */
export interface ImportedVerdicts {
  readonly dispatchId: string;
  readonly added: number;
  /** How many the log had already. */
  readonly existing: number;
}

export async function importVerdictsInHarness(
  harness: ExportParts,
  session: string,
  file: string,
  { mapping: named, ...reading }: JudgingOptions,
): Promise<ImportedVerdicts> {
  const { cwd } = harness.context;
  const { log, source } = await openSessionSource(harness, session, reading);
  const { dispatchId } = log;
  const mapping = mappingOf(cwd, log.envelope, named);
  const text = readVerdictFile(cwd, file);
  const { events, existing } = await newVerdicts(source, dispatchId, { text, file: basename(file), mapping });
  await using dispatch = await harness.store.openDispatch(log, { write: true });
  await dispatch.append(events);
  return { dispatchId, added: events.length, existing };
}

const shownPlayers = 10;

/** A note about players that events of a game name, but that match no agent of its log. */
export function unmatchedPlayersNote(dispatchId: string, players: readonly string[]): string[] {
  if (players.length === 0) return [];
  const names = players.slice(0, shownPlayers).map(neutraliseControlsInLine);
  const more = players.length > shownPlayers ? `, and ${players.length - shownPlayers} more` : '';
  return [
    `Players of the game in ${dispatchId} that match no agent: ${names.join(', ')}${more}. Therefore only texts that all agents received are public. In \`names\` of the mapping, add these names to the \`aliases\` of their agents.`,
  ];
}
