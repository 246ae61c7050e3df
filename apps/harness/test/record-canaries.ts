/**
 * Records canaries in every place of a store (`record`), or redacts them (`redact`), until it is killed. Prints a canary or the digest of a
 * content after it was acknowledged. Arguments: the name of the store in durable-stores.ts, its folder, what to do, and the first number.
 */
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { redactDispatches } from '@hansard/maintenance';
import { createRedactor } from '@hansard/redaction';
import { durableStores } from './durable-stores.ts';

const taskDir = 'a/tasks/one';
const [name, cwd = '', work, first = '0'] = process.argv.slice(2);
const [provider] = durableStores.filter((one) => one.name === name).map(({ open }) => open(cwd));
if (provider === undefined) throw new Error(`There is no store ${name}.`);
const store = openDispatchStore(provider);

function print(text: string): void {
  for (;;) {
    try {
      writeSync(1, text);
      return;
    } catch (error) {
      // The pipe is full.
      if ((error as { code?: string }).code !== 'EAGAIN') throw error;
    }
  }
}

/** Found by a pattern of its own. The last characters differ most, because an index can keep the beginning of a word once for many words. */
function canary(number: number): string {
  const digest = createHash('sha256').update(`canary ${number}`).digest('base64');
  return `canary_${digest.replaceAll(/[+/=]/g, 'x').slice(0, 36)}`;
}

async function record(number: number): Promise<void> {
  for (let at = number; ; ) {
    const dispatchId = `D${String(at).padStart(5, '0')}`;
    const next = () => canary(at++);
    const secrets = [next()];
    const dispatch = await store.beginDispatch(taskDir, {
      role: 'worker',
      dispatchId,
      fidelity: 'full',
      title: `title ${secrets[0]}`,
    });
    const say = (secret: string) => {
      secrets.push(secret);
      return newEvent('agent:text', { text: `${'y '.repeat(200)} ${secret}` });
    };
    await dispatch.append([say(next()), say(next())]);
    const key = next();
    await dispatch.append(
      newEvent('agent:tool_result', {
        toolCallId: 'c',
        tool: 't',
        status: 'completed',
        durationMs: 1,
        metadata: { [key]: key },
        output: { [key]: [key] },
      } as never),
    );
    const bytes = Buffer.from(`the bytes of ${at} have ${next()}`);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const parts = [{ kind: 'image', mediaType: 'image/png', base64: bytes.toString('base64') }];
    await dispatch.append(
      newEvent('user:message', { text: 'look', source: { kind: 'user' }, parts } as never),
    );
    const letter = next();
    await store.sendLetter({ taskDir, dispatchId }, { text: letter });
    await store.searchEvents(key, { taskDir });
    const renamed = next();
    await dispatch.update({ title: renamed });
    await store.putTask(taskDir, {
      slug: 'one',
      name: `One ${next()}`,
      project: 'a',
      status: 'open',
      created: '2026-03-01T09:00:00.000Z',
    });
    for (let more = 0; more < 16; more += 1) await dispatch.append(say(next()));
    await dispatch.end({ status: 'completed' });
    for (const secret of [...secrets, key, letter, renamed]) print(`secret ${secret}\n`);
    print(`content ${sha256} ${bytes.toString('base64')}\n`);
  }
}

if (work === 'record') await record(Number(first));
print('begins\n');
for await (const { dispatchId } of redactDispatches(
  store,
  createRedactor({ patterns: { canary: 'canary_[0-9A-Za-z]{36}' } }),
))
  print(`redacted ${dispatchId}\n`);
