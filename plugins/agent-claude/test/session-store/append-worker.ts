import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createSessionStore } from '../../src/session-store.ts';

/** Appends batches of two entries, one with a uuid, and says which are stored; ends only by being killed. */
const [root = ''] = process.argv.slice(2);
const store = createSessionStore({ store: openDispatchStore(openJsonFileStore({ root })) });
for (let n = 0; ; n += 1) {
  await store.append({ projectKey: 'project', sessionId: 'session' }, [
    { type: 'user', uuid: `uuid-${n}`, n },
    { type: 'mode', n },
  ]);
  process.stdout.write(`${n}\n`);
}
