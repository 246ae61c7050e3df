import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { balanceProblem, type CapturedEvent, isEventOf, type JsonObject } from '@hansard/events';
import { factsOf } from '@hansard/facts';
import { rootOf } from '@hansard/prompt';
import { branchedLog, corpus, isCorpusThere, randomFrom, skipped } from '@hansard/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { detectAtif, readAtif, readAtifHead, writeAtif } from '../src/index.ts';
import { playRun } from './random-run.ts';

const schemaFile = join(corpus, '../notes/atif.schema.json');
const envelope = { dispatchId: '01JHANSARD', model: null, source: null, botId: null };

function read(text: string, media: (path: string) => Uint8Array | null = () => null) {
  const bytes = Buffer.from(text);
  // Pieces of seven bytes: every value is cut somewhere.
  const source = function* () {
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
  };
  const head = readAtifHead(source);
  const reading = readAtif(source, { head, media });
  const events = [...reading.read()].flat();
  return { ...reading.summary(), head, events };
}

const write = (events: readonly CapturedEvent[]) => writeAtif(events, envelope);
const document = (steps: readonly object[], more: object = {}) =>
  JSON.stringify({
    schema_version: 'ATIF-v1.7',
    session_id: 's',
    agent: { name: 'terminus-2', version: '2', model_name: 'gpt-4o' },
    steps: steps.map((step, at) => ({ step_id: at + 1, ...step })),
    ...more,
  });

/** Without null fields, which ATIF treats as absent. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutNull(one)]));
}

interface Step {
  readonly is_copied_context?: boolean;
  readonly metrics?: {
    prompt_tokens?: number;
    completion_tokens?: number;
    cached_tokens?: number;
    cost_usd?: number;
  };
}

describe.skipIf(!isCorpusThere)(`trajectories of other programs${skipped}`, () => {
  const files = globSync('atif/**/*.json', { cwd: corpus }).sort();
  const opened = files.map((file) => {
    const text = readFileSync(join(corpus, file), 'utf8');
    const media = (path: string) => readFileSync(join(corpus, dirname(file), path));
    return {
      file,
      text,
      given: JSON.parse(text) as { steps: Step[]; final_metrics?: Record<string, number> },
      ...read(text, media),
    };
  });

  it('are recorded with a balance that adds up, and leave nothing out', () => {
    expect(files).toHaveLength(10);
    for (const { file, text, given, balance, counts } of opened) {
      expect([file, balanceProblem(balance)]).toEqual([file, null]);
      expect(balance.records).toEqual({
        in: given.steps.length + 1,
        recorded: given.steps.length + 1,
        leftOut: {},
      });
      expect(balance.bytes.in - (balance.files.in === 2 ? 69 : 0)).toBe(Buffer.byteLength(text));
      expect(Object.keys(counts).filter((code) => code !== 'time_missing')).toEqual([]);
    }
  });

  it('have the tokens and costs that their steps state, and those of their totals where a file is a whole run', () => {
    const wholeRuns: string[] = [];
    for (const { file, given, events } of opened) {
      const sum = (name: keyof NonNullable<Step['metrics']>) =>
        given.steps.reduce((total, { metrics }) => total + (metrics?.[name] ?? 0), 0);
      const { usage, costUsd } = factsOf(events, { prices: null });
      const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage ?? {};
      const counted = [inputTokens + cacheReadTokens + cacheWriteTokens, outputTokens, cacheReadTokens];
      expect([file, ...counted]).toEqual([
        file,
        sum('prompt_tokens'),
        sum('completion_tokens'),
        sum('cached_tokens'),
      ]);
      expect(costUsd ?? 0).toBeCloseTo(sum('cost_usd'), 9);
      const { total_prompt_tokens: prompt, total_completion_tokens: completion } = given.final_metrics ?? {};
      if (prompt === counted[0] && completion === counted[1]) wholeRuns.push(file);
      // The totals of a run are those of the file, of its sub-agents, and of what it continues.
      else if (prompt !== undefined)
        expect([file, prompt, completion]).toEqual([
          expect.stringMatching(/subagents\/trajectory\.json|cont-1/),
          7802,
          1030,
        ]);
    }
    expect(wholeRuns).toHaveLength(7);
  });

  it('are the same documents after an import and an export', () => {
    for (const { file, given, events } of opened) {
      const written = write(events);
      expect([file, withoutNull(written.document)]).toEqual([file, withoutNull(given)]);
      expect(written.leftOut).toEqual({});
    }
  });
});

/** A random log of many agents, with calls, files, branches and usage. */
function logOf(seed: number): readonly CapturedEvent[] {
  if (seed % 2 === 0) return branchedLog({ seed, length: 60, talks: seed % 4 === 0 }).events;
  return playRun(randomFrom(seed), seed % 3 === 0).events;
}

describe('an export', () => {
  it.skipIf(!isCorpusThere)(`is valid against the schema and the rules beside it${skipped}`, () => {
    const validate = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(schemaFile, 'utf8')));
    for (let seed = 1; seed <= 60; seed += 1) {
      const written = write(logOf(seed)).document;
      expect([seed, validate(written), validate.errors]).toEqual([seed, true, null]);
      assertRules(written);
    }
  });

  it('that is imported again gives the same steps, speakers, calls, results and usage', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const first = write(logOf(seed)).document;
      const again = read(JSON.stringify(first));
      expect([seed, again.counts.wrong_value, again.counts.unknown_kind]).toEqual([
        seed,
        undefined,
        undefined,
      ]);
      const second = write(again.events);
      expect([seed, second.document]).toEqual([seed, first]);
    }
  });

  it('that is imported again has what each agent heard, said, called and got, or counts it', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const { events } = playRun(randomFrom(seed), seed % 3 === 0);
      const { document: written, leftOut } = write(events);
      const [before, after] = [partsOf(events), partsOf(read(JSON.stringify(written)).events)];
      const unpaired = leftOut['agent:tool_result'] ?? 0;
      for (const [kind, list] of Object.entries(before)) {
        if (kind.endsWith(' got') && unpaired > 0) continue;
        expect([seed, kind, after[kind]]).toEqual([seed, kind, list]);
      }
      const lost = Object.keys(leftOut).filter(
        (kind) => !/^(?:links between events|bounds of thoughts|order of blocks in a message)$/.test(kind),
      );
      expect([
        seed,
        lost.filter((kind) => /^(?:user:message|agent:(?:text|thinking|tool_call|inference))$/.test(kind)),
      ]).toEqual([seed, []]);
    }
  });
});

/** What each agent heard, said, called and got, and what its model used: an own reading of events, by kind. */
function partsOf(events: readonly CapturedEvent[]): Record<string, unknown[]> {
  const parts: Record<string, unknown[]> = {};
  const root = rootOf(events);
  const add = ({ agentId = '' }: CapturedEvent, kind: string, value: unknown) => {
    const name = `${agentId === root ? '' : agentId} ${kind}`;
    parts[name] = [...(parts[name] ?? []), value];
  };
  for (const event of events) {
    if (isEventOf(event, 'user:message')) add(event, 'heard', [event.data.text, event.data.source]);
    if (isEventOf(event, 'agent:text') || isEventOf(event, 'agent:thinking'))
      add(event, event.type, event.data.text);
    if (isEventOf(event, 'agent:tool_call')) {
      const { toolCallId, tool, target, metadata, input } = event.data;
      add(event, 'called', { toolCallId, tool, target, metadata, input });
    }
    if (isEventOf(event, 'agent:tool_result')) {
      const { toolCallId, tool, target, metadata, status, error, output, durationMs } = event.data;
      add(event, 'got', { toolCallId, tool, target, metadata, status, error, output, durationMs });
    }
    if (isEventOf(event, 'agent:inference')) {
      const { model, usage, costUsd, stopReason } = event.data;
      add(event, 'used', { model, usage, costUsd, stopReason });
    }
  }
  for (const [name, list] of Object.entries(parts))
    if (name.endsWith(' got'))
      list.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  return parts;
}

/** What the schema cannot say. */
function assertRules(trajectory: JsonObject): void {
  const steps = trajectory.steps as JsonObject[];
  const children = (trajectory.subagent_trajectories ?? []) as JsonObject[];
  for (const [at, step] of steps.entries()) {
    expect(step.step_id).toBe(at + 1);
    const calls = ((step.tool_calls ?? []) as JsonObject[]).map(({ tool_call_id: id }) => id);
    expect(new Set(calls).size).toBe(calls.length);
    for (const { source_call_id: id } of ((step.observation as JsonObject | undefined)?.results ??
      []) as JsonObject[])
      if (id !== undefined) expect(calls).toContain(id);
  }
  expect(new Set(children.map(({ trajectory_id: id }) => id)).size).toBe(children.length);
  for (const child of children) assertRules(child);
}

describe('a trajectory', () => {
  it('has the prompt of the system, who wrote what, thoughts, calls and results', () => {
    const call = { tool_call_id: 'c1', function_name: 'bash', arguments: { command: 'ls\n-l' } };
    const { events } = read(
      document([
        { source: 'system', message: 'Be brief.' },
        { source: 'user', message: 'Hi', timestamp: '2026-03-01T10:30:00+01:00' },
        {
          source: 'agent',
          message: 'Look',
          reasoning_content: 'Hm',
          tool_calls: [call],
          observation: { results: [{ source_call_id: 'c1', content: 'a' }, { content: 'b' }] },
          metrics: { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 4, cost_usd: 0.5 },
        },
      ]),
    );
    expect(events.slice(2).map(({ id, type }) => [id, type])).toEqual([
      ['step-1', 'agent:system_prompt'],
      ['step-2', 'user:message'],
      ['step-3:thinking', 'agent:thinking'],
      ['step-3', 'agent:text'],
      ['step-3:call-1', 'agent:tool_call'],
      ['step-3:inference', 'agent:inference'],
      ['step-3:result-1', 'agent:tool_result'],
      ['step-3:result-2', 'agent:output'],
    ]);
    expect(events[3]).toMatchObject({
      timestamp: '2026-03-01T09:30:00.000Z',
      data: { source: { kind: 'user' } },
    });
    expect(events[6]).toMatchObject({ data: { target: 'ls', input: { command: 'ls\n-l' } } });
    expect(events[7]?.data).toEqual({
      model: 'gpt-4o',
      usage: { inputTokens: 6, outputTokens: 2, cacheReadTokens: 4 },
      costUsd: 0.5,
      details: { model_name: 'that of the agent' },
    });
  });

  it('has copied steps as given, which no figure counts', () => {
    const metrics = { prompt_tokens: 10, completion_tokens: 2 };
    const { events } = read(document([{ source: 'agent', message: 'Hi', is_copied_context: true, metrics }]));
    expect(events.at(-1)).toMatchObject({ type: 'agent:given', data: { role: 'assistant', text: 'Hi' } });
    expect(factsOf(events, { prices: null }).usage).toBeNull();
  });

  it('has an embedded trajectory as an agent, which the call created whose result names it', () => {
    const call = { tool_call_id: 'c1', function_name: 'task', arguments: {} };
    const results = [
      { source_call_id: 'c1', content: 'done', subagent_trajectory_ref: [{ trajectory_id: 'kid' }] },
    ];
    const child = { ...JSON.parse(document([{ source: 'user', message: 'Go' }])), trajectory_id: 'kid' };
    const { events } = read(
      document([{ source: 'agent', message: '', tool_calls: [call], observation: { results } }], {
        subagent_trajectories: [child],
      }),
    );
    const created = events.find((event) => isEventOf(event, 'agent:created'));
    expect(created).toMatchObject({ agentId: 'kid', cause: 'step-1:call-1', data: { name: 'terminus-2' } });
    expect(events.at(-1)).toMatchObject({
      agentId: 'kid',
      data: { text: 'Go', source: { kind: 'external' } },
    });
  });

  it('whose end is missing has the steps that are whole, and says what is left out', () => {
    const whole = document([
      { source: 'user', message: 'Hi' },
      { source: 'agent', message: 'Hello' },
    ]);
    const torn = whole.slice(0, whole.indexOf('Hello') + 2);
    const { events, balance, counts } = read(torn);
    expect(events.at(-1)).toMatchObject({ id: 'step-1' });
    expect(counts).toMatchObject({ unfinished: 1 });
    expect(balance.records).toEqual({ in: 3, recorded: 2, leftOut: { unfinished: 1 } });
    expect(balance.bytes.in).toBe(Buffer.byteLength(torn));
    expect(balanceProblem(balance)).toBeNull();
  });

  it('is shown by its version, also where that comes last', () => {
    const { schema_version: version, ...others } = JSON.parse(document([{ source: 'user', message: 'Hi' }]));
    expect(detectAtif(JSON.stringify({ schema_version: version, ...others }))).toBe(true);
    expect(detectAtif(JSON.stringify({ ...others, schema_version: version }))).toBe(true);
    expect(detectAtif(JSON.stringify(others))).toBe(false);
    expect(detectAtif(JSON.stringify({ note: { schema_version: version }, steps: [] }))).toBe(false);
  });
});
