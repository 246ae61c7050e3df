import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** What `ccusage` counts for one day and model. */
export interface CountedUsage {
  readonly day: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly usd: number;
}

interface Breakdown {
  readonly modelName: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreationTokens: number;
  readonly cost: number;
}

/**
 * The program of the npm package `ccusage` for this machine; null where it is not installed. `pnpm test` installs it into this
 * folder.
 */
export function findCcusage(): string | null {
  try {
    const manifest = createRequire(import.meta.url).resolve('ccusage/package.json');
    createRequire(manifest).resolve(`@ccusage/ccusage-${process.platform}-${process.arch}/package.json`);
    const cli = join(dirname(manifest), 'src/cli.js');
    return existsSync(cli) ? cli : null;
  } catch {
    return null;
  }
}

/**
 * Counts the transcripts below `config/projects` by day in UTC and by model, from their tokens and its own price table. It
 * runs without network, with a home of its own in `home`.
 */
export async function countWithCcusage(cli: string, config: string, home: string): Promise<CountedUsage[]> {
  const args = ['claude', 'daily', '--breakdown', '--mode', 'calculate'];
  const answer = await runCcusage(cli, args, { CLAUDE_CONFIG_DIR: config }, home);
  const { daily } = answer as { daily: { date: string; modelBreakdowns: Breakdown[] }[] };
  return daily.flatMap(({ date: day, modelBreakdowns }) =>
    modelBreakdowns.map(({ modelName: model, cacheCreationTokens, cost: usd, ...tokens }) => ({
      day,
      model,
      inputTokens: tokens.inputTokens,
      outputTokens: tokens.outputTokens,
      cacheReadTokens: tokens.cacheReadTokens,
      cacheWriteTokens: cacheCreationTokens,
      usd,
    })),
  );
}

/** Counts the threads of Codex below `folder/sessions` in the same way. */
export async function countCodexWithCcusage(
  cli: string,
  folder: string,
  home: string,
): Promise<Omit<CountedUsage, 'usd'>[]> {
  const answer = await runCcusage(cli, ['codex', 'daily'], { CODEX_HOME: folder }, home);
  const { daily } = answer as { daily: { date: string; models: Record<string, Omit<Breakdown, 'cost'>> }[] };
  return daily.flatMap(({ date: day, models }) =>
    Object.entries(models).map(([model, { cacheCreationTokens: cacheWriteTokens, ...tokens }]) => ({
      day,
      model,
      inputTokens: tokens.inputTokens,
      outputTokens: tokens.outputTokens,
      cacheReadTokens: tokens.cacheReadTokens,
      cacheWriteTokens,
    })),
  );
}

/** What it counts for each five-hour block with use, by its beginning, as `countWithCcusage` runs it. */
export async function countBlocksWithCcusage(
  cli: string,
  config: string,
  home: string,
): Promise<Record<string, number[]>> {
  const answer = await runCcusage(cli, ['blocks'], { CLAUDE_CONFIG_DIR: config }, home);
  const { blocks } = answer as {
    blocks: { startTime: string; isGap: boolean; tokenCounts: Record<string, number> }[];
  };
  const used = blocks.filter(({ isGap }) => !isGap);
  return Object.fromEntries(
    used.map(({ startTime, tokenCounts: of }) => [
      startTime,
      [of.inputTokens, of.outputTokens, of.cacheReadInputTokens, of.cacheCreationInputTokens].map(
        (one) => one ?? 0,
      ),
    ]),
  );
}

async function runCcusage(
  cli: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  home: string,
): Promise<unknown> {
  mkdirSync(home, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', TZ: 'UTC', ...variables };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [cli, ...args, '--json', '--offline', '-z', 'UTC'],
    { env, cwd: home, maxBuffer: 64 * 1024 * 1024 },
  );
  return JSON.parse(stdout);
}
