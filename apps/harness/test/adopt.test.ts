import { copyFileSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

/** A task with ended sessions, each with one text. */
async function record({ cwd }: CommandLine, count: number): Promise<string[]> {
  await using store = openDispatchStore(openJsonFileStore({ root: join(cwd, '.projects') }));
  for (let at = 0; at < count; at += 1) {
    await using dispatch = await store.beginDispatch('b/tasks/two', { role: 'worker' });
    await dispatch.append(newEvent('agent:text', { text: `text ${at}` }));
    await dispatch.end({ status: 'completed' });
  }
  const folder = join(cwd, '.projects/b/tasks/two/dispatches');
  return readdirSync(folder).map((name) => name.replace('.json', ''));
}

it('a session that was copied over another one is under another name, and is kept there on request', async () => {
  using line = commandLine();
  const [first = '', second = ''] = await record(line, 2);
  const folder = join(line.cwd, '.projects/b/tasks/two/dispatches');
  copyFileSync(join(folder, `${first}.json`), join(folder, `${second}.json`));
  const found = await line.hansard('store', 'verify');
  expect(found.code).toBe(3);
  expect(found.out).toContain(`was written as dispatch ${first} of b/tasks/two.`);
  expect(found.out).toContain('1 under another name.');
  expect(found.err).toContain('keep the new name with `hansard store adopt`');
  const adopted = await line.hansard('store', 'adopt', `b/two/${second}`, '--yes', '--json');
  expect(adopted.json()).toEqual([{ taskDir: 'b/tasks/two', dispatchId: second }]);
  expect((await line.hansard('store', 'verify')).out).toContain('all whole');
  const again = await line.hansard('store', 'adopt', `b/two/${second}`, '--yes');
  expect(again.out).toContain('has the name under which it was written');
});

it('a renamed task is one line, and one command keeps its sessions', async () => {
  using line = commandLine();
  await record(line, 3);
  renameSync(join(line.cwd, '.projects/b/tasks/two'), join(line.cwd, '.projects/b/tasks/three'));
  const found = await line.hansard('store', 'verify');
  expect(found.code).toBe(3);
  expect(found.out.match(/STORE_MISPLACED/g)).toHaveLength(1);
  const adopted = await line.hansard('store', 'adopt', 'b/three', '--yes');
  expect(adopted.out).toContain('b/three keeps its name: 3 sessions.');
  expect((await line.hansard('store', 'verify')).code).toBe(0);
});
