import type { CapturedEvent } from '@hansard/events';
import { createJudgePacket, type JudgePacketOptions, type WrittenLine } from './create-judge-packet.ts';
import type { JudgePass } from './judge-pass.ts';
import type { PacketIndex } from './read-verdicts.ts';

/** The events that verdicts on the packets of a dispatch may cite, from one reading. Keeps ids only, not the texts. */
export async function indexPackets(
  events: AsyncIterable<CapturedEvent>,
  options: Omit<JudgePacketOptions, 'pass'>,
): Promise<Readonly<Record<JudgePass, PacketIndex>>> {
  const indexers = {
    external: createIndexer({ ...options, pass: 'external' }),
    internal: createIndexer({ ...options, pass: 'internal' }),
  };
  for await (const event of events) {
    indexers.external.add(event);
    indexers.internal.add(event);
  }
  return { external: indexers.external.finish(), internal: indexers.internal.finish() };
}

function createIndexer(options: JudgePacketOptions) {
  const packet = createJudgePacket(options);
  const cited = new Map<number | string, string>();
  const cite = (lines: readonly WrittenLine[]) => {
    for (const { line, eventId } of lines) cited.set(line.n, eventId).set(line.ref, eventId);
  };
  return {
    add: (event: CapturedEvent) => cite(packet.add(event)),
    finish(): PacketIndex {
      cite(packet.finish());
      return { manifest: packet.manifest(), cited };
    },
  };
}
