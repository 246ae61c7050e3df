import {
  createJudgePacket,
  createPseudonyms,
  judgePasses,
  type PacketManifest,
  playersOf,
  type WrittenLine,
} from '@hansard/datasets';
import type { DispatchEnvelope } from '@hansard/events';
import type { GameMapping } from '@hansard/formats';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { ExportSource, ExportTarget, TextSink } from './task-export.ts';

/** The result of packing a dispatch. */
export interface Packed {
  readonly manifests: readonly PacketManifest[];
  readonly leftOut: Readonly<Record<string, number>>;
}

/** Writes both packets of a dispatch with their manifests. @throws CliError if there is nothing to judge */
export async function writePackets(
  { readEvents }: ExportSource,
  dispatchId: string,
  mapping: GameMapping,
  target: ExportTarget,
): Promise<Packed> {
  const players = await playersOf(readEvents(dispatchId), mapping, dispatchId);
  const pseudonyms = createPseudonyms(players, dispatchId);
  const packets = judgePasses.map((pass) => ({
    pass,
    packet: createJudgePacket({ pass, mapping, dispatchId, pseudonyms }),
    sink: target.file(`${pass}.jsonl`),
  }));
  for await (const event of readEvents(dispatchId)) {
    for (const { packet, sink } of packets) await writeLines(sink, packet.add(event));
  }
  const manifests: PacketManifest[] = [];
  for (const { pass, packet, sink } of packets) {
    await writeLines(sink, packet.finish());
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
  return { manifests, leftOut: packets[0]?.packet.leftOut ?? {} };
}

async function writeLines(sink: TextSink, lines: readonly WrittenLine[]): Promise<void> {
  for (const { line } of lines) await sink.write(`${JSON.stringify(line)}\n`);
}

/** The answer about written packets, with notes. */
export function packedAnswer(
  { dispatchId, status }: DispatchEnvelope,
  { manifests, leftOut }: Packed,
  path: string | null,
): Answer {
  const counts = manifests.map(
    ({ pass, lines, players, redactions }) =>
      `${pass}: ${lines} lines, ${players.length} players, ${redactions} names replaced in texts`,
  );
  const [external, internal] = manifests;
  return {
    rows: [{ path, dispatchId, packets: manifests }],
    text: [`Packets of ${dispatchId}:`, ...counts],
    notesAfter: [
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
