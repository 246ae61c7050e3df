import { DatabaseSync } from 'node:sqlite';
import { envelope, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { expect, it } from 'vitest';
import { openStore, temporaryPath } from '../temporary-store.ts';

/** CRC-32, bit by bit: the reflected polynomial 0xedb88320, as in ISO 3309 and zlib. Shares no code with the store. */
function crc(text: string, start: number): number {
  let state = ~start >>> 0;
  for (const byte of new TextEncoder().encode(text)) {
    state ^= byte;
    for (let bit = 0; bit < 8; bit += 1) state = (state >>> 1) ^ (state & 1 ? 0xedb88320 : 0);
  }
  return ~state >>> 0;
}

const dispatchId = 'MEASURED';

it('every stored row has the checksum that the documentation describes, and every event the mark of its batch', () => {
  const path = temporaryPath();
  const store = openStore(path);
  store.putTask(taskDir, {
    slug: 'é',
    name: 'é',
    project: 'p',
    status: 'open',
    created: '2026-03-01T09:30:00.000Z',
  });
  store.createDispatch(taskDir, envelope({ dispatchId }));
  store.appendEvent(taskDir, dispatchId, textEvent('e000000', 'Zürich, 東京, 🦉'));
  store.appendEvents(taskDir, dispatchId, growingEvents(3, 1));
  store.appendEvents(taskDir, dispatchId, [...growingEvents(4, 2), textEvent('a')]);
  store.appendEvent(taskDir, dispatchId, textEvent('b'));
  store.updateDispatch(taskDir, dispatchId, { cost: 1 });
  store.claimDispatch(taskDir, dispatchId);
  const raw = new DatabaseSync(path);
  const rows = raw.prepare('SELECT batch, crc, line FROM events ORDER BY position').all();
  expect(rows.map(({ batch }) => batch)).toEqual([0, 2, 1, 0, 2, 1, 0, 0]);
  let last = crc(`${taskDir}\n${dispatchId}`, 0);
  for (const { batch, crc: stored, line } of rows) {
    last = crc(String(line), (last ^ Number(batch)) >>> 0);
    expect(stored).toBe(last);
  }
  const dispatch = raw.prepare('SELECT * FROM dispatches').get() ?? {};
  const head = `${dispatch.number} ${dispatch.epoch} ${dispatch.has_event_ids}\n${taskDir}/${dispatchId}\n`;
  expect(dispatch.has_event_ids).toBe(1);
  expect(dispatch.crc).toBe(crc(String(dispatch.envelope), crc(head, 0)));
  const task = raw.prepare('SELECT * FROM tasks').get() ?? {};
  expect(task.digest).toBe(crc(dispatchId, 0));
  expect(task.crc).toBe(crc(String(task.task), crc(`1 ${task.digest} false\n${taskDir}\n`, 0)));
  const { database_id: id, crc: headCrc } = raw.prepare('SELECT * FROM head').get() ?? {};
  expect(headCrc).toBe(crc(`${id} 1 ${crc(taskDir, 0)}`, 0));
  raw.close();
});
