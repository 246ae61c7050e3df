import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, workspacePackages } from '../workspace.ts';

const page = readFileSync(join(root, 'docs/write-a-store.md'), 'utf8');
const project = mkdtempSync(join(tmpdir(), 'hansard-write-a-store-'));
const plugin = join(project, 'hansard-store-shelf');
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** The code of each block in a language, in the order of the page. */
function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
}

function run(folder: string, args: readonly string[]) {
  return spawnSync(process.execPath, ['--conditions=@hansard/source', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HOME: project, NO_COLOR: '1' },
    timeout: 200_000,
  });
}

describe('the store that docs/write-a-store.md makes', () => {
  beforeAll(() => {
    mkdirSync(plugin);
    mkdirSync(join(project, 'node_modules/@hansard'), { recursive: true });
    for (const { name, folder } of workspacePackages())
      if (name.startsWith('@hansard/')) symlinkSync(join(root, folder), join(project, 'node_modules', name));
    const [manifest = '', description = '', configuration = ''] = blocks('json');
    writeFileSync(join(plugin, 'plugin.json'), manifest);
    writeFileSync(join(plugin, 'package.json'), description);
    writeFileSync(join(project, 'hansard.config.json'), configuration);
    for (const code of blocks('js')) {
      const [, file = ''] = /^\/\/ (\S+\.js)\n/.exec(code) ?? [];
      writeFileSync(join(plugin, file), code);
    }
    expect(globSync('*', { cwd: plugin }).sort()).toEqual([
      ...['capabilities.js', 'dispatch.js', 'index.js', 'package.json', 'plugin.json'],
      'store-under-test.js',
    ]);
  });

  it('passes the kit, with the output of the page', () => {
    const bin = join(root, 'packages/store-conformance/src/bin.ts');
    const { status, stdout, stderr } = run(plugin, [bin, 'store-under-test.js']);
    const [expected = ''] = blocks('text');
    // The kit grows. What matters is that nothing failed.
    const counts = (text: string) => text.replace(/\d+(?= passed| skipped)/g, 'N');
    expect(stdout.split('\n').map(counts), stderr).toContain(counts(expected.trim()));
    expect(expected).toContain(' 0 failed, ');
    expect(status).toBe(0);
    expect(Number(/(\d+) passed/.exec(stdout)?.[1])).toBeGreaterThan(200);
  });

  it('is selected by the configuration of the page, and records a dispatch', () => {
    const script = `
      import { readFileSync } from 'node:fs';
      import { loadPlugins } from '@hansard/plugin-loader';
      import { openDispatchStore } from '@hansard/dispatch';
      const { store: chosen } = JSON.parse(readFileSync('hansard.config.json', 'utf8'));
      const plugins = await loadPlugins({ baseDir: process.cwd(), plugins: [chosen] });
      const [{ provider }] = plugins.providers('DispatchStoreProvider');
      const store = openDispatchStore(provider);
      const dispatch = await store.beginDispatch('a/tasks/b', { role: 'tester' });
      await dispatch.append({ type: 'agent:text', data: { text: 'from the shelf' } });
      console.log(JSON.stringify(await store.getDispatchEvents('a/tasks/b', dispatch.dispatchId)));
      await dispatch.end({ status: 'completed' });
      await plugins.close();`;
    const { stdout, stderr } = run(project, ['--input-type=module', '-e', script]);
    expect(stdout, stderr).toContain('"text":"from the shelf"');
  });
});
