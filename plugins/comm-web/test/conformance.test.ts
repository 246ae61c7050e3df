import { openDispatchStore } from '@hansard/dispatch';
import { communicationConformance } from '@hansard/provider-conformance';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, it } from 'vitest';
import { createRunPage } from '../src/index.ts';

/** What the page sends for the dispatch that started last. */
async function post(address: URL, place: string, path: string, body: object): Promise<number> {
  const first = await fetch(address, { redirect: 'manual' });
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const headers = { cookie, origin: address.origin, 'x-hansard': 'page', 'content-type': 'application/json' };
  const url = `${address.origin}/api/d/${place}/${path}`;
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status;
}

communicationConformance.define({
  name: 'comm-web',
  describe,
  it,
  scenarios: ['delivers', 'aborts'],
  create: () => {
    const store = openDispatchStore(createMemoryStore());
    let address = new URL('http://127.0.0.1:1');
    let latest = '';
    return {
      provider: createRunPage({
        announce: (announced) => {
          address = new URL(announced);
        },
      }),
      store,
      record: async (taskDir, { dispatchId, role }, events) => {
        const dispatch = await store.beginDispatch(taskDir, { dispatchId, role, fidelity: 'full' });
        await dispatch.append(events);
        latest = [taskDir, dispatchId].map(encodeURIComponent).join('/');
      },
      write: (text) => post(address, latest, 'message', { text }),
      stop: () => post(address, latest, 'abort', {}),
      dispose: () => store.close(),
    };
  },
});
