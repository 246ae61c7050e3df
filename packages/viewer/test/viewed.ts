import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { onTestFinished } from 'vitest';
import { createViewer } from '../src/index.ts';

export const taskDir = 'lab/tasks/maps';

export function makeRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'hansard-viewer-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

export async function openStore(root = makeRoot()): Promise<DispatchStore> {
  const store = await openDispatchStore(openJsonFileStore({ root }));
  onTestFinished(() => store.close());
  return store;
}

/** A viewer that listens, and a `fetch` that has its cookie. */
export async function startedViewer(store: DispatchStore, create = createViewer) {
  const viewer = create({ store });
  const running = await viewer.start();
  onTestFinished(() => running.close());
  const origin = `http://127.0.0.1:${running.port}`;
  const headers = { cookie: `hansard-${running.port}=${viewer.token}` };
  const get = (path: string, more: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, { headers: { ...headers, ...more }, redirect: 'manual' });
  const json = async (path: string) => (await get(path)).json();
  return { viewer, running, origin, get, json };
}
