import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

it('the harness of the README asks a person, ends, continues with the answer, and forks', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const [, code = ''] = /## A harness in 40 lines\n[\s\S]*?```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(50);
  const file = join(import.meta.dirname, `readme-harness-${process.pid}.ts`);
  onTestFinished(() => rmSync(file, { force: true }));
  writeFileSync(file, code);
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@hansard/source', file]);
  expect(stdout).toBe('I read: old.log is gone.\nnew.log\nI read: What is in the office?\n');
});
