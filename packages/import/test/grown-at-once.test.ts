import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder } from './logs.ts';
import { randomSession, type WrittenLine } from './random-session.ts';

const task = 'lab/tasks/growth';
const metadataType = 'system:agent_metadata';
/** `HANSARD_SEEDS` sets how many sessions are imported after every line. */
const blocks = 3;
const seedsOfBlock = Math.ceil(Number(process.env.HANSARD_SEEDS ?? 3) / blocks);

/** Writes the files after the first bytes of what was written to them. */
function writeUpTo(folder: LogFolder, lines: readonly WrittenLine[], bytes: number, time: number): void {
  const files = new Map<string, Buffer[]>();
  let left = bytes;
  for (const { file, text } of lines) {
    if (left <= 0) break;
    const whole = Buffer.from(text, 'utf8');
    files.set(file, [...(files.get(file) ?? []), whole.subarray(0, left)]);
    left -= whole.length;
  }
  for (const [name, parts] of files) {
    const path = join(folder.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.concat(parts));
    utimesSync(path, time, time);
  }
}

async function stateOf(store: DispatchStore, order?: 'any') {
  const [envelope] = await store.getDispatchEnvelopes(task);
  const recorded = await store.getDispatchEvents(task, envelope?.dispatchId ?? '');
  const events = order === 'any' ? recorded.toSorted((a, b) => (a.id < b.id ? -1 : 1)) : recorded;
  return {
    // The first two say where an import continues. Events of several files can be in another order there.
    envelope: { ...envelope, folded: null, source: { ...envelope?.source, kept: null, run: null } },
    byAgent: Map.groupBy(
      events.filter(({ type }) => type !== 'agent:created' && type !== metadataType),
      ({ agentId = '' }) => agentId,
    ),
    // A file beside the records has no place among them.
    metadata: new Map(events.flatMap((event) => (event.type === metadataType ? [[event.id, event]] : []))),
    // Where a record names the call of an agent later, its `agent:created` comes later.
    created: new Map(events.flatMap((event) => (event.type === 'agent:created' ? [[event.id, event]] : []))),
  };
}

/** Some usage that cannot be read, and steps of the clock over midnight and back. */
function withOddValues(lines: readonly WrittenLine[], random: () => number): WrittenLine[] {
  const odd = [
    '"usage":{"input_tokens":-3,"output_tokens":7}',
    '"usage":{"input_tokens":"3"}',
    '"usage":null',
    '"usage":{"input_tokens":1e300,"output_tokens":1}',
  ];
  return lines.map(({ file, text }) => {
    let changed = text;
    if (random() < 0.1)
      changed = changed.replace(/"usage":\{[^}]*\}/, odd[Math.floor(random() * odd.length)] ?? '');
    if (random() < 0.05)
      changed = changed.replace('2026-03-01T09:', random() < 0.5 ? '2026-02-28T23:' : '2026-03-02T00:');
    return { file, text: changed };
  });
}

async function growAndCompare(
  lines: readonly WrittenLine[],
  ends: readonly number[],
  label: string,
  order?: 'any',
) {
  using folder = new LogFolder();
  await using grown = openDispatchStore(createMemoryStore());
  let open = 0;
  for (const [at, end] of ends.entries()) {
    writeUpTo(folder, lines, end, 1_000 + at);
    const path = join(folder.path, 'session.jsonl');
    await importAll(grown, [path], { task });
    await using fresh = openDispatchStore(createMemoryStore());
    await importAll(fresh, [path], { task });
    const state = await stateOf(grown, order);
    expect(state, `${label}, ${end} bytes`).toEqual(await stateOf(fresh, order));
    if ((state.envelope.openCalls ?? []).length > 0) open += 1;
  }
  return open;
}

describe('a session that was imported after every line', () => {
  it.each(Array.from({ length: blocks }, (_, at) => at * seedsOfBlock))(
    'has the events of each agent and the envelope of one import, at each line (seeds from %i)',
    async (first) => {
      for (let seed = first; seed < first + seedsOfBlock; seed += 1) {
        const random = randomFrom(seed);
        const lines = withOddValues(randomSession(seed, 40), random);
        let bytes = 0;
        const ends = lines.map(({ text }) => {
          bytes += Buffer.byteLength(text);
          return bytes;
        });
        expect(await growAndCompare(lines, ends, `seed ${seed}`), `seed ${seed}`).toBeGreaterThan(5);
      }
    },
  );

  it.each([21, 22])(
    'has the same where the file is cut anywhere, within a character too (seed %i)',
    async (seed) => {
      const random = randomFrom(seed);
      const lines = withOddValues(randomSession(seed, 40), random);
      const [first, ...rest] = lines.map(({ text }) => Buffer.byteLength(text));
      const all = rest.reduce((sum, bytes) => sum + bytes, first ?? 0);
      const cuts = Array.from(
        { length: 25 },
        () => (first ?? 0) + Math.floor(random() * (all - (first ?? 0))),
      );
      const ends = [...cuts.sort((one, other) => one - other), all];
      expect(await growAndCompare(lines, ends, `seed ${seed}`)).toBeGreaterThan(3);
    },
  );

  it.each([33, 41, 132])(
    'has the same where the files of sub-agents and teammates come later than the session (seed %i)',
    async (seed) => {
      const random = randomFrom(seed);
      const delays = new Map<string, number>();
      const delayOf = (agent: string) => {
        const delay = delays.get(agent) ?? random() * 40;
        delays.set(agent, delay);
        return delay;
      };
      const agentOf = (file: string) => /agent-(\w+)/.exec(file)?.[1];
      const written = randomSession(seed, 60);
      const last = new Map(written.map(({ file }, at) => [agentOf(file), at]));
      const lines = written
        .map((line, at) => {
          const agent = agentOf(line.file);
          return { line, at: agent === undefined ? at : (last.get(agent) ?? at) + delayOf(agent) };
        })
        .sort((one, other) => one.at - other.at)
        .map(({ line }) => line);
      expect(lines.some(({ text }) => text.includes('teammate-message'))).toBe(true);
      // A file of an agent comes as a whole.
      let bytes = 0;
      const ends: number[] = [];
      for (const [at, { file, text }] of lines.entries()) {
        bytes += Buffer.byteLength(text);
        const next = lines[at + 1]?.file;
        const isWhole = next === undefined || agentOf(file) === undefined || agentOf(next) !== agentOf(file);
        if (isWhole && (next === undefined || random() < 0.2)) ends.push(bytes);
      }
      expect(await growAndCompare(lines, ends, `seed ${seed}`, 'any')).toBeGreaterThan(0);
    },
  );
});
