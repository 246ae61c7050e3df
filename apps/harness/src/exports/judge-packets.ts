import {
  createJudgePacket,
  type GameMapping,
  type JudgePass,
  judgePasses,
  type NameSuspect,
  type PacketManifest,
  readCast,
  readPseudonyms,
  type WrittenLine,
} from '@hansard/datasets';
import type { DispatchEnvelope, RedactionCounts } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { redactionNotes } from './redaction-notes.ts';
import type { ExportSource, ExportTarget, TextSink } from './task-export.ts';
import { unmatchedPlayersNote } from './unmatched-players-note.ts';

/** The result of packing a dispatch. */
export interface Packed {
  readonly manifests: readonly PacketManifest[];
  readonly leftOut: Readonly<Record<string, number>>;
  /** The players in lists of the game that match no agent. */
  readonly unmatchedPlayers: readonly string[];
  /** The secrets that were replaced in texts, by their kind. */
  readonly secrets: RedactionCounts;
  /** What still looks like a name in the packets. The places are lines of the internal packet. */
  readonly suspects: readonly NameSuspect[];
}

/** Writes both packets of a dispatch with their manifests. @throws CliError if there is nothing to judge, or if `isStrict` and a word still looks like a name */
export async function writePackets(
  { readEvents }: ExportSource,
  dispatchId: string,
  mapping: GameMapping,
  target: ExportTarget,
  { isStrict }: { readonly isStrict: boolean },
): Promise<Omit<Packed, 'secrets'>> {
  const cast = await readCast(readEvents(dispatchId), mapping);
  const pseudonyms = await readPseudonyms(readEvents(dispatchId), mapping, dispatchId);
  const suspects = pseudonyms.suspects();
  const packets = judgePasses.map((pass) => ({
    pass,
    packet: createJudgePacket({ pass, mapping, dispatchId, pseudonyms, cast }),
    sink: target.file(`${pass}.jsonl`),
  }));
  for await (const event of readEvents(dispatchId)) {
    for (const { pass, packet, sink } of packets) await write(pass, sink, packet.add(event));
  }
  const manifests: PacketManifest[] = [];
  for (const { pass, packet, sink } of packets) {
    await write(pass, sink, packet.finish());
    const manifest = packet.manifest();
    manifests.push(manifest);
    await target.file(`${pass}.manifest.json`).write(`${JSON.stringify(manifest, null, 2)}\n`);
  }
  if (manifests.every(({ lines }) => lines === 0)) {
    throw new CliError(
      exitCode.failed,
      `There is nothing to judge in ${dispatchId}: the mapping finds no speech, action or reasoning in it.`,
      'Nothing was written. Check the mapping, and that the dispatch was recorded with --fidelity full.',
    );
  }
  const list = suspects.list();
  if (isStrict && list.length > 0) {
    throw new CliError(
      exitCode.failed,
      `${list.length} words of ${dispatchId} still look like names of players:\n${list.map(suspectLine).join('\n')}`,
      'Nothing was written. Add the names to `names` in the mapping, or leave out --strict.',
    );
  }
  const [first] = packets;
  return {
    manifests,
    leftOut: first?.packet.leftOut ?? {},
    unmatchedPlayers: first?.packet.unmatchedPlayers ?? [],
    suspects: list,
  };

  /** The internal packet has every text of the external one. */
  async function write(pass: JudgePass, sink: TextSink, lines: readonly WrittenLine[]): Promise<void> {
    for (const { line } of lines) {
      await sink.write(`${JSON.stringify(line)}\n`);
      if (pass === 'internal')
        for (const text of [line.turn, line.text]) suspects.add(text, `line ${line.n}`);
    }
  }
}

const reasons: Readonly<Record<NameSuspect['reason'], string>> = {
  near: 'is spelled almost like',
  contains: 'begins or ends with',
  short: 'is the beginning of',
  unclear: 'is a common word, and',
  initials: 'has the initials of',
};

function suspectLine({ word, reason, names, count, places }: NameSuspect): string {
  const more = places.length < count ? ' …' : '';
  return neutraliseControlsInLine(
    `  ${word} (${count} times: ${places.join(', ')}${more}) ${reasons[reason]} ${names.join(', ')}`,
  );
}

const shownSuspects = 10;

/** The first words that still look like names, for the notes after a packet. */
function suspectNotes(suspects: readonly NameSuspect[]): string[] {
  if (suspects.length === 0) return [];
  const more = suspects.length - shownSuspects;
  return [
    `hansard: ${suspects.length} words of the internal packet still look like names of players. Read them, and add names to \`names\` in the mapping:`,
    ...suspects.slice(0, shownSuspects).map(suspectLine),
    ...(more > 0 ? [`  and ${more} more; --json lists all`] : []),
  ];
}

/** The answer about written packets, with notes. */
export function packedAnswer(
  { dispatchId, status }: DispatchEnvelope,
  { manifests, leftOut, unmatchedPlayers, suspects, secrets }: Packed,
  path: string | null,
): Answer {
  const counts = manifests.map(
    ({ pass, lines, players, redactions }) =>
      `${pass}: ${lines} lines, ${players.length} players, ${redactions} names replaced in texts`,
  );
  const [external, internal] = manifests;
  return {
    rows: [{ path, dispatchId, packets: manifests, suspects, unmatchedPlayers, secrets }],
    text: [`Packets of ${dispatchId}:`, ...counts],
    notesAfter: [
      ...suspectNotes(suspects),
      ...unmatchedPlayersNote(dispatchId, unmatchedPlayers).map((line) => `hansard: ${line}`),
      ...redactionNotes(secrets).map((line) => `hansard: ${line}`),
      ...Object.entries(leftOut).map(
        ([tool, count]) => `hansard: ${count} calls of ${tool} omitted: the log does not have their input.`,
      ),
      ...(status === 'running'
        ? [
            'hansard: the dispatch is still running: verdicts on these packets are refused after its log has grown. Pack again when it has ended.',
          ]
        : []),
      ...(external?.lines === internal?.lines
        ? ['hansard: the log has no reasoning: both packets have the same lines.']
        : []),
    ],
  };
}
