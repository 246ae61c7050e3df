import { requiredMethods } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { loadPlugins } from '../src/index.ts';
import { createGate } from './gate.ts';
import { createWorkspace, creating } from './plugin-workspace.ts';

const capabilities = {
  durability: 'memory',
  writers: 'process',
  search: false,
  watch: false,
  deleteDispatch: false,
  rewrite: false,
  integrity: 'none',
};

async function loadStore(members: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const { baseDir, plugin } = createWorkspace();
  plugin('store', { manifest: { id: 'store', provides: 'DispatchStoreProvider' } });
  const methods = requiredMethods.DispatchStoreProvider.map((method) => [method, () => undefined]);
  const provider = { contract: 1, ...Object.fromEntries(methods), ...members };
  const loaded = await loadPlugins({
    baseDir,
    plugins: [{ plugin: './store', config: creating(() => provider) }],
  });
  return loaded.report.plugins[0]?.error?.message;
}

describe('a store', () => {
  it('is accepted with the required methods when it claims nothing more', async () => {
    expect(await loadStore({ capabilities })).toBeUndefined();
  });

  it.each([
    ['search', 'index', 'searchEvents'],
    ['search', 'scan', 'searchEvents'],
    ['watch', true, 'watch'],
    ['deleteDispatch', true, 'deleteDispatch'],
  ])('that claims %s: %s must have %s', async (capability, value, method) => {
    const claiming = { ...capabilities, [capability]: value };
    expect(await loadStore({ capabilities: claiming })).toMatch(new RegExp(`has no ${method}\\.$`));
    expect(await loadStore({ capabilities: claiming, [method]: () => undefined })).toBeUndefined();
  });

  it.each([
    ['writers', 'dispatch', ['findClaim', 'findClaims', 'breakClaim']],
    ['integrity', 'checksum', ['verifyDispatch', 'acceptLoss']],
  ])('that claims %s: %s must have all its methods', async (capability, value, methods) => {
    const claiming = { ...capabilities, [capability]: value };
    const having = (names: readonly string[]) =>
      loadStore({
        capabilities: claiming,
        ...Object.fromEntries(names.map((name) => [name, () => undefined])),
      });
    expect(await having([])).toMatch(new RegExp(`has no ${methods.join(', ')}\\.$`));
    for (const missing of methods)
      expect(await having(methods.filter((name) => name !== missing))).toMatch(
        new RegExp(`has no ${missing}\\.$`),
      );
    expect(await having(methods)).toBeUndefined();
  });

  it('must say what it can do', async () => {
    expect(await loadStore({})).toMatch(/has no capabilities\.$/);
  });

  it('that lacks several methods has all of them reported', async () => {
    expect(await loadStore({ capabilities, appendEvent: undefined, close: 1 })).toMatch(
      /has no appendEvent, close\.$/,
    );
  });

  it('that is not accepted is closed', async () => {
    const closed = createGate<string>();
    await loadStore({ capabilities, appendEvent: undefined, close: () => closed.open('closed') });
    await expect(closed.opened).resolves.toBe('closed');
  });
});
