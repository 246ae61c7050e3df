import { openSession } from '@hansard/session';
import { type LetterStore, openLetterStore } from './letter-store.ts';
import { answers } from './scripted.ts';

/** Owns a session, and takes its letters until it is killed. */
const [, , kind = '', place = '', taskDir = '', dispatchId = ''] = process.argv;
const store = await openLetterStore(kind as LetterStore, place);
await openSession({ store, taskDir, dispatchId, model: answers(), wait: { waitMs: 60_000 } });
process.stdout.write('owned\n');
setInterval(() => {}, 60_000);
