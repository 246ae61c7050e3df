import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { commandFromSource } from './command-line.ts';

const cwd = mkdtempSync(join(tmpdir(), 'hansard-loaded-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const reportModules = `
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      process.stderr.write(url + '\\n');
      return next(url, context);
    },
  });`;

/** What the command loads: packages by name, files of this repository by path. */
function loadedBy(...args: readonly string[]): string[] {
  const hook = `data:text/javascript,${encodeURIComponent(reportModules)}`;
  const node = ['--import', hook, ...commandFromSource, ...args];
  const { stderr, status } = spawnSync(process.execPath, node, { cwd, encoding: 'utf8' });
  expect(status).toBe(0);
  const files = stderr.split('\n').filter((url) => url.startsWith('file:'));
  const names = files.map(
    (url) =>
      /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ??
      /\/((?:packages|plugins|apps)\/.*)/.exec(url)?.[1] ??
      url,
  );
  return [...new Set(names)];
}

it('the help loads the list of commands and the library of the command line, and no command', () => {
  const loaded = loadedBy('--help');
  expect(loaded.filter((name) => !name.startsWith('apps/harness/src/'))).toEqual(['commander']);
  expect(loaded.filter((name) => /src\/commands\/(?!command-table|help)/.test(name))).toEqual([]);
});

it('a list of tasks loads neither the views nor a library that only other commands need', () => {
  const loaded = loadedBy('ls');
  expect(loaded).toContain('apps/harness/src/commands/ls.ts');
  expect(
    loaded.filter((name) => /^(ajv|string-width|diff|yaml|gpt-tokenizer|@opentelemetry\/)/.test(name)),
  ).toEqual([]);
  expect(loaded).not.toContain('packages/views/src/index.ts');
});
