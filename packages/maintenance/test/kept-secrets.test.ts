import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { redactDispatches, redactTasks, type StoredSecret, scanSecrets } from '@hansard/maintenance';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it, onTestFinished } from 'vitest';

const redactor = createRedactor({ patterns: { canary: 'canary-[a-z0-9]{8}' } });
const taskDir = 'canary-projects/tasks/canary-taskslug';
const dispatchId = 'canary-dispatch';
const agentId = 'canary-agentid0';
const messageId = 'canary-message0';
const created = '2026-03-01T10:00:00.000Z';

/** A secret in each field that is kept, and some in fields that are not. */
async function storeWithSecrets() {
  const store = openDispatchStore(createMemoryStore());
  onTestFinished(() => store.close());
  const dispatch = await store.beginDispatch(taskDir, {
    role: 'canary-roleofit',
    fidelity: 'full',
    dispatchId,
    parentDispatchId: 'canary-parentid',
  });
  const said = newEvent('agent:text', { text: 'canary-00000001' }, { agentId, messageId });
  const links = { agentId, cause: ['canary-causeone', 'canary-causetwo'], via: 'canary-viavia00' };
  const own: NewEvent = { type: 'game:any', data: { 'canary-00000002': 1 }, ...links, id: 'canary-eventid0' };
  await dispatch.append([said, own]);
  await dispatch.end({ status: 'completed' });
  const record = { name: 'canary-nameofit', project: 'p', status: 'open', created };
  await store.putTask(taskDir, { slug: 'canary-taskslug', ...record });
  return store;
}

type Store = Awaited<ReturnType<typeof storeWithSecrets>>;

async function found(store: Store): Promise<StoredSecret[]> {
  const secrets: StoredSecret[] = [];
  for await (const { secret } of scanSecrets(store, redactor)) if (secret !== undefined) secrets.push(secret);
  return secrets;
}

const placesOf = (secrets: readonly StoredSecret[]) =>
  secrets.map(({ position, field, count }) => `${position} ${field} ${count}`);

const kept = [
  'null /taskDir 2',
  'null /slug 1',
  'null /dispatchId 1',
  'null /taskSlug 1',
  'null /parentDispatchId 1',
  '0 /agentId 1',
  '0 /messageId 1',
  '1 /id 1',
  '1 /agentId 1',
  '1 /cause/0 1',
  '1 /cause/1 1',
  '1 /via 1',
];

it('secrets in fields that redaction keeps are found as such, counted by it, and all that stays', async () => {
  const store = await storeWithSecrets();
  const before = await found(store);
  expect(placesOf(before.filter(({ isKept }) => isKept)).sort()).toEqual([...kept].sort());
  expect(placesOf(before.filter(({ isKept }) => !isKept))).toEqual([
    'null /name 1',
    'null /role 1',
    '0 /data/text 1',
    '1 /data 1',
  ]);
  const answers = [];
  for await (const { counts, kept: staying } of redactTasks(store, redactor)) answers.push([counts, staying]);
  for await (const { redaction, kept: staying } of redactDispatches(store, redactor))
    answers.push([redaction?.counts, staying]);
  expect(answers).toEqual([
    [{ canary: 1 }, { canary: 3 }],
    [{ canary: 3 }, { canary: 10 }],
  ]);
  const after = await found(store);
  expect(after.every(({ isKept }) => isKept)).toBe(true);
  expect(placesOf(after).sort()).toEqual([...kept].sort());
});

it('a second redaction counts them again, and changes nothing', async () => {
  const store = await storeWithSecrets();
  for (let round = 0; round < 2; round += 1) {
    for await (const _ of redactTasks(store, redactor));
    for await (const _ of redactDispatches(store, redactor));
  }
  const answers = [];
  for await (const { counts, kept: staying } of redactTasks(store, redactor)) answers.push([counts, staying]);
  for await (const { redaction, kept: staying } of redactDispatches(store, redactor))
    answers.push([redaction?.events, staying]);
  expect(answers).toEqual([
    [{}, { canary: 3 }],
    [0, { canary: 10 }],
  ]);
});

it('the counts of redaction are not found as secrets, even if a pattern matches the name of its kind', async () => {
  const own = createRedactor({ patterns: { acme: 'acme' } });
  const store = openDispatchStore(createMemoryStore());
  onTestFinished(() => store.close());
  const dispatch = await store.beginDispatch('lab/tasks/one', { role: 'worker', dispatchId: 'A' });
  await dispatch.append(newEvent('agent:text', { text: 'of acme' }));
  await dispatch.end({ status: 'completed' });
  const changed = [];
  for (let round = 0; round < 3; round += 1)
    for await (const { redaction } of redactDispatches(store, own)) changed.push(redaction?.events);
  expect(changed).toEqual([1, 0, 0]);
  for await (const { secret } of scanSecrets(store, own)) expect(secret).toBeUndefined();
});
