/**
 * Measures what the built command takes to read one session of 49,000 events and 200 agents, of which eight work at the same time, without branches and
 * with some. Each command is a process of its own. A second built command, such as that of another commit, can be named, and takes turns:
 * `node --conditions=@hansard/source benchmarks/many-agents.ts [PATH/TO/dist/bin.js]`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const [agents, length, atOnce, rounds] = [200, 49_000, 8, 3];
const taskDir = 'benchmarks/tasks/many';
const ticksPerSecond = 100;
const sentence = 'The route table has three candidates; the second one is cheaper at night. ';

interface OpenAgent {
  readonly agentId: string;
  readonly callId: string;
  left: number;
  /** A result to which its transcript can go back. */
  said: string | null;
}

type Made = NewEvent & { readonly id: string };

/**
 * The events of a session: its agent starts others with calls, a few of which work at the same time, and each answers
 * its call at the end.
 */
class Session {
  readonly #random = randomFrom(1);
  readonly #isBranched: boolean;
  readonly #open: OpenAgent[] = [];
  #number = 0;
  #started = 0;

  constructor(isBranched: boolean) {
    this.#isBranched = isBranched;
  }

  *events(): Generator<Made> {
    yield this.#made({
      type: 'user:message',
      data: { text: 'Compare the routes.', source: { kind: 'user' } },
    });
    while (this.#started < agents || this.#open.length > 0) {
      if (this.#started < agents && this.#open.length < atOnce) yield* this.#start();
      const at = this.#upTo(this.#open.length);
      const agent = this.#open[at];
      if (agent === undefined) continue;
      if (agent.left > 0) yield* this.#work(agent);
      else {
        this.#open.splice(at, 1);
        const call = { tool: 'Task', toolCallId: agent.callId, metadata: {} };
        const figures = { status: 'completed' as const, durationMs: this.#upTo(90_000) };
        yield this.#made({ type: 'agent:tool_result', data: { ...call, output: this.#words(), ...figures } });
      }
    }
  }

  *#start(): Generator<Made> {
    const agentId = `agent_${String(this.#started).padStart(3, '0')}`;
    const callId = `task-${this.#started}`;
    const name = ['Explore', 'Plan', 'general-purpose', 'review'][this.#started % 4] ?? '';
    this.#started += 1;
    const call = { tool: 'Task', toolCallId: callId, target: name, metadata: {} };
    const input = { prompt: this.#words(), subagent_type: name };
    const called = this.#made({
      type: 'agent:tool_call',
      messageId: `m-${callId}`,
      data: { ...call, input },
    });
    yield called;
    const data = { name, languageModel: 'model-a' };
    yield this.#made({ type: 'agent:created', agentId, cause: called.id, data });
    const source = { kind: 'agent' as const, agentId: 'main' };
    yield this.#made({ type: 'user:message', agentId, data: { text: this.#words(), source } });
    const left = Math.floor((length - 5 * agents) / agents / 5);
    this.#open.push({ agentId, callId, left, said: null });
  }

  *#work(agent: OpenAgent): Generator<Made> {
    const { agentId } = agent;
    agent.left -= 1;
    const of = { agentId, messageId: `m-${this.#number}` };
    yield this.#made({ type: 'agent:thinking', ...of, data: { text: this.#words() } });
    yield this.#made({ type: 'agent:text', ...of, data: { text: this.#words() } });
    const tool = ['Bash', 'Read', 'Edit', 'Grep'][this.#upTo(4)] ?? '';
    const call = { tool, toolCallId: `c${this.#number}`, target: `step ${this.#number}`, metadata: {} };
    yield this.#made({
      type: 'agent:tool_call',
      ...of,
      data: { ...call, input: { command: this.#words() } },
    });
    const usage = {
      inputTokens: this.#upTo(9_000),
      outputTokens: this.#upTo(400),
      cacheReadTokens: this.#upTo(90_000),
    };
    yield this.#made({
      type: 'agent:inference',
      ...of,
      data: { model: 'model-a', usage, durationMs: 1_200 },
    });
    const status = this.#upTo(37) === 0 ? ('error' as const) : ('completed' as const);
    const data = { ...call, output: this.#words(), status, durationMs: this.#upTo(900) };
    const result = this.#made({ type: 'agent:tool_result', agentId, data });
    yield result;
    if (this.#isBranched && agent.said !== null && this.#upTo(60) === 0) {
      yield this.#made({ type: 'session:rewind', agentId, data: { keptThrough: agent.said } });
      const again = { text: this.#words(), source: { kind: 'user' as const } };
      yield this.#made({ type: 'user:message', agentId, data: again });
    }
    if (this.#upTo(4) === 0) agent.said = result.id;
  }

  #made(event: NewEvent): Made {
    this.#number += 1;
    return { ...event, id: `e${String(this.#number).padStart(6, '0')}` };
  }

  #upTo(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #words(): string {
    return `${this.#number}. ${sentence.repeat(1 + this.#upTo(9))}`;
  }
}

async function write(root: string, role: string, isBranched: boolean): Promise<number> {
  await using store = openDispatchStore(await openStore('store-jsonfile', root));
  const dispatchId = role;
  await using dispatch = await store.beginDispatch(taskDir, { role, dispatchId, fidelity: 'full' });
  let count = 0;
  let batch: NewEvent[] = [];
  for (const event of new Session(isBranched).events()) {
    batch.push(event);
    count += 1;
    if (batch.length < 1_000) continue;
    await dispatch.append(batch);
    batch = [];
  }
  await dispatch.append(batch);
  await dispatch.end({ status: 'completed' });
  return count;
}

interface Taken {
  /** Milliseconds: of the processor, and until the answer is complete. */
  readonly cpu: number;
  readonly elapsed: number;
  /** The most memory that was resident. */
  readonly megabytes: number;
  readonly lines: number;
  /** The hash of the answer. */
  readonly answer: string;
}

/** Prints what its process took, in the last line on standard error. The `maxRSS` of a process counts what the process before it had. */
const counter = `import { readFileSync } from 'node:fs';
process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const resident = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  process._rawDebug(JSON.stringify([(userCPUTime + systemCPUTime) / 1000, resident / 1024]));
});`;

const environment = (folder: string) => ({
  ...process.env,
  ...{ HOME: folder, HANSARD_ROOT: folder, TMPDIR: folder, TZ: 'UTC', NO_COLOR: '1' },
});

function takenBy(command: string, folder: string, args: readonly string[]): Taken {
  const start = process.hrtime.bigint();
  const run = ['--import', join(folder, 'counter.mjs'), command, ...args];
  const { status, stderr, stdout } = spawnSync(process.execPath, run, {
    ...{ encoding: 'utf8', env: environment(folder), maxBuffer: 2 ** 28 },
  });
  const elapsed = microsecondsSince(start) / 1_000;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
  const [cpu, megabytes] = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as [number, number];
  const answer = createHash('sha256').update(stdout).digest('hex');
  return { cpu, elapsed, megabytes, lines: stdout.split('\n').length - 1, answer };
}

/** From the start of the viewer: its first page, which has the last rows, and the agents beside them. */
async function takenByViewer(command: string, folder: string, session: string): Promise<Taken> {
  const start = process.hrtime.bigint();
  const args = [command, 'view', session, '--json'];
  const server = spawn(process.execPath, args, {
    env: environment(folder),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const { address } = JSON.parse(String((await lines.next()).value)) as { address: string };
    const page = await fetch(address, { redirect: 'manual' });
    const cookie = page.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
    const ask = async (path: string) => {
      const place = `/api/d/${encodeURIComponent(taskDir)}/${session}${path}`;
      const answer = await fetch(new URL(place, address), { headers: { cookie } });
      if (!answer.ok) throw new Error(`${place}: ${answer.status}`);
      return answer.text();
    };
    const text = (await Promise.all([ask(''), ask('/rows?last=100&open='), ask('/agents')]))
      .slice(1)
      .join('\n');
    const elapsed = microsecondsSince(start) / 1_000;
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    const [user = 0, system = 0] =
      readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ??
      [];
    return {
      cpu: ((user + system) / ticksPerSecond) * 1_000,
      elapsed,
      megabytes: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024,
      lines: text.split('"position"').length - 1,
      answer: createHash('sha256').update(text).digest('hex'),
    };
  } finally {
    server.kill();
  }
}

const commands: Readonly<Record<string, readonly string[]>> = {
  tree: ['tree', 'SESSION'],
  'show -n 40': ['show', 'SESSION', '-n', '40'],
  'show, first 40': ['show', 'SESSION', '0', '-n', '40'],
  show: ['show', 'SESSION'],
  'usage --by agent': ['usage', 'SESSION', '--by', 'agent'],
};

async function measure(contenders: Readonly<Record<string, string>>): Promise<void> {
  const folder = temporaryFolder('bench-many');
  writeFileSync(join(folder, 'counter.mjs'), counter);
  const samples = new Map<string, Taken[]>();
  for (const session of ['straight', 'branched']) {
    const events = await write(folder, session, session === 'branched');
    console.error(`${session}: ${events} events`);
  }
  // The first round fills Node's cache of compiled code.
  for (let round = 0; round <= rounds; round += 1)
    for (const session of ['straight', 'branched'])
      for (const work of [...Object.keys(commands), 'viewer'])
        for (const [name, command] of Object.entries(contenders)) {
          const args = (commands[work] ?? []).map((arg) => (arg === 'SESSION' ? session : arg));
          const taken =
            work === 'viewer'
              ? await takenByViewer(command, folder, session)
              : takenBy(command, folder, args);
          const key = `${session}, ${work}, ${name}`;
          if (round > 0) samples.set(key, [...(samples.get(key) ?? []), taken]);
        }
  rmSync(folder, { recursive: true });
  for (const [key, taken] of samples) {
    const [session = '', work = '', command = ''] = key.split(/, (?!first)/);
    const of = (figure: 'cpu' | 'elapsed' | 'megabytes') => rounded(median(taken.map((one) => one[figure])));
    const other = samples.get(`${session}, ${work}, ${command === 'built' ? 'other' : 'built'}`);
    report(
      {
        ...{ benchmark: 'many-agents', session, work, command },
        ...{ cpuMs: of('cpu'), elapsedMs: of('elapsed'), megabytes: of('megabytes') },
        ...{ lines: taken[0]?.lines ?? 0 },
        ...(other !== undefined && { isSame: String(other[0]?.answer === taken[0]?.answer) }),
      },
      command === 'built'
        ? [
            { key: 'cpuMs', atMost: 1_000 },
            { key: 'megabytes', atMost: 150 },
          ]
        : [],
    );
  }
}

const built = join(import.meta.dirname, '..', 'apps/harness/dist/bin.js');
if (!existsSync(built)) throw new Error(`${built} does not exist: run \`pnpm build\` first.`);
const [, , other] = process.argv;
await measure({ built, ...(other !== undefined && { other }) });
