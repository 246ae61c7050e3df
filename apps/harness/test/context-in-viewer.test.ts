import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { renderContext } from '@hansard/prompt';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createViewer } from '@hansard/viewer';
import { expect, it } from 'vitest';
import { commandLine } from './command-line.ts';

const taskDir = 'cafe/tasks/menu';

/** A call with a manifest that is right, one with another hash, and one without any. */
async function called(store: ReturnType<typeof openDispatchStore>, dispatchId: string) {
  const fidelity = dispatchId === 'N1' ? 'narrative' : 'full';
  const dispatch = await store.beginDispatch(taskDir, { role: 'waiter', dispatchId, fidelity });
  await dispatch.append({
    type: 'user:message',
    data: { text: 'Page 1, please.', source: { kind: 'user' } },
  });
  const { manifest } = renderContext(await store.getDispatchEvents(taskDir, dispatchId));
  const contexts = [{ context: manifest }, { context: { ...manifest, hash: 'sha256:00', messages: 9 } }, {}];
  await dispatch.append(
    contexts.map((context) => {
      const data = { model: 'm', usage: { inputTokens: 1, outputTokens: 1 }, durationMs: 5, ...context };
      return { type: 'agent:inference', data } as unknown as NewEvent;
    }),
  );
  await dispatch.end({ status: 'completed' });
}

it('says of a context on the page what the command says with --verify', async () => {
  using line = commandLine();
  await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  await called(store, 'D1');
  await called(store, 'N1');
  const viewer = createViewer({ store });
  const running = await viewer.start();
  try {
    const answer = async (dispatchId: string, call: number) => {
      const path = `/api/d/${encodeURIComponent(taskDir)}/${dispatchId}/context/${call}`;
      const headers = { cookie: `hansard-${running.port}=${viewer.token}` };
      const response = await fetch(`http://127.0.0.1:${running.port}${path}`, { headers });
      return (await response.json()) as { verification: { isSame: boolean | null; text: string } };
    };
    for (const [dispatchId, call, isSame] of [
      ['D1', 1, true],
      ['D1', 2, false],
      ['D1', 3, null],
      ['N1', 1, null],
    ] as const) {
      const { verification } = await answer(dispatchId, call);
      expect([dispatchId, call, verification.isSame]).toEqual([dispatchId, call, isSame]);
      const said = await line.hansard('context', `cafe/menu/${dispatchId}`, String(call), '--verify');
      expect(said.code).toBe(isSame === true ? 0 : 1);
      expect(isSame === true ? said.out.trim() : said.err).toContain(verification.text);
    }
  } finally {
    await running.close();
  }
});
