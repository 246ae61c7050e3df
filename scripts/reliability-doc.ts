import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SimulationCounts } from '../plugins/store-jsonfile/test/simulation/simulation.ts';
import { root } from './workspace.ts';

interface Campaign {
  readonly seconds: number;
  readonly date: string;
  readonly commit: string;
  /** What a reader must know to find the commit. */
  readonly note?: string;
  readonly machine: string;
}

type SimulationFigures = Campaign &
  SimulationCounts & { readonly firstSeed: number; readonly schedules: number };

type AttackFigures = Campaign & {
  readonly attack: string;
  readonly store: string;
  readonly figures: Readonly<Record<string, number>>;
  /** The command that repeats the round that failed. */
  readonly failure: string | null;
};

interface PlantedFault {
  readonly store: string;
  readonly fault: string;
  readonly from: 'contract' | 'code';
  readonly seed: number | null;
  readonly steps: number;
}

type LeaseFigures = Campaign & Readonly<Record<string, number>>;

type TruthFigures = Campaign & {
  readonly seeds: number;
  readonly events: number;
  readonly wrong: number;
  readonly compared: Readonly<Record<string, number>>;
};

type TreesFigures = Omit<TruthFigures, 'events'> & { readonly sessions: number; readonly records: number };

const jsonFile = 'plugins/store-jsonfile/test';
const sqlite = 'plugins/store-sqlite/test';
const postgres = 'plugins/store-postgres/test';
const redis = 'plugins/store-redis/test';

type Check = readonly [
  attack: string,
  result: string,
  files: readonly string[],
  campaigns: readonly string[],
];

/** What every run of the tests checks, with the files that check it, and the attacks of the campaign that repeat it. */
export const checks: readonly Check[] = [
  [
    'processes that are killed at any time',
    'the log has every acknowledged event, once and in order',
    [
      `${jsonFile}/processes.test.ts`,
      `${sqlite}/processes.test.ts`,
      `${jsonFile}/conformance-processes.test.ts`,
      `${postgres}/conformance.test.ts`,
      `${redis}/conformance.test.ts`,
    ],
    ['kills', 'races'],
  ],
  [
    'a writer that is stopped for longer than its lease, and continues',
    'its later writes are STORE_LOCKED, and nothing of them is in the log',
    [
      `${jsonFile}/stopped-writers.test.ts`,
      `${sqlite}/lease-processes.test.ts`,
      `${postgres}/conformance.test.ts`,
      `${redis}/conformance.test.ts`,
      'scripts/test/rewrite-attacks.test.ts',
    ],
    ['stopped', 'rewrites'],
  ],
  [
    'a process in another PID namespace',
    'it cannot take a dispatch from a running owner, and can after a lease from one that has exited',
    [`${jsonFile}/pid-namespaces.test.ts`, `${sqlite}/pid-namespaces.test.ts`],
    ['namespaces'],
  ],
  [
    'a file that is cut at any byte; a write-ahead log that is cut at every frame',
    'all acknowledged events are read, or the read is STORE_CORRUPT',
    [`${jsonFile}/torn-tail.test.ts`, `${sqlite}/integrity/cut-log.test.ts`],
    ['cuts'],
  ],
  [
    'flipped bits; lines and rows that are lost, doubled or exchanged',
    'the read is STORE_CORRUPT with the place, or everything that is read is equal',
    [
      `${jsonFile}/integrity/flipped-bits.test.ts`,
      `${sqlite}/integrity/flipped-bits.test.ts`,
      `${sqlite}/integrity/damaged-rows.test.ts`,
    ],
    ['flips'],
  ],
  [
    'a full disk, a file that is moved away, a named pipe, a folder or a link in the place of a file',
    'a coded error that names the place; nothing waits',
    [
      `${sqlite}/full-disk.test.ts`,
      `${sqlite}/moved-file.test.ts`,
      `${jsonFile}/other-programs.test.ts`,
      `${jsonFile}/special-files.test.ts`,
      `${postgres}/server-limits.test.ts`,
    ],
    [],
  ],
  [
    'a database server that is killed, that ends connections or loses answers, that lost acknowledged events, or is a standby',
    'each event is stored once and in order, or the call is STORE_UNAVAILABLE or STORE_CORRUPT; a follower misses nothing',
    [
      `${postgres}/chaos/killed-server.test.ts`,
      `${postgres}/chaos/lost-connections.test.ts`,
      `${postgres}/chaos/writers.test.ts`,
      `${postgres}/server-limits.test.ts`,
      `${redis}/chaos/chaos.test.ts`,
    ],
    ['answers', 'connections', 'servers', 'tails', 'openings', 'listeners'],
  ],
  [
    'a system call that fails (`EIO`, `EMFILE`, a full disk, a short write), each one of a method in turn; a loss of power between calls',
    'an append is whole or missing and can be repeated, no dispatch stays locked, and with durability `disk` everything acknowledged is read',
    [`${jsonFile}/conformance-processes.test.ts`, `${jsonFile}/conformance-power.test.ts`],
    [],
  ],
  [
    'each statement on each table of PostgreSQL, with absurd values, by a stolen writer or reader',
    'no history is changed, and none is locked: others claim, append and read as before',
    [`${postgres}/roles.test.ts`],
    [],
  ],
  [
    '1,000 secrets in events, titles, task records, contents and letters, whose writers and whose redaction are killed',
    'after the redaction no byte of the store has one, or the place is named',
    ['apps/harness/test/redaction-canaries.test.ts', `${postgres}/remains.test.ts`],
    [],
  ],
];

/** `docs/reliability.md`: the checks, and the figures of the campaigns. */
export function reliabilityDoc(): string {
  return [
    '# Reliability',
    '',
    '<!-- Generated by `pnpm docs:reliability` from the figures in `scripts/campaigns`. -->',
    '',
    ...acknowledged(),
    '',
    '## Ten attacks',
    '',
    'Each row is one promise. Every run of the tests checks it, on a machine without a network or your own database server: `pnpm vitest run FILE` repeats one row. The campaign',
    'repeats the attacks with more rounds and other seeds: `pnpm campaign:reliability --only NAME`. It ends at the first acknowledged event that is lost or duplicated, at the first incomplete batch,',
    'or at the first silent damage. It then prints the command that repeats the failure.',
    '',
    '| attack | what holds | check it | last campaign |',
    '|---|---|---|---|',
    ...checks.map(
      ([attack, result, files, campaigns]) =>
        `| ${[attack, result, files.map(link).join(', '), lastCampaigns(campaigns)].join(' | ')} |`,
    ),
    '',
    ...Object.entries(attackTexts).map(([name, text]) => `- **${name}**: ${text}`),
    '',
    'All figures of the campaign, with their commit and machine, are in `scripts/campaigns/reliability.json`. Whether the tests would notice a broken store is tested, too: stores that are broken on purpose each fail the case',
    `of the kit that names their fault (${brokenStores.map(link).join(', ')}).`,
    '',
    ...simulations(),
    ...versionsOfFigures,
    '## Views',
    '',
    '`pnpm campaign:truth` compares every view with random sessions whose true course is known (parallel agents, repeated texts, whispers, hooks,',
    'sub-agents, compactions, resumes). The tests do the same for 300 sessions. With `--concurrent` (rows *at once*), several threads use each session while people, also in another',
    'process, answer calls and write, hooks allow, alter and reject, and others stop, go back, spend budgets, close, load and kill it; models, readers, forks and calls are compared.',
    '',
    ...truthTable(),
    '',
    '## Trees and copies',
    '',
    '`pnpm campaign:trees` compares what is read of random sessions of Claude Code with what their writer knows: rewinds to any entry, returns to branches that were left,',
    'second programs, compactions, sub-agents and forks of them, late records, and eight kinds of copies, all of them together. The files are imported while they grow, in a',
    'random order. The tests do the same for 24 seeds, and find 31 faults that are planted in six packages.',
    '',
    ...treesTable(),
    '',
  ].join('\n');
}

function simulations(): string[] {
  return [
    '## Simulation',
    '',
    'Several processes run `store-jsonfile` on a simulated disk. A step is one system call. A seed decides which process makes the next step,',
    'which call fails or is short, which process is stopped, continues or crashes, how the clocks run, and when the power is lost. A loss of power leaves',
    'any of the sectors that were not synced. The bytes of every dispatch are checked after each change, every read and every claim when it',
    'ends: nothing acknowledged is lost, doubled or out of order, no batch is half there, a running owner keeps its claim, and what was',
    'refused is not in the log. The processes also rewrite, redact and delete dispatches, accept losses, write task records (also those of a newer',
    'version), list, search, follow, watch, send and take letters, make envelopes that outgrow their place, and copy the folder while others write. A second',
    'oracle judges each result by the contract alone: it knows what each call was given and returned, and which calls overlapped. A seed that breaks a',
    'promise prints its shortest schedule. Another test gives each process a cache of the facts about files, as a network file system does: a lease above the time of the cache loses',
    'nothing, a lease below it does, and no lease is enough if the cache also keeps that a file is missing. The tests run 80,000 steps, and the seeds of the planted faults below that the tests of SQLite do not run.',
    '`pnpm campaign:simulation` ran, without a broken promise:',
    '',
    ...simulationTable(),
    '',
    'Before the processes made the calls from rewrites on, 100,001,599 steps broke no promise (50,000,784 with `process` at e08ff9e, 50,000,815 with `disk` at 09d9103).',
    '',
    '### SQLite and PostgreSQL',
    '',
    'Several simulated processes open one real database of `store-sqlite`. A step is one statement, or one look at a clock. A seed decides when a process is',
    'interrupted in a call, stopped or killed, starts again on another host, boot or namespace, breaks a claim or deletes a dispatch, when a statement fails, and how the',
    'clocks run. After each turn, SQL that shares nothing with the store reads the tables: each change is that of the call that had its turn,',
    'made with a claim, whole and in order; a claim is taken only from an owner that has exited or was idle for a whole lease, and not refused when it is free;',
    'each result agrees with the tables. A process that is interrupted continues after those that were started since have ended their calls,',
    'and power is not lost (the tests of the write-ahead log cut it). The processes make the same calls as those of the file store, and the same oracle',
    'judges them. The tests run 50,000 steps, and the seeds of the planted faults below. Another test cuts each call before and after each of its statements, and',
    'fails each with a full and a failing disk.',
    '',
    'Several simulated processes share the tables of `store-postgres` on a real server. A step is one statement of one of their connections, which the server runs. A seed',
    'decides which process sends its next statement, so that transactions overlap and wait for the locks of each other. It also decides when a process is stopped or killed, when a',
    'connection ends before a statement or loses its reply, and when the server refuses one. SQL that shares nothing with the store reads the tables after each commit, with the same',
    'rules for claims and appends, and the same oracle judges the results. Listeners look at intervals here; another test covers notifications. The tests run 2,500 steps. Another test',
    'cuts each call before and after each of its statements, loses each reply once, and lets the server refuse each. `pnpm campaign:leases` ran without a broken promise:',
    '',
    ...leaseTable(),
    '',
    '### Planted faults',
    '',
    ...plantedFaults(),
    '',
  ];
}

const versionsOfFigures = [
  '## Versions of the figures',
  '',
  'The figures of a campaign state their version: the edition of the campaign, the release of the packages, and the version of the contracts. A test compares them with the code, and',
  'names the campaign to run where they differ. The edition of a campaign grows when the campaign does something else, or when a store has a new format. A release and a new version of the',
  'contracts ask for new figures of every campaign. A commit between two releases asks for none: the commit beside the figures says which sources they are of.',
  '',
];

function simulationTable(): string[] {
  const figures = read<Record<string, SimulationFigures>>('simulation.json');
  const names = Object.keys(figures);
  const row = (name: string, value: (one: SimulationFigures) => string) =>
    `| ${[name, ...names.map((key) => value(figures[key] as SimulationFigures))].join(' | ')} |`;
  const numbers: readonly (readonly [string, keyof SimulationCounts | 'schedules'])[] = [
    ['schedules', 'schedules'],
    ['steps', 'steps'],
    ['calls of the store', 'operations'],
    ['acknowledged events', 'acknowledged'],
    ['refused calls', 'refused'],
    ['dispatches taken from a running owner', 'takeovers'],
    ['crashes', 'crashes'],
    ['failing system calls', 'faults'],
    ['checked reads', 'reads'],
    ['rewrites', 'rewrites'],
    ['deletions', 'deletions'],
    ['listings', 'listings'],
    ['searches', 'searches'],
    ['inboxes that were taken', 'letters'],
    ['copies of the folder', 'copies'],
  ];
  return [
    `| durability | ${names.join(' | ')} |`,
    `|---|${names.map(() => '--:|').join('')}`,
    ...numbers.map(([name, key]) => row(name, (one) => count(one[key]))),
    row('seconds', ({ seconds }) => count(seconds)),
    row('run', runOf),
  ];
}

/** The most steps with one setting that the tests run. */
const stepsOfTests: Readonly<Record<string, number>> = { jsonfile: 40_000, sqlite: 50_000, postgres: 2_500 };

function plantedFaults(): string[] {
  const rows = read<readonly PlantedFault[]>('planted-faults.json');
  const size = ({ store, steps }: PlantedFault) =>
    steps <= (stepsOfTests[store] ?? 0) ? 'tests' : 'campaign';
  return [
    'Each fault is a store that breaks one promise. Those from the contract were planted from `docs/contract.md` alone, before the simulation made the calls that are',
    'named above; it then found 8 of these 21 in the file store and 12 in SQLite, in the size that the tests had. Those from the code are changes of the store. PostgreSQL had no',
    'such simulation then. A row',
    'says which seed finds the fault now, in how many steps, and whether these are within the size of the tests or of the campaign.',
    '',
    '| fault | planted from | store | found by | size |',
    '|---|---|---|---|---|',
    ...rows.map((row) => {
      const found = row.seed === null ? 'not found' : `seed ${row.seed}, ${count(row.steps)} steps`;
      return `| ${[row.fault, row.from, row.store, found, row.seed === null ? count(row.steps) : size(row)].join(' | ')} |`;
    }),
  ];
}

/** What a campaign does to a store, by the name that `--only` takes. */
const attackTexts: Readonly<Record<string, string>> = {
  kills:
    'a process is killed with SIGKILL while it appends, changes an envelope or creates dispatches. All that it acknowledged is read, at most one more batch, and each whole.',
  cuts: 'the file of a killed process is cut at a byte, or the write-ahead log of SQLite. Reads give every whole event and the next claim repairs the file, or they are STORE_CORRUPT if acknowledged events are missing. (A cut of SQLite is read by two dispatches.)',
  flips:
    'one bit flips. Each read is equal to what was written, or STORE_CORRUPT with its place. A flip makes several reads.',
  races:
    'three processes claim, append and release one dispatch as fast as they can. The log is the acknowledged batches, each once and whole, in the order of each process.',
  stopped:
    'a process is stopped (SIGSTOP) past its lease, another one takes its dispatch, and it continues. Each of its writes is STORE_LOCKED, and none is in the log.',
  rewrites:
    'three openings of a store append, claim, release and rewrite in random order, also inside the rewrite of another one, while owners are stopped past their lease and continue. The log is what was acknowledged, and no rewritten text comes back.',
  namespaces:
    'a process in another PID namespace tries to take the dispatch of a running writer. It is refused, and the writer loses nothing.',
  answers:
    'answers of a PostgreSQL server are dropped and their connections reset, so that the store cannot know what was committed. Each event is stored once and in order.',
  connections:
    'the server ends all connections of a store again and again, while it appends to four dispatches.',
  servers:
    'SIGKILL to the process that serves a store, and to the whole server, while it appends. The same open store continues when the server is back.',
  tails:
    'the server loses the last acknowledged events, as a failover may. Appends and reads are STORE_CORRUPT, and nothing is written after the gap.',
  openings: 'twenty stores open a database without tables at once.',
  listeners: 'the connection that listens is ended before an append. The follower sees every event.',
};

const brokenStores = ['mutants', 'damage-mutants', 'fault-mutants'].map(
  (name) => `packages/store-conformance/test/${name}.test.ts`,
);

/** The definition of the contract, word for word. */
function acknowledged(): string[] {
  const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8');
  const [definition = ''] = /^An event is _acknowledged_[\s\S]*?(?=\n\n)/m.exec(contract) ?? [];
  return [
    ...definition.split('\n'),
    '',
    'So a promise about acknowledged events covers:',
    '',
    ...durabilities,
  ];
}

const durabilities = [
  '| `durability` | an acknowledged event survives |',
  '|---|---|',
  '| `process` | the end of the process, by a kill or an error |',
  '| `disk` | also a loss of power and a crash of the machine, and in PostgreSQL a crash of the server; with `replicas` also a failover |',
];

/** Over all stores: how often each attack was made, and what was lost or silent. */
function lastCampaigns(attacks: readonly string[]): string {
  const campaigns = Object.values(read<Record<string, AttackFigures>>('reliability.json'));
  const parts = attacks.map((attack) => {
    const made = campaigns.filter((one) => one.attack === attack);
    const rounds = made.reduce((sum, { figures }) => sum + (Object.values(figures)[0] ?? 0), 0);
    const [what = ''] = Object.keys(made[0]?.figures ?? {});
    const failures = made.flatMap(({ failure }) => failure ?? []);
    return `${attack}: ${count(rounds)} ${what}, ${failures.length === 0 ? 'nothing lost or silent' : failures.join(', ')}`;
  });
  return parts.length === 0 ? 'none: the tests cover it' : parts.join('; ');
}

function leaseTable(): string[] {
  const figures = Object.entries(read<Record<string, LeaseFigures>>('lease-simulation.json'));
  const names =
    'schedules steps calls interruptions blocked acknowledged refused takeovers crashes faults reads seconds';
  const numbers = names.split(' ');
  return [
    `| store | ${numbers.map((name) => (name === 'blocked' ? 'waits for a lock' : name)).join(' | ')} | run |`,
    `|---|${numbers.map(() => '--:|').join('')}---|`,
    ...figures.map(
      ([store, one]) =>
        `| ${[store, ...numbers.map((name) => (one[name] === undefined ? '' : count(one[name]))), runOf(one)].join(' | ')} |`,
    ),
  ];
}

function truthTable(): string[] {
  const figures = Object.entries(read<Record<string, TruthFigures>>('truth.json'));
  return [
    '| store | sessions | events | comparisons | wrong | seconds | run |',
    '|---|--:|--:|--:|--:|--:|---|',
    ...figures.map(([store, one]) => {
      const comparisons = Object.values(one.compared).reduce((sum, number) => sum + number, 0);
      const numbers = [one.seeds, one.events, comparisons, one.wrong, one.seconds].map(count);
      return `| ${[store, ...numbers, runOf(one)].join(' | ')} |`;
    }),
  ];
}

function treesTable(): string[] {
  const one = read<TreesFigures>('trees.json');
  const comparisons = Object.values(one.compared).reduce((sum, number) => sum + number, 0);
  const numbers = [one.seeds, one.sessions, one.records, comparisons, one.wrong, one.seconds].map(count);
  return [
    '| seeds | sessions | records | comparisons | wrong | seconds | run |',
    '|--:|--:|--:|--:|--:|--:|---|',
    `| ${[...numbers, runOf(one)].join(' | ')} |`,
  ];
}

function runOf({ date, commit, note, machine }: Campaign): string {
  return `${date}, ${commit}${note === undefined ? '' : ` (${note})`}, ${machine}`;
}

function count(number: number): string {
  return number.toLocaleString('en');
}

function link(file: string): string {
  const name = file.split('/').slice(1).join('/').replace('/test/', '/').replace('.test.ts', '');
  return `[${name}](../${file})`;
}

function read<T>(name: string): T {
  return JSON.parse(readFileSync(join(root, 'scripts/campaigns', name), 'utf8')) as T;
}
