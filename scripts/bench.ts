/**
 * `pnpm bench` prints the figures of the benchmarks. `pnpm bench COMMIT [NAME…]` compares them with an older commit: it makes a worktree
 * of that commit, runs each benchmark in both in turns, and prints what became slower than 1.1.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchmarkResult, findSlower } from './compare-benchmarks.ts';
import { runPnpm } from './running-pnpm.ts';
import { root } from './workspace.ts';

const names = [
  'append',
  'batches',
  'fold',
  'sqlite-integrity',
  'listings',
  'reads',
  'sessions',
  'session-appends',
  'live-streams',
  'causes',
  'context',
  'import',
  'import-again',
  'exports',
  'training',
  'memory',
];
const pairs = 9;
const slowest = 1.1;

const argumentsOf = (name: string): string[] => [
  '--conditions=@hansard/source',
  '--expose-gc',
  `benchmarks/${name}.ts`,
];

const [commit, ...only] = process.argv.slice(2);
if (commit === undefined)
  for (const name of names) execFileSync(process.execPath, argumentsOf(name), { stdio: 'inherit' });
else compare(commit, only.length === 0 ? names : only);

function compare(older: string, compared: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-bench-'));
  const worktree = join(folder, 'older');
  execFileSync('git', ['worktree', 'add', '--detach', worktree, older], { cwd: root, stdio: 'ignore' });
  try {
    runPnpm(worktree, ['install', '--frozen-lockfile', '--prefer-offline']);
    for (const name of compared) compareOne(name, worktree);
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', worktree], { cwd: root });
    rmSync(folder, { recursive: true });
  }
}

function compareOne(name: string, worktree: string): void {
  if (!existsSync(join(worktree, 'benchmarks', `${name}.ts`))) {
    console.log(`${name}: the older commit does not have it.`);
    return;
  }
  const [before, now]: [BenchmarkResult[][], BenchmarkResult[][]] = [[], []];
  for (let pair = 0; pair < pairs; pair += 1) {
    const turns = [() => before.push(run(name, worktree)), () => now.push(run(name, root))];
    for (const turn of pair % 2 === 0 ? turns : turns.reverse()) turn();
  }
  const slower = findSlower(before, now, slowest);
  for (const { what, figure, ratio, ...values } of slower)
    console.log(`${what}: ${figure} ${values.before} → ${values.now}, ${ratio.toFixed(2)} times`);
  if (slower.length === 0) console.log(`${name}: nothing is slower than ${slowest} times.`);
}

function run(name: string, cwd: string): BenchmarkResult[] {
  const printed = execFileSync(process.execPath, argumentsOf(name), { cwd, encoding: 'utf8' });
  return printed.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
}
