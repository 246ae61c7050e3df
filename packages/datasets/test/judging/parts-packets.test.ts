import { describe, expect, it } from 'vitest';
import { checkPacket } from '../../src/checking.ts';
import { createJudgePacket, readCast, readPseudonyms } from '../../src/index.ts';
import { partMappings, partsGame } from '../game-streams/parts-game.ts';

const seeds = Array.from({ length: 60 }, (_, at) => at + 1);

async function packetOf(seed: number, pass: 'external' | 'internal') {
  const { events, shape, truth, isWhole } = partsGame(seed);
  const mapping = partMappings[shape];
  const cast = await readCast(events, mapping);
  const pseudonyms = await readPseudonyms(readEvents(), mapping, 'D1');
  const packet = createJudgePacket({ pass, mapping, dispatchId: 'D1', pseudonyms, cast });
  const written = [...events.flatMap((event) => packet.add(event)), ...packet.finish()];
  const lines = written.map(({ line }) => line);
  return { lines, manifest: packet.manifest(), mapping, truth, isWhole, events, readEvents };

  async function* readEvents() {
    yield* events;
  }
}

type Packet = Awaited<ReturnType<typeof packetOf>>;

async function problemsOf({ manifest, mapping, readEvents }: Packet, lines: Packet['lines']) {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const checked = await checkPacket({
    ...{ lines: text, manifest: JSON.stringify(manifest), dispatchId: 'D1' },
    ...{ mapping: mapping as Parameters<typeof checkPacket>[0]['mapping'], readEvents },
  });
  return checked.problems;
}

describe('the check of packets of games whose agents speak and think in one text', () => {
  it('finds no fault in packets of whole texts, and only names that the mapping lacks in others', async () => {
    for (const seed of seeds)
      for (const pass of ['external', 'internal'] as const) {
        const packet = await packetOf(seed, pass);
        const problems = await problemsOf(packet, packet.lines);
        const allowed = packet.isWhole ? [] : ['unnamed'];
        expect(
          problems.filter(({ kind }) => !allowed.includes(kind)),
          `seed ${seed} ${pass}`,
        ).toEqual([]);
      }
  });

  it('finds each planted thought and whisper that a line of an external packet says', async () => {
    let planted = 0;
    for (const seed of seeds) {
      const packet = await packetOf(seed, 'external');
      const at = packet.lines.findIndex(({ kind }) => kind === 'chat');
      if (at < 0) continue;
      for (const word of [...packet.truth.thought, ...packet.truth.whispered].slice(0, 4)) {
        const lines = packet.lines.map((line, other) =>
          other === at ? { ...line, text: `${line.text} ${word}` } : line,
        );
        const problems = await problemsOf(packet, lines);
        const kinds = problems.map(({ kind }) => kind);
        expect(kinds, `seed ${seed}: ${word}`).toContain('private_words');
        planted += 1;
      }
    }
    expect(planted).toBeGreaterThan(100);
  });

  it('finds the tags and objects of a game whose mapping has no parts', async () => {
    const packet = await packetOf(5, 'external');
    const { parts: _, ...mapping } = { ...packet.mapping, chat: { utterances: true } };
    const line = { n: 1, turn: '', speaker: 'P1', kind: 'chat' as const, ref: 'x' };
    const said = ['<thinking>I am the wolf</thinking>Hello', '{"thought":"I am the wolf","say":"Hello"}'];
    for (const text of said) {
      const problems = await problemsOf({ ...packet, mapping }, [{ ...line, text }]);
      expect(problems.map(({ kind }) => kind)).toContain('unnamed');
    }
    const plain = await problemsOf({ ...packet, mapping }, [{ ...line, text: 'I <3 you, 2 < 3 > 1' }]);
    expect(plain.map(({ kind }) => kind)).not.toContain('unnamed');
  });
});
