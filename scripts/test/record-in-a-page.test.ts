import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { openBrowser } from '../engines/browser.ts';
import { root } from '../workspace.ts';

/** Records a session with text, a call and an image into memory, and reads it back. */
const program = `
import { openDispatchStore } from '@hansard/dispatch/record';
import { newEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';

export async function record() {
  const store = openDispatchStore(createMemoryStore());
  const dispatch = await store.beginDispatch('lab/tasks/one', { role: 'writer', fidelity: 'full' });
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoA'.repeat(90) };
  const image = { type: 'image', source };
  const call = { toolCallId: 'c1', tool: 'look', metadata: {} };
  await dispatch.append(newEvent('agent:text', { text: 'Grüße ✓' }, { id: 'e1' }));
  await dispatch.append(newEvent('agent:tool_call', { ...call, input: { at: [1, { x: null }] } }, { id: 'e2' }));
  await dispatch.append(newEvent('agent:tool_result', { ...call, status: 'completed', output: [image] }, { id: 'e3' }));
  await dispatch.end({ status: 'completed' });
  const events = await store.getDispatchEvents('lab/tasks/one', dispatch.dispatchId);
  const [content] = events.filter(({ type }) => type === 'content:stored');
  const log = await store.openDispatch('lab/tasks/one', dispatch.dispatchId);
  const base64 = await log.readContent(content.id);
  const { status, usage } = await store.getDispatchEnvelope('lab/tasks/one', dispatch.dispatchId);
  await store.close();
  const timeless = events.map(({ timestamp, ...event }) => event);
  return { events: timeless, base64, status, usage };
}`;

async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: join(root, 'packages/session'), sourcefile: 'program.js' },
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'recording',
    // An import of \`node:\` that is left is an error.
    platform: 'browser',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

describe('a session that is recorded into memory', () => {
  it('is the same in Node, in a page of Chromium, in a worker of the page and in a worker without Node', async () => {
    const code = await bundled();
    const here = await (
      new Function(`${code}; return recording;`)() as { record(): Promise<unknown> }
    ).record();
    expect(here).toMatchObject({ status: 'completed', events: expect.any(Array) });
    const { events } = here as { events: { type: string }[] };
    expect(events.map(({ type }) => type)).toEqual([
      ...['agent:text', 'agent:tool_call', 'content:stored', 'agent:tool_result'],
    ]);
    await using browser = await openBrowser();
    const page = await browser.newPage();
    await page.goto('about:blank');
    expect(await page.evaluate(`${code}; recording.record()`)).toEqual(here);
    const inWorker = `(async () => {
      const code = ${JSON.stringify(`${code}; recording.record().then((all) => postMessage(all), (error) => postMessage(String(error)));`)};
      const worker = new Worker(URL.createObjectURL(new Blob([code])));
      return new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = ({ message }) => resolve(message); });
    })()`;
    expect(await page.evaluate(inWorker)).toEqual(here);
    const withoutNode = `delete globalThis.process; delete globalThis.Buffer; const { parentPort } = require('node:worker_threads');
      ${code}; recording.record().then((all) => parentPort.postMessage(all), (error) => parentPort.postMessage(String(error)));`;
    const worker = new Worker(withoutNode, { eval: true });
    expect((await once(worker, 'message'))[0]).toEqual(here);
    await worker.terminate();
  });
});
