import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { closeAbandonedDispatches, openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type DurableStore, durableStores, recordedIn } from './durable-stores.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const wanted = 1_000;
const pattern = 'canary=canary_[0-9A-Za-z]{36}';

/** Starts a process, and kills it a while after it has printed a number of lines. @returns its lines */
async function killed(
  store: DurableStore,
  cwd: string,
  args: readonly string[],
  lines: number,
  ms: number,
): Promise<string[]> {
  const script = join(import.meta.dirname, 'record-canaries.ts');
  const words = [
    '--conditions=@hansard/source',
    '--disable-warning=ExperimentalWarning',
    script,
    store.name,
    cwd,
    ...args,
  ];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed: string[] = [];
  const ended = once(child, 'close');
  await new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      printed.push(line);
      if (printed.length >= lines) resolve();
    });
    void ended.then(() => resolve());
  });
  await wait(ms);
  child.kill('SIGKILL');
  await ended;
  return printed;
}

/** The places of a store that have one of the texts: paths of files. Case is ignored, because an index folds words. */
function filesWith(cwd: string, texts: readonly string[]): string[] {
  const folded = texts.map((text) => text.toLowerCase());
  return globSync('.projects/**/{*,.*}', { cwd }).filter((file) => {
    const path = join(cwd, file);
    if (!statSync(path).isFile()) return false;
    const bytes = readFileSync(path).toString('latin1').toLowerCase();
    return folded.some((text) => bytes.includes(text));
  });
}

it.each(durableStores)(
  `no byte of the $name store has one of 1,000 secrets after a redaction, however often its writers were killed (HANSARD_SEED=${seed})`,
  { timeout: 240_000 },
  async (store) => {
    using line = await recordedIn(store);
    const { cwd } = line;
    const random = randomFrom(seed);
    const secrets: string[] = [];
    const contents = new Map<string, string>();
    for (let round = 0; secrets.length < wanted; round += 1) {
      const printed = await killed(store, cwd, ['record', String(10_000 * round)], 250, random() * 60);
      for (const [kind, text = '', base64 = ''] of printed.map((one) => one.split(' ')))
        if (kind === 'secret') secrets.push(text);
        else if (kind === 'content') contents.set(text, base64);
    }
    // The last characters: an index can keep the beginning of a word once for several words.
    const endings = secrets.map((secret) => secret.slice(-20));
    const pieces = [...contents.values()].map((base64) => base64.slice(-24));
    expect(filesWith(cwd, endings)).not.toEqual([]);
    expect(filesWith(cwd, pieces)).not.toEqual([]);

    // The damaged event of an accepted loss is kept, beside the file or in rows of its own, and is named.
    const [, damaged = ''] = secrets;
    store.replaceInEvent(cwd, { dispatchId: 'D00000', from: damaged, to: damaged.toUpperCase() });
    {
      const opened = store.open(cwd, { leaseMs: 200 });
      const notice = { id: 'notice', type: 'system:notice', timestamp: '2026-03-01T10:00:00.000Z', data: {} };
      expect(opened.acceptLoss('a/tasks/one', 'D00000', notice as CapturedEvent).damages).toHaveLength(1);
      opened.close();
    }

    for (let kill = 0; kill < 3; kill += 1)
      await killed(store, cwd, ['redact'], 1 + Math.floor(random() * 9), random() * 40);
    {
      await using opened = openDispatchStore(store.open(cwd, { leaseMs: 200 }));
      await closeAbandonedDispatches(opened, 'a/tasks/one');
    }
    const digests = [...contents.keys()].flatMap((sha256) => ['--content', sha256]);
    const removed = await line.hansard('secrets', 'redact', '--yes', ...digests);
    expect([removed.code, removed.err]).toEqual([0, expect.any(String)]);
    const { code, json } = await line.hansard('secrets', 'redact', '--pattern', pattern, '--yes', '--json');
    expect(code).toBe(0);
    const remains = (json() as { remains?: string[] }[]).flatMap((one) => one.remains ?? []);
    const left = filesWith(cwd, [...endings, ...pieces]);
    const unnamed = left.filter((file) => !remains.some((place) => place.includes(file)));
    expect(left).toHaveLength(1);
    expect({ unnamed, secrets: secrets.length >= wanted, contents: contents.size > 30 }).toEqual({
      unnamed: [],
      secrets: true,
      contents: true,
    });
  },
);
