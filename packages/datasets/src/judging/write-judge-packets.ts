import type { TaskSource, TextSink } from '@hansard/events';
import { readCast } from '../game-streams/cast.ts';
import type { GameMapping } from '../game-streams/game-mapping.ts';
import type { StreamedRun } from '../game-streams/write-game-streams.ts';
import { createJudgePacket, type WrittenLine } from './create-judge-packet.ts';
import { judgePasses } from './judge-pass.ts';
import type { NameSuspect } from './names/name-suspects.ts';
import type { PacketManifest } from './packet-line.ts';
import { readPseudonyms } from './pseudonyms.ts';

export interface WrittenPackets extends Omit<StreamedRun, 'untimedLines'> {
  /** Of the external and the internal packet. */
  readonly manifests: readonly PacketManifest[];
  /** What still looks like a name in the packets. The places are lines of the internal packet. */
  readonly suspects: readonly NameSuspect[];
}

/**
 * Both packets of a dispatch, each as a file `PASS.jsonl` with its `PASS.manifest.json`. `open` creates a file.
 * @throws FORMAT_MAPPING_INVALID, FORMAT_NAME_TOO_LONG
 */
export async function writeJudgePackets(
  { readEvents }: Pick<TaskSource, 'readEvents'>,
  dispatchId: string,
  open: (name: string) => TextSink,
  mapping: GameMapping,
): Promise<WrittenPackets> {
  const cast = await readCast(readEvents(dispatchId), mapping);
  const pseudonyms = await readPseudonyms(readEvents(dispatchId), mapping, dispatchId);
  const suspects = pseudonyms.suspects();
  const packets = judgePasses.map((pass) => {
    const packet = createJudgePacket({ pass, mapping, dispatchId, pseudonyms, cast });
    const sink = open(`${pass}.jsonl`);
    const write = async (lines: readonly WrittenLine[]) => {
      for (const { line } of lines) {
        await sink.write(`${JSON.stringify(line)}\n`);
        // The internal packet has every text of the external one.
        if (pass === 'internal')
          for (const text of [line.turn, line.text]) suspects.add(text, `line ${line.n}`);
      }
    };
    return { pass, packet, write };
  });
  for await (const event of readEvents(dispatchId))
    for (const { packet, write } of packets) await write(packet.add(event));
  const manifests: PacketManifest[] = [];
  for (const { pass, packet, write } of packets) {
    await write(packet.finish());
    const manifest = packet.manifest();
    manifests.push(manifest);
    await open(`${pass}.manifest.json`).write(`${JSON.stringify(manifest, null, 2)}\n`);
  }
  const [first] = packets;
  const { leftOut = {}, unmatchedPlayers = [] } = first?.packet ?? {};
  return { dispatchId, manifests, leftOut, unmatchedPlayers, suspects: suspects.list() };
}
