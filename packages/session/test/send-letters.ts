import { createInterface } from 'node:readline';
import { type LetterStore, openLetterStore } from './letter-store.ts';

/** Sends a letter for each line of its input, and answers with its number when it is acknowledged, until it is killed. */
const [, , kind = '', place = '', taskDir = '', dispatchId = '', sender = '', first = '0'] = process.argv;
const store = await openLetterStore(kind as LetterStore, place);
process.stdout.write('ready\n');
let number = Number(first);
for await (const _ of createInterface({ input: process.stdin })) {
  const from = `letter_${sender}_${String(number).padStart(6, '0')}`;
  await store.sendLetter({ taskDir, dispatchId }, { text: `sender ${sender}, letter ${number}`, from });
  process.stdout.write(`${number}\n`);
  number += 1;
}
await store.close();
