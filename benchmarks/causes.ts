/**
 * Measures the index of a session of 10,000 events, and `why` in a session of 20,000 events and 200 agents: the first call for
 * an index, which computes what all agents knew, and later calls. With the folder of another checkout as its argument, the
 * views of that checkout do the same, in processes that take turns:
 * `node --conditions=@hansard/source --expose-gc benchmarks/causes.ts [FOLDER]`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import type { LanguageModelProvider, ToolProvider } from '@hansard/provider';
import { type Agent, openSession } from '@hansard/session';
import type * as Views from '@hansard/views';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const rounds = 9;
const processes = 4;
const later = 100;
const here = resolve(import.meta.dirname, '..');

type Logs = Readonly<Record<'short' | 'long', readonly CapturedEvent[]>>;
type Samples = Record<string, number[]>;

/** Every third answer of an agent needs a tool. */
function scriptedModel(): LanguageModelProvider {
  let number = 0;
  return {
    contract: 1,
    generate: async ({ messages }) => {
      number += 1;
      const usage = { inputTokens: 100, outputTokens: 10 };
      const calls = number % 3 === 0 && messages.at(-1)?.role !== 'tool';
      const toolCalls = calls ? [{ toolCallId: `call-${number}`, tool: 'look', input: { at: number } }] : [];
      return { model: 'scripted-1', usage, text: calls ? '' : `The ${number}th answer.`, toolCalls };
    },
  };
}

const tools: ToolProvider = {
  contract: 1,
  listTools: () => [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
  callTool: async () => ({ status: 'completed', text: 'There is a house.' }),
};

/** A session in which agents pass on answers to each other, in an order without pattern. */
async function talk(agents: number, length: number): Promise<CapturedEvent[]> {
  const folder = temporaryFolder('bench-causes');
  const store = openDispatchStore(await openStore('store-jsonfile', folder));
  const taskDir = 'benchmarks/tasks/causes';
  const model = scriptedModel();
  const place = { store, taskDir, dispatchId: `of-${length}` };
  const session = await openSession({ ...place, model, tools: [tools] });
  const all: Agent[] = [];
  for (let number = 0; number < agents; number += 1)
    all.push(await session.createAgent({ name: `Agent ${number}` }));
  let answer = await all[0]?.harken('Begin.').then(() => all[0]?.response());
  let state = 1;
  for (let turns = 0; turns < length / 4; turns += 1) {
    state = (state * 48_271) % 2_147_483_647;
    const agent = all[state % agents];
    if (agent === undefined || answer === undefined) throw new Error('There is no agent to ask.');
    await agent.harken(answer);
    answer = await agent.response();
  }
  await session.close();
  const events = await store.getDispatchEvents(taskDir, `of-${length}`);
  await store.close();
  rmSync(folder, { recursive: true });
  if (events.length < length) throw new Error(`Only ${events.length} events were made.`);
  return events.slice(0, length);
}

/** Milliseconds of the processor, all threads: the load of the machine changes them less than elapsed time. */
function timed<T>(work: () => T): { readonly ms: number; readonly value: T } {
  const before = process.cpuUsage();
  const value = work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1_000, value };
}

/** What a process of its own measures with the views of a checkout. */
async function measure(file: string, checkout: string): Promise<Samples> {
  const { createLogIndex, causesOf } = (await import(
    join(checkout, 'packages/views/src/index.ts')
  )) as typeof Views;
  const { short, long } = JSON.parse(readFileSync(file, 'utf8')) as Logs;
  const answers = long.filter(({ type }) => type === 'agent:text').map(({ id }) => id);
  const nth = (at: number) => answers[Math.floor((at * answers.length) / later)] ?? '';
  const asked = Array.from({ length: later }, (_, at) => nth(at));
  const samples: Samples = {};
  const add = (work: string, ms: number) => {
    samples[work] = [...(samples[work] ?? []), ms];
  };
  for (let round = 0; round < rounds; round += 1) {
    (globalThis as { gc?: () => void }).gc?.();
    add('index of 10,000', timed(() => createLogIndex(short)).ms);
    const { ms, value: index } = timed(() => createLogIndex(long));
    add('index of 20,000', ms);
    add('first why', timed(() => causesOf(index, answers[0] ?? '')).ms);
    add('later why', timed(() => asked.map((id) => causesOf(index, id))).ms / later);
    const last = timed(() => causesOf(index, answers.at(-1) ?? ''));
    add('why of the last answer', last.ms);
    add('rows of the last answer', last.value.length);
  }
  return samples;
}

async function compare(checkouts: readonly (readonly [name: string, folder: string])[]): Promise<void> {
  const folder = temporaryFolder('bench-causes-logs');
  const file = join(folder, 'logs.json');
  writeFileSync(file, JSON.stringify({ short: await talk(50, 10_000), long: await talk(200, 20_000) }));
  const samples = new Map<string, number[]>();
  for (let turn = 0; turn < processes; turn += 1) {
    for (const [name, checkout] of turn % 2 === 0 ? checkouts : [...checkouts].reverse()) {
      const args = ['--conditions=@hansard/source', '--expose-gc', import.meta.filename, file, checkout];
      const made = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Samples;
      for (const [work, figures] of Object.entries(made))
        samples.set(`${name} ${work}`, [...(samples.get(`${name} ${work}`) ?? []), ...figures]);
    }
  }
  rmSync(folder, { recursive: true });
  const of = (name: string, work: string) => median(samples.get(`${name} ${work}`) ?? []);
  const works = ['index of 10,000', 'index of 20,000', 'first why', 'later why', 'why of the last answer'];
  for (const [name] of checkouts) {
    for (const work of works) {
      const ms = of(name, work);
      report(
        {
          benchmark: 'causes',
          contender: name,
          work,
          milliseconds: rounded(ms),
          ofIndex: rounded(ms / of(name, 'index of 20,000')),
          ...(checkouts.length === 1 ? {} : { ofBefore: rounded(ms / of('before', work)) }),
          ...(work === 'why of the last answer' ? { rows: of(name, 'rows of the last answer') } : {}),
        },
        name === 'now' && /^(later|why)/.test(work) ? [{ key: 'ofIndex', atMost: 0.1 }] : [],
      );
    }
  }
}

const [, , first, second] = process.argv;
if (first !== undefined && second !== undefined) console.log(JSON.stringify(await measure(first, second)));
else await compare([['now', here], ...(first === undefined ? [] : [['before', resolve(first)] as const])]);
