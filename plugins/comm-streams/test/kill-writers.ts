import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Cast, createGameStreams, specifiedStreams, streamText } from '@hansard/datasets';
import { openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { sessionFormats } from '@hansard/formats';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { canaryGame, canaryMapping } from '@hansard/testing';

export interface KilledWriters {
  /** The processes that were killed while they wrote. */
  kills: number;
  /** The files that had a torn last line after a kill. */
  torn: number;
  games: number;
  /** What was wrong, in words. */
  readonly wrong: string[];
}

const taskDir = 'village/tasks/game';
const dispatchId = '01J0000000000000000000000A';

/** Plays games whose processes are killed again and again, and compares the files with the whole log after each kill and at the end. */
export async function killWriters(wanted: number, random: () => number): Promise<KilledWriters> {
  const result: KilledWriters = { kills: 0, torn: 0, games: 0, wrong: [] };
  while (result.kills < wanted) {
    result.games += 1;
    await killInGame(wanted, random, result);
  }
  return result;
}

async function killInGame(wanted: number, random: () => number, result: KilledWriters): Promise<void> {
  const seed = Math.floor(random() * 1_000_000);
  const folder = mkdtempSync(join(tmpdir(), 'hansard-live-'));
  const { events } = canaryGame(seed);
  const expected = filesOf(events);
  try {
    for (let acknowledged = 0; ; ) {
      const writer = new Writer(folder, seed);
      const isLast = result.kills >= wanted;
      const steps = isLast ? events.length : 1 + Math.floor(random() * 30);
      acknowledged = await writer.play(steps, isLast || acknowledged + steps > events.length);
      const stored = await countStored(folder);
      if (stored < acknowledged)
        result.wrong.push(`seed ${seed}: ${acknowledged} acknowledged, ${stored} stored`);
      const isWhole = writer.hasEnded;
      if (!isWhole) result.kills += 1;
      for (const [stream, whole] of expected) {
        const text = readText(join(folder, 'streams', taskDir, dispatchId, `${stream}.jsonl`));
        const lines = text.slice(0, text.lastIndexOf('\n') + 1);
        if (lines.length < text.length) result.torn += 1;
        if (isWhole ? text !== whole : !whole.startsWith(text))
          result.wrong.push(
            `seed ${seed}: ${stream} after ${acknowledged} events, ${isWhole ? 'ended' : 'killed'}`,
          );
      }
      if (isWhole) return;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Holds a session of several agents that speak at once, and kills its process again and again. Compares the session logs with the log in the
 * store: after each kill with its beginning, and at the end with all of it.
 */
export async function killSession(kills: number, random: () => number): Promise<KilledWriters> {
  const result: KilledWriters = { kills: 0, torn: 0, games: 1, wrong: [] };
  const folder = mkdtempSync(join(tmpdir(), 'hansard-live-'));
  const seed = Math.floor(random() * 1_000_000);
  try {
    for (let isWhole = false; !isWhole; ) {
      const writer = new Writer(folder, seed, 'written-session');
      isWhole = result.kills >= kills;
      await writer.play(isWhole ? 2 : 1 + Math.floor(random() * 4), isWhole);
      if (!isWhole) result.kills += 1;
      const events = await storedEvents(folder);
      for (const { id: format, write } of Object.values(sessionFormats)) {
        const text = readText(join(folder, 'streams', taskDir, dispatchId, `${format}.jsonl`));
        const whole = write(events).text;
        if (!text.endsWith('\n')) result.torn += 1;
        if (isWhole ? text !== whole : !whole.startsWith(text))
          result.wrong.push(`seed ${seed}: ${format} after ${result.kills} kills, ${events.length} events`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return result;
}

/** A process that writes a game, or holds a session. */
class Writer {
  readonly #process: ChildProcessWithoutNullStreams;
  hasEnded = false;
  #problem = '';

  constructor(folder: string, seed: number, name: 'written-game' | 'written-session' = 'written-game') {
    const script = join(import.meta.dirname, `${name}.ts`);
    const places = [join(folder, 'store'), join(folder, 'streams'), `${seed}`];
    this.#process = spawn(process.execPath, ['--conditions=@hansard/source', script, ...places]);
    this.#process.stdin.on('error', () => {});
    this.#process.stderr.on('data', (text) => {
      this.#problem += text;
    });
  }

  /** Kills it when it has acknowledged some events, unless the game ends. Returns how many events it has acknowledged. */
  async play(steps: number, toEnd: boolean): Promise<number> {
    const exit = once(this.#process, 'exit');
    let acknowledged = 0;
    let begun: number | null = null;
    for await (const line of createInterface({ input: this.#process.stdout })) {
      acknowledged = Number(line);
      if (begun === null) {
        begun = acknowledged;
        // Some more than it is waited for, so that it is killed while it writes.
        this.#process.stdin.write('\n'.repeat(toEnd ? steps : steps + 20));
        if (toEnd) this.#process.stdin.end();
      }
      if (!toEnd && acknowledged - begun >= steps) this.#process.kill('SIGKILL');
    }
    const [code] = await exit;
    if (code !== 0 && code !== null) throw new Error(`The writer failed: ${this.#problem}`);
    this.hasEnded = code === 0;
    return acknowledged;
  }
}

async function countStored(folder: string): Promise<number> {
  return (await storedEvents(folder)).length;
}

async function storedEvents(folder: string): Promise<readonly CapturedEvent[]> {
  const store = openDispatchStore(openJsonFileStore({ root: join(folder, 'store') }));
  try {
    const found = await store.findDispatch({ taskDir, dispatchId });
    return found === null ? [] : await store.getDispatchEvents(taskDir, dispatchId);
  } finally {
    await store.close();
  }
}

/** The whole files of a game, by a reading of the whole log. The tests of `@hansard/formats` compare session logs with what was played. */
function filesOf(events: readonly CapturedEvent[]): Map<string, string> {
  const cast = new Cast(canaryMapping);
  for (const event of events) cast.observe(event);
  const streams = createGameStreams(canaryMapping, { runId: dispatchId, cast });
  const files = new Map<string, string>(specifiedStreams.map((stream) => [stream, '']));
  for (const line of [...events.flatMap((event) => streams.add(event)), ...streams.finish()])
    files.set(line.stream, (files.get(line.stream) ?? '') + (streamText(line) ?? ''));
  files.delete('whispers');
  for (const { id, write } of Object.values(sessionFormats)) files.set(id, write(events).text);
  return files;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It was killed before it made its files.
    return '';
  }
}
