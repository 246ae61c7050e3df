import { afterAll, expect, it } from 'vitest';
import { storeNames } from '../campaigns/reliability/attack.ts';
import { rewrites } from '../campaigns/reliability/rewrite-attacks.ts';
import { stopServer } from '../campaigns/reliability/server-attacks.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));

afterAll(stopServer);

it.each(storeNames)(
  'store-%s holds exactly what was acknowledged after 20 random schedules with rewrites and overtaken owners',
  { timeout: 60_000 },
  async (name) => {
    const counts = await rewrites(name).round(seed);
    expect(counts, `HANSARD_SEED=${seed}`).toMatchObject({ schedules: 20 });
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  },
);

it.each([
  ['undoes a rewrite', (store) => ({ rewriteDispatch: () => ({ remains: Object.keys(store).slice(0, 0) }) })],
  [
    'acknowledges what it refuses',
    (store) => ({
      appendEvents: async (...args) => {
        try {
          return await store.appendEvents(...args);
        } catch {
          return args[2].map((_, index) => index);
        }
      },
    }),
  ],
  ['drops the notice of a rewrite', (store) => ({ rewriteDispatch: withoutNotice(store) })],
  [
    'lets anybody append',
    (store) => ({
      appendEvents: async (taskDir, dispatchId, events) => {
        await store.breakClaim?.(taskDir, dispatchId);
        await store.claimDispatch(taskDir, dispatchId);
        return store.appendEvents(taskDir, dispatchId, events);
      },
    }),
  ],
] satisfies readonly [string, (store: Store) => Partial<Store>][])(
  'the schedules find a store that %s',
  async (_, change) => {
    const broken = rewrites('sqlite', (store) => {
      const changed = change(store) as Readonly<Record<string, unknown>>;
      return new Proxy(store, {
        get: (target, key) => {
          const value: unknown = changed[String(key)] ?? Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    });
    await expect(broken.round(seed)).rejects.toThrow();
  },
);

type Store = Parameters<NonNullable<Parameters<typeof rewrites>[1]>>[0];

function withoutNotice(store: Store): Store['rewriteDispatch'] {
  return (taskDir, dispatchId, { envelope, event }) =>
    store.rewriteDispatch(taskDir, dispatchId, { envelope, event });
}
