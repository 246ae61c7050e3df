import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  cleanClaudeEnvironment,
  enginePatienceMs,
  requireClaudeEngine,
} from '../../../scripts/engines/claude-engine.ts';
import {
  latestTextIn,
  type MessagesRequest,
  type MessagesScript,
  type ScriptedMessagesApi,
  startMessagesApi,
  toolResultsIn,
} from '../../../scripts/engines/scripted-messages-api.ts';
import { type CommandLine, commandFromSource, commandLine } from './command-line.ts';

interface Answer {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const task = 'lab/ship-it';
vi.setConfig({ testTimeout: enginePatienceMs });
let api: ScriptedMessagesApi;
const opened: CommandLine[] = [];

beforeAll(async () => {
  api = await startMessagesApi();
});

afterAll(async () => {
  await api.close();
  for (const cli of opened) cli[Symbol.dispose]();
});

/** A folder with a configuration, and a `hansard` in it whose engine knows nothing but the scripted API. */
function workplace(
  script: MessagesScript,
  { plugins = [], key = true }: { plugins?: string[]; key?: boolean } = {},
) {
  const cli = commandLine();
  const { cwd } = cli;
  opened.push(cli);
  const endpoint = api.serve(script);
  const claude = { executable: requireClaudeEngine(), permissionMode: 'bypassPermissions' };
  const config = { plugins: [{ plugin: '@hansard/agent-claude', config: claude }, ...plugins] };
  writeFileSync(join(cwd, 'hansard.config.json'), JSON.stringify(config));
  const env = cleanClaudeEnvironment(cwd, endpoint.url, key ? {} : { ANTHROPIC_API_KEY: undefined });
  const start = (...args: string[]) =>
    spawn(process.execPath, [...commandFromSource, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    cwd,
    endpoint,
    start,
    hansard: (...args: string[]) => finished(start(...args)),
    read: cli.hansard,
  };
}

function finished(child: ChildProcess): Promise<Answer> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

const linesOf = ({ out }: Pick<Answer, 'out'>) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const say = (text: string) => [{ type: 'text' as const, text }];
const call = (id: string, name: string, input: object) => ({ type: 'tool_use' as const, id, name, input });

const twoWorkers = [
  call('toolu_1', 'mcp__hansard__dispatch_agent', { role: 'ts-dev', prompt: 'Write the code.' }),
  call('toolu_2', 'mcp__hansard__dispatch_agent', { role: 'tester', prompt: 'Test the code.' }),
];
const works = ['Write the code.', 'Test the code.'] as const;

/** What the worker is to do that asks; null: it is the one who has workers. */
function workIn({ messages }: MessagesRequest): (typeof works)[number] | null {
  const prompt = JSON.stringify(messages[0]);
  return works.find((work) => prompt.includes(work)) ?? null;
}

/** The first id in a text. */
const idsIn = (text: string) => text.match(/[0-9A-HJKMNP-TV-Z]{26}/)?.slice(0, 1) ?? [];

function newGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

describe('an agent that runs workers', () => {
  it('leaves events, envelopes, a tree with both workers, and what each cost', async () => {
    const manager: MessagesScript = (request) => {
      const results = [...toolResultsIn(request).values()].map(({ content }) => JSON.stringify(content));
      if (results.length === 2)
        return [call('toolu_3', 'mcp__hansard__await_dispatch', { dispatch_ids: results.flatMap(idsIn) })];
      return results.length === 1 ? say('Shipped by two workers.') : twoWorkers;
    };
    const atWork = { 'Write the code.': newGate(), 'Test the code.': newGate() };
    const place = workplace(
      async (request, index) => {
        if (!request.tools?.length) return say('A title');
        const work = workIn(request);
        if (work === null) return manager(request, index);
        // Side by side: neither ends before the other has begun.
        atWork[work].open();
        await Promise.all([atWork['Write the code.'].opened, atWork['Test the code.'].opened]);
        return say('Done.');
      },
      { plugins: ['@hansard/tools-dispatch'] },
    );
    const run = await place.hansard(
      ...['run', 'Ship it.', '--agent', 'claude', '--task', task, '--role', 'product-manager'],
      ...['--model', 'claude-sonnet-4-5', '--json'],
    );
    expect([run.code, run.err]).toEqual([0, '']);
    const [lead] = linesOf(run);
    expect(lead).toMatchObject({
      status: 'completed',
      role: 'product-manager',
      model: 'claude-sonnet-4-5',
    });

    const envelopes = linesOf(await place.read('ls', task, '--json'));
    const workers = envelopes.filter(({ parentDispatchId }) => parentDispatchId === lead.dispatchId);
    expect(workers.map(({ role, status }) => [role, status]).sort()).toEqual([
      ['tester', 'completed'],
      ['ts-dev', 'completed'],
    ]);
    for (const { cost, usage } of [lead, ...workers]) {
      expect(cost).toBeGreaterThan(0);
      expect(usage.inputTokens).toBeGreaterThan(0);
    }
    // Each model call of 100 and 20 tokens costs the same: the lead made three, each worker one.
    for (const { cost } of workers) expect(lead.cost).toBeCloseTo(cost * 3, 6);

    const { out: tree } = await place.read('tree', task);
    expect(tree).toMatch(/product-manager.*\n.*─ (ts-dev|tester).*\n.*─ (ts-dev|tester)/);
    const events = linesOf(await place.read('show', `${task}/${lead.dispatchId}`, '--raw', '--json'));
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === 'session:init')).toHaveLength(1);
    expect(types.filter((type) => type === 'session:complete')).toHaveLength(1);
    const results = events.filter(({ type }) => type === 'agent:tool_result');
    expect(results.map(({ data }) => `${data.toolCallId} ${data.status}`).sort()).toEqual([
      ...['toolu_1 completed', 'toolu_2 completed', 'toolu_3 completed'],
    ]);
    const dispatched = results.slice(0, 2).map(({ data }) => data.metadata.dispatchId);
    expect(dispatched.sort()).toEqual(workers.map(({ dispatchId }) => dispatchId).sort());
    const asked = linesOf(
      await place.read(
        'show',
        `${task}/${workers[0].dispatchId}`,
        '--raw',
        '--type',
        'user:message',
        '--json',
      ),
    );
    expect(asked[0].data.source).toEqual({ kind: 'agent', dispatchId: lead.dispatchId });
  });
});

describe.skipIf(process.platform !== 'linux')(
  'an agent that is interrupted while it waits for its workers',
  () => {
    it('ends with them and their engines, and the log says who ended whom', async () => {
      const atWork = { 'Write the code.': newGate(), 'Test the code.': newGate() };
      const place = workplace(
        (request) => {
          if (!request.tools?.length) return say('A title');
          const work = workIn(request);
          if (work !== null) {
            atWork[work].open();
            return new Promise(() => {});
          }
          const results = [...toolResultsIn(request).values()].map(({ content }) => JSON.stringify(content));
          return results.length === 0
            ? twoWorkers
            : [call('toolu_3', 'mcp__hansard__await_dispatch', { dispatch_ids: results.flatMap(idsIn) })];
        },
        { plugins: ['@hansard/tools-dispatch'] },
      );
      const interrupted = place.start('run', 'Ship it.', '--agent', 'claude', '--task', task, '--quiet');
      const ended = finished(interrupted);
      const bothBegan = Promise.all(Object.values(atWork).map(({ opened }) => opened)).then(() => null);
      expect(await Promise.race([bothBegan, ended])).toBeNull();
      interrupted.kill('SIGINT');
      expect((await ended).code).not.toBe(0);
      expect(enginesIn(place.cwd)).toEqual([]);
      const envelopes = linesOf(await place.read('ls', task, '--json'));
      expect(envelopes.map(({ status }) => status)).toEqual(['aborted', 'aborted', 'aborted']);
      const lead = envelopes.find(({ parentDispatchId }) => parentDispatchId === null);
      const workers = envelopes.filter((envelope) => envelope !== lead);
      for (const { dispatchId } of workers) {
        const aborts = await place.read(
          'show',
          `${task}/${dispatchId}`,
          '--raw',
          '--type',
          'harness:abort',
          '--json',
        );
        expect(linesOf(aborts)).toMatchObject([{ data: { by: lead.dispatchId } }]);
      }
    });
  },
);

describe('an agent without a key', () => {
  it('says what to do, and which agent needs none', async () => {
    const place = workplace(() => say('never'), { key: false });
    const { code, err } = await place.hansard('run', 'Hello', '--agent', 'claude', '--task', task, '--quiet');
    expect(code).toBe(1);
    expect(err).toContain('AGENT_NOT_LOGGED_IN');
    expect(err).toContain('ANTHROPIC_API_KEY');
    expect(err).toContain('hansard run STREAM.jsonl');
    expect(place.endpoint.requests).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('a harness that is killed', () => {
  it('ends its engine too, is reported, and its agent continues in the next dispatch', async () => {
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const place = workplace((request) => {
      if (!request.tools?.length) return say('A title');
      if (latestTextIn(request).includes('Go on.')) return say('I remember the plan.');
      if (toolResultsIn(request).size === 0)
        return [call('toolu_1', 'Bash', { command: 'echo planned', description: 'plan' })];
      isAsked();
      return new Promise(() => {});
    });
    const killed = place.start('run', 'Make a plan.', '--agent', 'claude', '--task', task, '--quiet');
    const ended = finished(killed);
    // Where it ends by itself it says why.
    expect(await Promise.race([asked, ended])).toBeUndefined();
    expect(enginesIn(place.cwd)).not.toEqual([]);
    // The engine asks the model again before the harness has stored the result.
    await delay(2_000);
    killed.kill('SIGKILL');
    await ended;
    await until(() => enginesIn(place.cwd).length === 0);

    const goesOn = ['run', 'Go on.', '--agent', 'claude', '--task', task, '--resume', 'latest', '--json'];
    const next = await place.hansard(...goesOn);
    expect(next.err).toContain('was left running by a process that has exited; its status is now crashed');
    expect(next.code).toBe(0);
    const resumed = place.endpoint.requests.at(-1);
    expect(JSON.stringify(resumed?.messages)).toContain('Make a plan.');
    expect(JSON.stringify(resumed?.messages)).toContain('planned');

    const [second, first] = linesOf(await place.read('ls', task, '--json'));
    expect([first.status, second.status]).toEqual(['crashed', 'completed']);
    const log = linesOf(await place.read('show', `${task}/${first.dispatchId}`, '--raw', '--json'));
    expect(log.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['agent:tool_call', 'agent:tool_result', 'harness:error']),
    );
  });
});

/** The running processes whose home is in a folder, by their environments. */
function enginesIn(folder: string): string[] {
  return globSync('/proc/[0-9]*/environ').filter((file) => {
    try {
      const isEngine = readFileSync(file.replace('environ', 'cmdline'), 'utf8').includes('claude');
      return isEngine && readFileSync(file, 'utf8').includes(`HOME=${join(folder, 'home')}`);
    } catch {
      return false;
    }
  });
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error('It did not come to that within a minute.');
    await delay(20);
  }
}
