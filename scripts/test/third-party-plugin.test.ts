import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packPackages } from '../pack.ts';
import { root } from '../workspace.ts';

/** A project far from the repository that has the packed packages installed, and the template of one of them as its own plugin. */
const project = mkdtempSync(join(tmpdir(), 'hansard-third-party-'));
const plugin = join(project, 'my-store');
const kit = '@hansard/store-kit';
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('a store plugin outside the repository, written against the packed packages', {
  timeout: 120_000,
}, () => {
  beforeAll(() => {
    installPacked([
      '@hansard/events',
      '@hansard/provider',
      '@hansard/store-kit',
      '@hansard/store-conformance',
      '@hansard/views',
      '@hansard/dispatch',
      '@hansard/plugin-loader',
    ]);
    cpSync(join(project, 'node_modules/@hansard/store-conformance/template'), plugin, { recursive: true });
    run('tsc', ['-p', '.'], plugin);
  }, 120_000);

  it('uses the helpers for stores by its own choice: nothing else that is installed needs them', () => {
    const dependents = globSync('node_modules/@hansard/*/package.json', { cwd: project }).filter((manifest) =>
      Object.hasOwn(JSON.parse(readFileSync(join(project, manifest), 'utf8')).dependencies ?? {}, kit),
    );
    expect(dependents).toEqual([]);
    expect(JSON.parse(readFileSync(join(plugin, 'package.json'), 'utf8')).dependencies).toHaveProperty([kit]);
  });

  it('passes the published kit under node:test', () => {
    const { stdout } = run(process.execPath, ['--test', '--test-reporter=tap'], plugin);
    expect(stdout).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(40);
  });

  it('loads by its manifest and records a dispatch', () => {
    const script = `
      import { loadPlugins, renderLoadReport } from '@hansard/plugin-loader';
      import { openDispatchStore } from '@hansard/dispatch';
      const plugins = await loadPlugins({ baseDir: process.cwd(), plugins: [{ plugin: './my-store', config: { root: 'data' } }] });
      console.log(renderLoadReport(plugins.report));
      const [{ provider }] = plugins.providers('DispatchStoreProvider');
      const store = openDispatchStore(provider);
      const dispatch = await store.beginDispatch('a/tasks/b', { role: 'tester' });
      await dispatch.append({ type: 'agent:text', data: { text: 'from afar' } });
      console.log(JSON.stringify(await store.getDispatchEvents('a/tasks/b', dispatch.dispatchId)));
      await dispatch.end({ status: 'completed' });
      await plugins.close();`;
    const { stdout } = run(process.execPath, ['--input-type=module', '-e', script], project);
    expect(stdout).toMatch(/loaded store-example/);
    expect(stdout).toContain('"text":"from afar"');
    expect(globSync('data/a/tasks/b/dispatches/*.log', { cwd: project })).toHaveLength(1);
  });
});

function run(command: string, args: readonly string[], cwd: string): { readonly stdout: string } {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  expect([status, status === 0 ? '' : `${stdout}${stderr}`]).toEqual([0, '']);
  return { stdout };
}

/** Unpacks our packages into `node_modules`, and links the libraries of others that they need from the workspace. */
function installPacked(names: readonly string[]): void {
  const modules = join(project, 'node_modules');
  const tarballs = mkdtempSync(join(tmpdir(), 'hansard-tarballs-'));
  try {
    for (const { name, tarball } of packPackages(tarballs, names)) {
      mkdirSync(join(modules, name), { recursive: true });
      execFileSync('tar', ['-xzf', tarball, '-C', join(modules, name), '--strip-components=1']);
    }
  } finally {
    rmSync(tarballs, { recursive: true, force: true });
  }
  for (const library of globSync('packages/*/node_modules/*', { cwd: root })) {
    const target = join(modules, library.slice(library.lastIndexOf('/') + 1));
    if (library.endsWith('@hansard') || existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(realpathSync(join(root, library)), target);
  }
  mkdirSync(join(modules, '@types'), { recursive: true });
  symlinkSync(realpathSync(join(root, 'node_modules/@types/node')), join(modules, '@types/node'));
}
