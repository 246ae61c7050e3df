import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { callToTheEnd } from './call-to-the-end.ts';

/** The calls of a store during one command, and how the command ended. */
export interface CountedCalls {
  readonly code: number;
  readonly err: string;
  readonly ms: number;
  /** The number of calls by the name of the method. */
  readonly calls: Readonly<Record<string, number>>;
  readonly total: number;
}

const key = Symbol.for('hansard: the counted store');
const entry = `export default {
  id: 'counted', provides: 'DispatchStoreProvider', apiVersion: 1,
  create: () => globalThis[Symbol.for('hansard: the counted store')](),
};`;

/** Runs a command on the JSON-file store of a folder, counts its calls, and makes each take `latencyMs`. */
export async function countCalls(cwd: string, args: readonly string[], latencyMs = 0): Promise<CountedCalls> {
  writePlugin(cwd);
  const calls: Record<string, number> = {};
  const open = () => counted(openJsonFileStore({ root: join(cwd, '.projects') }), calls, latencyMs);
  Object.assign(globalThis, { [key]: open });
  const start = performance.now();
  const { code, err } = await callToTheEnd(cwd, [...args, '--config', 'counted.json']);
  const total = Object.values(calls).reduce((sum, count) => sum + count, 0);
  return { code, err, calls, total, ms: performance.now() - start };
}

function writePlugin(cwd: string): void {
  const folder = join(cwd, 'counted');
  const manifest = { id: 'counted', provides: 'DispatchStoreProvider', entry: './index.mjs', apiVersion: 1 };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'index.mjs'), entry);
  writeFileSync(join(cwd, 'counted.json'), JSON.stringify({ store: './counted' }));
}

/** The provider, with every call counted but `close`, and answered later. */
function counted(
  provider: DispatchStoreProvider,
  calls: Record<string, number>,
  latencyMs: number,
): DispatchStoreProvider {
  return new Proxy(provider, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (name === 'close') return call;
      return (...args: unknown[]) => {
        calls[String(name)] = (calls[String(name)] ?? 0) + 1;
        return latencyMs === 0 ? call(...args) : sleep(latencyMs).then(() => call(...args));
      };
    },
  });
}
