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
  writeFileSync,
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
  timeout: 240_000,
}, () => {
  beforeAll(() => {
    installPacked([
      '@hansard/events',
      '@hansard/facts',
      '@hansard/provider',
      '@hansard/store-kit',
      '@hansard/store-conformance',
      '@hansard/prompt',
      '@hansard/views',
      '@hansard/dispatch',
      '@hansard/plugin-loader',
      '@hansard/claude',
      '@hansard/codex',
      '@hansard/formats',
      '@hansard/import',
    ]);
    cpSync(join(project, 'node_modules/@hansard/store-conformance/template'), plugin, { recursive: true });
    run('tsc', ['-p', '.'], plugin);
  }, 600_000);

  it('uses the helpers for stores by its own choice: nothing else that is installed needs them', () => {
    const dependents = globSync('node_modules/@hansard/*/package.json', { cwd: project }).filter((manifest) =>
      Object.hasOwn(JSON.parse(readFileSync(join(project, manifest), 'utf8')).dependencies ?? {}, kit),
    );
    expect(dependents).toEqual([]);
    expect(JSON.parse(readFileSync(join(plugin, 'package.json'), 'utf8')).dependencies).toHaveProperty([kit]);
  });

  it('passes cases of the published kit under node:test', () => {
    const some = '/(appends|pages|values|listings|rewrites)\\/|killed\\/while-appending/';
    const args = ['--test', '--test-reporter=tap', `--test-name-pattern=${some}`];
    const { stdout } = run(process.execPath, args, plugin);
    expect(stdout).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(40);
  });

  it('passes the published kit by its command, without a test runner', () => {
    const program = 'node_modules/@hansard/store-conformance/dist/bin.js';
    const { bin } = JSON.parse(
      readFileSync(join(project, 'node_modules/@hansard/store-conformance/package.json'), 'utf8'),
    );
    expect(bin).toEqual({ 'hansard-store-conformance': './dist/bin.js' });
    const some = ['killed/while-appending', 'damage/no-uncoded-error', 'pages', 'model'];
    const named = some.flatMap((name) => ['--case', name]);
    const args = [join(project, program), 'test/store-under-test.mjs', '--json', ...named];
    const { counts, cases } = JSON.parse(run(process.execPath, args, plugin).stdout);
    expect(counts).toMatchObject({ failed: 0, skipped: 0, gap: 0 });
    const ids = cases.map(({ id }: { readonly id: string }) => id);
    expect(ids).toEqual(
      expect.arrayContaining(['killed/while-appending', 'damage/no-uncoded-error', 'pages/walk']),
    );
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

  it('stores the log of an importer plugin that a third party wrote', () => {
    const importer = join(project, 'my-diary');
    mkdirSync(importer);
    const manifest = { id: 'diary', provides: 'LogImporterProvider', entry: './index.js', apiVersion: 1 };
    writeFileSync(join(importer, 'plugin.json'), JSON.stringify(manifest));
    writeFileSync(
      join(importer, 'package.json'),
      '{ "name": "diary", "version": "1.0.0", "type": "module" }',
    );
    writeFileSync(join(importer, 'index.js'), diaryImporter);
    writeFileSync(join(project, 'today.jsonl'), 'Dear diary\nIt rains.\n');
    const script = `
      import { importLogs, logImporters } from '@hansard/import';
      import { loadPlugins } from '@hansard/plugin-loader';
      import { openDispatchStore } from '@hansard/dispatch';
      const plugins = await loadPlugins({
        baseDir: process.cwd(),
        plugins: [{ plugin: './my-store', config: { root: 'diaries' } }, { plugin: './my-diary' }],
      });
      const [{ provider }] = plugins.providers('DispatchStoreProvider');
      const mine = plugins.providers('LogImporterProvider').map((loaded) => loaded.provider);
      const store = openDispatchStore(provider);
      const importers = [...logImporters, ...mine];
      for await (const item of importLogs(store, ['today.jsonl'], { task: 'a/tasks/diary', importers }))
        console.log(item.kind, item.format, item.added, item.error ?? '');
      const [{ dispatchId }] = await store.getDispatchEnvelopes('a/tasks/diary');
      console.log(JSON.stringify(await store.getDispatchEvents('a/tasks/diary', dispatchId)));
      await plugins.close();`;
    const { stdout } = run(process.execPath, ['--input-type=module', '-e', script], project);
    expect(stdout).toContain('imported diary 2');
    expect(stdout).toContain('"text":"It rains."');
  });
});

/** An importer of diaries, each line an event. */
const diaryImporter = `
import { readFileSync } from 'node:fs';
export default {
  id: 'diary',
  provides: 'LogImporterProvider',
  create: () => ({
    contract: 1,
    id: 'diary',
    title: 'a diary',
    detect: ({ text }) => text.startsWith('Dear diary'),
    open({ files }) {
      const lines = readFileSync(files[0], 'utf8').trimEnd().split('\\n');
      const timestamp = '2026-03-01T09:30:00.000Z';
      return [{
        format: 'diary',
        files,
        dispatchId: '01JZX5N0000000000000000000',
        startedAt: Date.parse(timestamp),
        async *read() {
          yield lines.map((text, at) => ({ id: \`line-\${at}\`, type: 'agent:text', timestamp, data: { text } }));
        },
        summary: () => ({
          records: lines.length, events: lines.length, status: 'completed',
          completedAt: Date.parse(timestamp), diagnostics: [], counts: {},
          balance: { records: { in: lines.length, recorded: lines.length, leftOut: {} }, bytes: { in: 0, recorded: 0, leftOut: {} }, files: { in: 1, recorded: 1, leftOut: {} } },
        }),
      }];
    },
  }),
};
`;

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
