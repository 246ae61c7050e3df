import { openDispatchStore } from '@hansard/dispatch';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openSqliteStore } from '@hansard/store-sqlite';
import { answers } from './scripted.ts';

/** Owns a session, and takes its letters until it is killed. */
const [, , kind = '', place = '', taskDir = '', dispatchId = ''] = process.argv;
const provider = kind === 'sqlite' ? openSqliteStore({ path: place }) : openJsonFileStore({ root: place });
const store = openDispatchStore(provider);
await openSession({ store, taskDir, dispatchId, model: answers(), wait: { waitMs: 60_000 } });
process.stdout.write('owned\n');
setInterval(() => {}, 60_000);
