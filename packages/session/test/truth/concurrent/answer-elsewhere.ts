import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { openDispatchStore } from '@hansard/dispatch';
import { dispatchId, taskDir } from '../../prepare.ts';
import { Random } from '../random.ts';
import { answerPending } from './persons.ts';
import { openTruthStore, type TruthStore } from './truth-store.ts';

/**
 * Answers the calls that wait in the sessions of stores, in a process of its own: `open PATH` and `close PATH` are its input. Writes each answer before
 * it sends the letter, and the path when it is closed.
 */
const [, , kind = ''] = process.argv;
const random = new Random(1);
const open = new Map<string, Promise<void>>();
const closing = new Set<string>();

async function answerAll(path: string): Promise<void> {
  const store = openDispatchStore(openTruthStore(kind as TruthStore, path));
  const answered = new Set<string>();
  while (!closing.has(path)) {
    await answerPending(store, { taskDir, dispatchId }, { answered, random, by: 'post' }, (answer) =>
      process.stdout.write(`${JSON.stringify({ path, answer })}\n`),
    ).catch(() => {});
    await setTimeout(10);
  }
  await store.close();
}

process.stdout.write('{"path":"","answer":null}\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [what, path = ''] = line.split(' ');
  if (what === 'open') open.set(path, answerAll(path));
  else {
    closing.add(path);
    await open.get(path);
    process.stdout.write(`${JSON.stringify({ path, answer: null })}\n`);
  }
}
// The test is gone.
process.exit();
