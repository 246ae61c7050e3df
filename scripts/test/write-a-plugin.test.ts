import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, workspacePackages } from '../workspace.ts';

const pageOf = (name: string) => readFileSync(join(root, `docs/${name}.md`), 'utf8');
const page = pageOf('write-a-store');
const project = mkdtempSync(join(tmpdir(), 'hansard-write-a-plugin-'));
const plugin = join(project, 'hansard-store-shelf');
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** The code of each block in a language, in the order of the page. */
function blocks(language: string, page: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
}

function run(folder: string, args: readonly string[]) {
  return spawnSync(process.execPath, ['--conditions=@hansard/source', ...args], {
    cwd: folder,
    encoding: 'utf8',
    // The package manager names folders of its own in NODE_PATH.
    env: { ...process.env, HOME: project, NO_COLOR: '1', NODE_PATH: '' },
    timeout: 200_000,
  });
}

/** Makes the files of a page. @returns the configuration at its end, and the output of the kit */
function make(page: string, folder: string) {
  const [manifest = '', description = '', configuration = ''] = blocks('json', page);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'plugin.json'), manifest);
  writeFileSync(join(folder, 'package.json'), description);
  for (const code of blocks('js', page)) {
    const [, file = ''] = /^\/\/ (\S+\.js)\n/.exec(code) ?? [];
    writeFileSync(join(folder, file), code);
  }
  const [output = ''] = blocks('text', page);
  return { configuration, output: output.trim() };
}

beforeAll(() => {
  mkdirSync(join(project, 'node_modules/@hansard'), { recursive: true });
  for (const { name, folder } of workspacePackages())
    if (name.startsWith('@hansard/')) symlinkSync(join(root, folder), join(project, 'node_modules', name));
});

describe('the store that docs/write-a-store.md makes', () => {
  beforeAll(() => {
    const { configuration } = make(page, plugin);
    writeFileSync(join(project, 'hansard.config.json'), configuration);
    expect(globSync('*', { cwd: plugin }).sort()).toEqual([
      ...['capabilities.js', 'dispatch.js', 'index.js', 'package.json', 'plugin.json'],
      'store-under-test.js',
    ]);
  });

  it('passes the kit, with the output of the page', () => {
    const bin = join(root, 'packages/store-conformance/src/bin.ts');
    const { status, stdout, stderr } = run(plugin, [bin, 'store-under-test.js']);
    const [expected = ''] = blocks('text', page);
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

const bin = join(root, 'apps/harness/src/bin.ts');
const check = (path: string, ...options: readonly string[]) =>
  run(project, [bin, 'plugins', 'check', path, ...options]);

/** The kits grow. What matters is that nothing failed. */
const withoutCounts = (text: string) => text.replace(/\d+(?= passed)/g, 'N');

it('the plugins of the pages about models, tools, hooks and importers pass their kits, with the output of the page', () => {
  const pages = ['write-a-hook', 'write-a-model', 'write-a-tool', 'write-an-importer'];
  const outputs = pages.map((name) => make(pageOf(name), join(project, 'plugins', name)).output);
  const { status, stdout, stderr } = check('plugins');
  expect([withoutCounts(stdout), stderr]).toEqual([withoutCounts(`${outputs.join('\n')}\n`), '']);
  expect(status).toBe(0);
  for (const [, passed] of stdout.matchAll(/(\d+) passed/g)) expect(Number(passed)).toBeGreaterThan(9);
});

describe('hansard plugins check', () => {
  const strangers = join(project, 'strangers');
  /** A plugin of a stranger: the hook of the page, with changes in its files. */
  const stranger = (name: string, changes: Readonly<Record<string, (text: string) => string>>) => {
    const folder = join(strangers, name);
    make(pageOf('write-a-hook'), folder);
    for (const [file, change] of Object.entries(changes))
      writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));
    return folder;
  };
  const withId = (id: string) => ({
    'plugin.json': (text: string) => text.replace('hook-quiet', id),
    'index.js': (text: string) => text.replace('hook-quiet', id),
  });

  it('names the case that a stranger breaks, and refuses another contract, a second plugin of one id, and a kit of another version', () => {
    stranger('a', {});
    stranger('b', {
      ...withId('hook-loud'),
      'index.js': (text) =>
        withId('hook-loud')['index.js'](text).replace("reason: 'Say it without capitals.'", 'reason: 7'),
    });
    stranger('c', { 'plugin.json': (text) => text.replace('"apiVersion": 1', '"apiVersion": 2') });
    stranger('d', {});
    const kit = join(stranger('e', withId('hook-old')), 'node_modules/@hansard/provider-conformance');
    mkdirSync(join(kit, 'node_modules/@hansard/provider'), { recursive: true });
    const files = {
      'package.json':
        '{"version":"9.0.0","type":"module","exports":{".":"./index.js","./package.json":"./package.json"}}',
      'index.js': '',
      'node_modules/@hansard/provider/package.json': '{"type":"module","exports":"./index.js"}',
      'node_modules/@hansard/provider/index.js': 'export const contractVersion = 2;',
    };
    for (const [file, text] of Object.entries(files)) writeFileSync(join(kit, file), text);
    stranger('f', {
      ...withId('hook-gone'),
      'hook-under-test.js': (text) => `process.exit(3);\n${text}`,
    });
    const { status, stdout } = check('strangers', '--json');
    const reports = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const failures = reports.map(({ id, counts, cases, error }) => [
      id,
      counts.failed,
      ...cases.flatMap((one: { id: string; status: string }) => (one.status === 'failed' ? [one.id] : [])),
      ...(error === null ? [] : [error.code ?? error.message]),
    ]);
    expect(failures).toEqual([
      ['hook-quiet', 0],
      ['hook-loud', 1, 'hooks/decision-shape'],
      ['hook-quiet', 0, 'PLUGIN_API_VERSION'],
      ['hook-quiet', 0, 'PLUGIN_DUPLICATE_ID'],
      [
        'hook-old',
        0,
        'The kit @hansard/provider-conformance 9.0.0 tests version 2 of the Hansard contracts, and plugin hook-old was written for version 1. Install the kit for version 1.',
      ],
      ['hook-gone', 1, 'kit/runs'],
    ]);
    expect(status).toBe(1);
  });

  it('says what to install or to write where there is no fixture and no kit', () => {
    const folder = stranger('../alone', {});
    rmSync(join(folder, 'hook-under-test.js'));
    const { status, stderr } = check('alone');
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('has no fixture hook-under-test.js, there or in its folder test'),
    ]);
    const outside = mkdtempSync(join(tmpdir(), 'hansard-no-kit-'));
    try {
      writeFileSync(join(outside, 'plugin.json'), readFileSync(join(folder, 'plugin.json')));
      const entry = "export default { id: 'hook-quiet', provides: 'HookProvider', create() {} };";
      writeFileSync(join(outside, 'index.js'), entry);
      writeFileSync(join(outside, 'package.json'), '{"type":"module"}');
      const missing = run(outside, [bin, 'plugins', 'check', '.']);
      expect([missing.status, missing.stderr]).toEqual([
        2,
        expect.stringContaining('npm install --save-dev @hansard/provider-conformance in'),
      ]);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });
});
