import { openDispatchStore, startDispatch } from '@hansard/dispatch';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { randomFrom } from '@hansard/testing';
import { randomWork } from './random-work.ts';
import { sessionOptions } from './scripted-session.ts';

/** Starts runs and sessions, and is killed when all of them have spent something and none has ended. */
const [, , root = '', taskDir = '', seed = ''] = process.argv;
const random = randomFrom(Number(seed));
const store = openDispatchStore(openJsonFileStore({ root }));

for (let number = 0; number < 8; number += 1) {
  const atWork = Promise.withResolvers<void>();
  const parent = number === 0 ? {} : { parentDispatchId: 'D0' };
  await startDispatch({
    store,
    taskDir,
    role: 'worker',
    dispatchId: `D${number}`,
    ...parent,
    agent: {
      contract: 1,
      async *run() {
        for (const event of randomWork(random)) yield { kind: 'event', event };
        atWork.resolve();
        await new Promise(() => {});
      },
    },
  });
  await atWork.promise;
}
for (let number = 0; number < 4; number += 1) {
  const session = await openSession(sessionOptions(store, taskDir, `S${number}`, random));
  await session.root.harken('What do we do?');
  await session.root.response();
  await session.root.harken('And then?');
}
process.kill(process.pid, 'SIGKILL');
