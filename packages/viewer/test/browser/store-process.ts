/**
 * Writes or shows a dispatch of a store as a process of its own: `store-process.ts write|view STORE [PORT]`, with the store as JSON.
 *
 * `write` begins the dispatch, appends as many events as each line of its standard input says, and answers with the count of all.
 * `view` prints the port of the viewer; its token is `tokenOfTest`.
 */
import { createInterface } from 'node:readline';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openPostgresStore } from '@hansard/store-postgres';
import { openSqliteStore } from '@hansard/store-sqlite';
import { builtViewer } from './built-viewer.ts';
import { dispatchId, type StoreOfTest, taskDir, tokenOfTest } from './store-of-test.ts';

/** As `hansard view` opens it for a page. */
const retryMs = 2_000;

async function openProvider(store: StoreOfTest): Promise<DispatchStoreProvider> {
  if (store.kind === 'jsonfile') return openJsonFileStore({ root: store.root });
  if (store.kind === 'sqlite') return openSqliteStore({ path: store.path });
  return openPostgresStore({ url: store.url, schema: store.schema });
}

async function write(store: DispatchStore): Promise<void> {
  const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId, title: 'Map' });
  for await (const line of createInterface({ input: process.stdin })) {
    const first = await dispatch.count();
    const texts = Array.from({ length: Number(line) }, (_, at): NewEvent => {
      return { type: 'agent:text', agentId: 'a1', data: { text: `text ${first + at}` } };
    });
    await dispatch.append(texts);
    process.stdout.write(`${first + texts.length}\n`);
  }
  await dispatch.end({ status: 'completed' });
  await store.close();
}

async function view(store: DispatchStore, port: number): Promise<void> {
  const { createViewer } = await builtViewer();
  const running = await createViewer({ store, token: tokenOfTest }).start({ port });
  process.stdout.write(`${running.port}\n`);
}

const [role, given = '{}', port = '0'] = process.argv.slice(2);
const provider = await openProvider(JSON.parse(given) as StoreOfTest);
if (role === 'write') await write(openDispatchStore(provider));
else await view(openDispatchStore(provider, { retryMs }), Number(port));
