import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { type ClaudeLog, type ClaudeLogRest, openClaudeTranscript } from '../../src/index.ts';
import { answer, call, lines, outcome, prompt, record, text } from './transcripts.ts';

type Open = typeof openClaudeTranscript;

const start = Date.parse('2026-03-01T09:30:00.000Z');
const home = join(import.meta.dirname, '../..');

interface Written {
  readonly main: readonly JsonObject[];
  /** The file of a sub-agent. */
  readonly agent: readonly JsonObject[];
  /** The last usage of each message that some record has: input and output. */
  readonly right: ReadonlyMap<string, readonly [input: number, output: number]>;
}

/** Answers whose lines come between those of others, and a sub-agent whose messages its progress has. */
function written(seed: number): Written {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const right = new Map<string, readonly [number, number]>();
  const ofFile = new Set<string>();
  const main: JsonObject[] = [
    prompt(1, 'Go.'),
    answer(2, call('toolu_1', 'Task', { prompt: 'Look.' }), { id: 'msg_start' }),
  ];
  right.set('msg_start', [3, 5]);
  const agent: JsonObject[] = [];
  const side = { isSidechain: true, agentId: 'a1' };
  const hasFile = random() < 0.5;
  let number = 3;
  for (let step = below(12) + 4; step > 0; step -= 1, number += 1) {
    const ofAgent = random() < 0.4;
    const id = ofAgent ? `msg_a${below(3)}` : `msg_${below(4)}`;
    const [, before = 0] = right.get(id) ?? [];
    const output = before + below(3);
    const usage = {
      input_tokens: 7,
      output_tokens: output,
      cache_creation: { ephemeral_5m_input_tokens: 0 },
    };
    const row = answer(number, text(`${number}`), { id, usage }, ofAgent ? side : {});
    if (!ofAgent) main.push(row);
    else {
      if (hasFile)
        agent.push({ ...row, parentUuid: agent.length === 0 ? null : (agent.at(-1)?.uuid ?? null) });
      if (hasFile) ofFile.add(id);
      // The progress of a message has the usage at its beginning.
      if (!hasFile || random() < 0.5) {
        const data = {
          type: 'agent_progress',
          agentId: 'a1',
          prompt: 'Look.',
          message: { ...row, parentUuid: null },
        };
        main.push(
          record(number, {
            uuid: `progress-${number}`,
            timestamp: new Date(start + (number + 0.5) * 1_000).toISOString(),
            type: 'progress',
            data,
            parentToolUseID: 'toolu_1',
            toolUseID: `agent_${number}`,
          }),
        );
      }
    }
    right.set(id, [7, output]);
  }
  if (random() < 0.7)
    main.push(outcome(90, 'toolu_1', 'Seen.', { toolUseResult: { status: 'completed', agentId: 'a1' } }));
  return { main, agent, right };
}

/** What differs from the last usage of each message, at the end and after two stages; null if nothing does. */
async function differenceOf(seed: number, open: Open): Promise<string | null> {
  const { main, agent, right } = written(seed);
  const random = randomFrom(seed + 1_000);
  const folder = mkdtempSync(join(tmpdir(), 'hansard-usage-'));
  try {
    mkdirSync(join(folder, 'session/subagents'), { recursive: true });
    const path = join(folder, 'session.jsonl');
    const stored = new Map<string, CapturedEvent>();
    let kept: JsonValue | null = null;
    for (const part of [random(), 1]) {
      const until = part < 1 ? new Date(start + (2 + Math.floor(part * 12)) * 1_000).toISOString() : '3';
      const rows = (all: readonly JsonObject[]) =>
        lines(...all.filter(({ timestamp }) => String(timestamp) <= until));
      writeFileSync(path, rows(main));
      if (agent.length > 0) writeFileSync(join(folder, 'session/subagents/agent-a1.jsonl'), rows(agent));
      const log = await open(path);
      let reading: ClaudeLogRest | ClaudeLog = (kept === null ? null : log.continueAfter(kept)) ?? log;
      for (;;) {
        for await (const batch of reading.read())
          for (const event of batch) {
            const before = stored.get(event.id);
            if (before !== undefined && JSON.stringify(before) !== JSON.stringify(event))
              return `seed ${seed}: ${event.id} changed ${JSON.stringify(before)} ${JSON.stringify(event)}`;
            stored.set(event.id, event);
          }
        if (!('isLost' in reading) || !(reading.isLost as () => boolean)()) break;
        reading = await open(path);
      }
      kept = reading.summary().kept;
      if (part < 1) continue;
      const found = new Map<string, [number, number]>();
      for (const { messageId = '', data, type } of [...stored.values(), ...reading.summary().openCalls]) {
        if (type !== 'agent:inference') continue;
        const { inputTokens, outputTokens } = data.usage as { inputTokens: number; outputTokens: number };
        const [input, output] = found.get(messageId) ?? [0, 0];
        found.set(messageId, [input + inputTokens, output + outputTokens]);
      }
      const inOrder = (all: Iterable<readonly [string, readonly number[]]>) =>
        JSON.stringify([...all].sort());
      if (inOrder(found) !== inOrder(right)) return `seed ${seed}: ${inOrder(found)}, not ${inOrder(right)}`;
    }
    return null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function wrongSeed(open: Open, seeds: number): Promise<string | null> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const wrong = await differenceOf(seed, open).catch((error: unknown) => `seed ${seed}: ${error}`);
    if (wrong !== null) return wrong;
  }
  return null;
}

const inferences = 'map/inferences.ts';
const mutants: readonly (readonly [
  name: string,
  fault: readonly [file: string, piece: string, instead: string],
])[] = [
  ['drops later lines', [inferences, 'this.#again.set(id,', 'void (id,']],
  [
    'counts the whole usage of a later line',
    [inferences, 'usageOnTop(counted, withoutNull(usage))', 'withoutNull(usage)'],
  ],
  [
    'drops what only progress has',
    [
      'map/records.ts',
      'if (agentName !== undefined) hearProgress(',
      'if (agentName === undefined) hearProgress(',
    ],
  ],
  [
    'forgets late usage when it continues',
    ['map/transcript-mapping.ts', 'this.#state.inferences.again = facts.again;', ''],
  ],
  [
    'does not read again where it cannot know',
    ['map/model-message.ts', "if (problem === 'unknown') horizon.missed();", ''],
  ],
];

describe('usage that comes after its message was counted, or in the progress of a sub-agent', () => {
  const seeds = 200;

  it(`counts once in ${seeds} random sessions, with the last line of each message`, async () => {
    expect(await wrongSeed(openClaudeTranscript, seeds)).toBeNull();
  });

  it.each(mutants)('would differ if a reader %s', async (_, fault) => {
    const made = await importMutated(home, fault, 'index.ts');
    expect(
      await wrongSeed((made as { openClaudeTranscript: Open }).openClaudeTranscript, seeds),
    ).not.toBeNull();
  });
});
