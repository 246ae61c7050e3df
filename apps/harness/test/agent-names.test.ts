import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch } from '@hansard/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const task = 'research/route-models';

let line: CommandLine;

/** Ben is created and speaks, then a model is called, then Ben speaks once more. */
beforeAll(async () => {
  line = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  const taskDir = 'research/tasks/route-models';
  const { dispatchId } = await createDispatch(store, taskDir, { role: 'worker' });
  const ofBen = (id: string, event: NewEvent): NewEvent => ({ ...event, id, agentId: 'agent_001' });
  await appendEvents(store, taskDir, dispatchId, [
    ofBen('created', newEvent('agent:created', { name: 'Ben' })),
    ofBen('first', newEvent('agent:text', { text: 'One.' })),
    ofBen('second', newEvent('agent:thinking', { text: 'Hm.' })),
    ofBen('third', newEvent('agent:text', { text: 'Two.' })),
  ]);
  await store.close();
});
afterAll(() => line[Symbol.dispose]());

it.each([
  ['events', ['show', `${task}/latest`, '--raw'], 4],
  [
    'events of one type, though its event is not printed',
    ['show', `${task}/latest`, '--raw', '--type', 'agent:text'],
    2,
  ],
  ['the last events of one type', ['show', `${task}/latest`, '--raw', '--type', 'agent:text', '-n', '1'], 1],
  ['replay', ['show', task, '--speed', 'max'], 4],
  ['replay from an event on', ['show', task, 'third', '--speed', 'max'], 1],
  ['tail as far back as that', ['show', task, '--raw'], 4],
  ['events from an event on', ['show', task, 'second', '--raw'], 2],
])('%s: calls an agent by its name', async (_, args, count) => {
  const { out } = await line.hansard(...args);
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(count);
  for (const one of lines) expect(one).toMatch(/^ *\d+ {2}\S+ {2}\(Ben\) {2}/);
});

it.each([
  ['the last events', ['show', task, '--raw', '-n', '2']],
  ['the last events, with events', ['show', `${task}/latest`, '--raw', '-n', '2']],
  ['what comes from a position on', ['show', task, '2', '--raw']],
])('%s are not read from the beginning, and go by ids', async (_, args) => {
  const { out } = await line.hansard(...args);
  expect(out.match(/\(agent_001\)/g)).toHaveLength(2);
});

it('events says which types there are where none is of the one that was asked for', async () => {
  const { code, out, err } = await line.hansard('show', `${task}/latest`, '--raw', '--type', 'text');
  expect([code, out]).toEqual([0, '']);
  expect(err).toMatch(/no event of type text\. Its types: agent:created, agent:text, agent:thinking\.\n$/);
  const found = await line.hansard('show', `${task}/latest`, '--raw', '--type', '*text', '--json');
  expect([found.err, found.json()]).toMatchObject(['', [{ type: 'agent:text' }, { type: 'agent:text' }]]);
});

it('JSON has the ids', async () => {
  const { out } = await line.hansard('show', task, '--speed', 'max', '--json');
  expect(out.match(/"agentId":"agent_001"/g)).toHaveLength(4);
});
