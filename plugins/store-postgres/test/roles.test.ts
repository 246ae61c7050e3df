import { useServer } from '@hansard/testing/postgres-in-tests';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { setupSql } from '../src/index.ts';
import { dispatchId, envelope, events, taskDir } from './sample-data.ts';
import { codeOf, newStores, superuser } from './server/stores.ts';

const server = useServer();

it('a writer records everything and can never change or delete an event, and a reader only reads', async () => {
  const stores = newStores(server());
  await superuser(server(), 'CREATE ROLE the_writer LOGIN; CREATE ROLE the_reader LOGIN');
  await superuser(server(), setupSql({ schema: stores.schema, writer: 'the_writer', reader: 'the_reader' }));
  const writer = await stores.open({ url: server().url('the_writer'), createTables: false });
  await writer.createDispatch(taskDir, envelope());
  await writer.appendEvents(taskDir, dispatchId, events(3));
  await writer.updateDispatch(taskDir, dispatchId, { status: 'completed' });
  await writer.putTask(taskDir, { taskDir } as never);
  await writer.releaseDispatch(taskDir, dispatchId);
  await writer.claimDispatch(taskDir, dispatchId);
  expect(await writer.searchEvents('text 000001', { taskDir })).toHaveLength(1);
  expect(await codeOf(writer.deleteDispatch(taskDir, dispatchId))).toBe('STORE_UNAVAILABLE');

  const stolen = new Client(server().url('the_writer'));
  onTestFinished(() => stolen.end());
  await stolen.connect();
  const onEvents = `"${stores.schema}".events`;
  for (const text of [`UPDATE ${onEvents} SET line = ''`, `DELETE FROM ${onEvents}`, `TRUNCATE ${onEvents}`])
    await expect(stolen.query(text)).rejects.toMatchObject({ code: '42501' });

  const reader = await stores.open({ url: server().url('the_reader'), createTables: false });
  expect(await reader.getDispatchEvents(taskDir, dispatchId)).toEqual(events(3));
  expect(await reader.searchEvents('text 000001', { taskDir })).toHaveLength(1);
  expect(await codeOf(reader.claimDispatch(taskDir, dispatchId))).toBe('STORE_UNAVAILABLE');
  expect(await codeOf(reader.putTask(taskDir, { taskDir } as never))).toBe('STORE_UNAVAILABLE');
});
