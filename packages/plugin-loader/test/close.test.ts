import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type LoadedPlugins, loadPlugins } from '../src/index.ts';
import { createGate } from './gate.ts';
import { createWorkspace, creating, toolProvider } from './plugin-workspace.ts';

/** Loads a plugin per closing function, with the ids `plugin-0`, `plugin-1` … */
function loadClosing(...closings: readonly (() => unknown)[]): Promise<LoadedPlugins> {
  const { baseDir, plugin } = createWorkspace();
  const plugins = closings.map((close, index) => {
    plugin(`${index}`, { manifest: { id: `plugin-${index}` } });
    return { plugin: `./${index}`, config: creating(() => toolProvider(close)) };
  });
  return loadPlugins({ baseDir, plugins });
}

describe('closing', () => {
  it('goes from the last created to the first, one after the other', async () => {
    const log: string[] = [];
    const closing = (name: string) => async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
    };
    const loaded = await loadClosing(closing('first'), closing('second'));
    await loaded.close();
    expect(log).toEqual(['second begins', 'second ends', 'first begins', 'first ends']);
  });

  it('closes all of them when some fail, and reports every failure with its cause', async () => {
    const busy = new Error('busy');
    let closed = false;
    const loaded = await loadClosing(
      () => Promise.reject(busy),
      () => {
        closed = true;
      },
      () => {
        throw 'torn';
      },
    );
    const error = await loaded.close().catch((thrown: unknown) => thrown);
    expect(closed).toBe(true);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({
      errors: [
        { code: 'PLUGIN_CLOSE_FAILED', details: { plugin: 'plugin-2' }, cause: 'torn' },
        { code: 'PLUGIN_CLOSE_FAILED', details: { plugin: 'plugin-0' }, cause: busy },
      ],
    });
    expect((error as Error).message).toMatch(/plugin-2 .*torn.* plugin-0 .*busy/);
  });

  it('happens once, however often it is asked for', async () => {
    let closings = 0;
    const loaded = await loadClosing(() => {
      closings += 1;
    });
    await Promise.all([loaded.close(), loaded.close()]);
    await loaded[Symbol.asyncDispose]();
    expect(closings).toBe(1);
  });

  it('leaves a provider alone that has nothing to close', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('one');
    const loaded = await loadPlugins({ baseDir, plugins: [{ plugin: './one' }] });
    await expect(loaded.close()).resolves.toBeUndefined();
  });

  it('reports a late provider that could not be closed', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('slow');
    const clock = new ManualClock();
    const provider = createGate<unknown>();
    const asked = createGate<void>();
    const loading = loadPlugins({
      baseDir,
      clock,
      plugins: [{ plugin: './slow', config: creating(() => provider.opened) }],
    });
    await clock.timersSet(2);
    clock.advance(10_000);
    const loaded = await loading;
    provider.open(
      toolProvider(() => {
        asked.open();
        throw new Error('stuck');
      }),
    );
    await asked.opened;
    await expect(loaded.close()).rejects.toMatchObject({ errors: [{ code: 'PLUGIN_CLOSE_FAILED' }] });
  });
});
