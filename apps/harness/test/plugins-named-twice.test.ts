import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

function configured(plugins: readonly unknown[], others: object = {}): CommandLine {
  const line = commandLine();
  writeFileSync(join(line.cwd, 'hansard.config.json'), JSON.stringify({ ...others, plugins }));
  return line;
}

const run = ['run', demoStream('hook-deny'), '--task', 'a/b'];

it('the default console is configured under plugins', async () => {
  using line = configured([{ plugin: '@hansard/comm-console', config: { color: 'always' } }]);
  const shown = await line.process(...run);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toContain('\u001b[31m');
  expect(shown.out.match(/deleting is not allowed here/g)).toHaveLength(2);
  const report = await line.hansard('plugins');
  expect(report.code).toBe(0);
  expect(report.out.match(/comm-console .*CommunicationProvider/g)).toHaveLength(1);
});

it.each([
  ['--quiet', /^\w{26} completed\n$/],
  ['--json', /^\{"dispatchId":.*\}\n$/],
])('a console under plugins is as quiet as any other: %s', async (option, output) => {
  using line = configured(['@hansard/comm-console']);
  expect((await line.process(...run, option)).out).toMatch(output);
});

it('the default store is configured under plugins, for writing and for reading', async () => {
  using line = configured([{ plugin: '@hansard/store-jsonfile', config: { root: 'elsewhere' } }], {
    communication: [],
  });
  expect(await line.hansard(...run, '--quiet')).toMatchObject({ code: 0, err: '' });
  expect((await line.hansard('ls', '--tasks', '--json')).json()).toMatchObject([
    { taskDir: 'a/tasks/b', dispatches: 1 },
  ]);
  expect(existsSync(join(line.cwd, '.projects'))).toBe(false);
  const { out } = await line.hansard('demo', '--delay', '0');
  const folder = /^The files, one for each session: (.*)/m.exec(out)?.[1] ?? '';
  expect(readdirSync(folder).length).toBeGreaterThan(0);
});

it('another plugin of the same id is refused', async () => {
  using line = configured(['./own']);
  mkdirSync(join(line.cwd, 'own'));
  const manifest = { id: 'comm-console', provides: 'CommunicationProvider', entry: './x.mjs', apiVersion: 1 };
  writeFileSync(join(line.cwd, 'own/plugin.json'), JSON.stringify(manifest));
  const { code, out } = await line.hansard('plugins');
  expect([code, out]).toEqual([1, expect.stringMatching(/duplicate id: PLUGIN_DUPLICATE_ID/)]);
});
