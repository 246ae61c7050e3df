import { openDispatchStore } from '@hansard/dispatch';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';

const taskDir = 'lab/tasks/lamps';
const dispatchId = 'D1';
const place = { taskDir, dispatchId };
const inbox = `_hansard/inbox/${dispatchId}`;

describe('letters', () => {
  it('are in no listing, are redacted before they are written, and are deleted with the session', async () => {
    const store = openDispatchStore(createMemoryStore(), { redact: createRedactor() });
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
    const letter = await store.sendLetter(place, {
      text: 'key AKIAQ7RZ2LMN4PQR6STU',
      agentId: 'agent_999',
    });
    expect(letter.text).toMatch(/^key \[REDACTED:[a-z-]+\]$/);
    const same = { text: 'Twice.', from: 'twice', agentId: 'agent_999' };
    await store.sendLetter(place, same);
    await store.sendLetter(place, same);
    await expect(store.sendLetter(place, { ...same, text: 'Other.' })).rejects.toMatchObject({
      code: 'STORE_DISPATCH_EXISTS',
    });
    await dispatch.end({ status: 'completed' });
    expect((await store.listDispatches()).dispatches).toHaveLength(1);
    expect((await store.listTasks()).map((task) => task.taskDir)).toEqual([taskDir]);
    expect(await store.readLetters(place)).toHaveLength(2);
    await store.deleteDispatch(place);
    expect(await store.getDispatchEnvelopes(inbox)).toEqual([]);
  });
});
