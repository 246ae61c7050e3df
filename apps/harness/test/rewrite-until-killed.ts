/**
 * Rewrites a dispatch again and again, with another text for all its events each time, and prints the text after each rewrite. Arguments:
 * the name of the store in durable-stores.ts, its folder, the task, the dispatch, and the number of the first text.
 */
import { writeSync } from 'node:fs';
import { durableStores } from './durable-stores.ts';

const [name, cwd = '', taskDir = '', dispatchId = '', first = '0'] = process.argv.slice(2);
const [store] = durableStores.filter((one) => one.name === name).map(({ open }) => open(cwd));
if (store === undefined) throw new Error(`There is no store ${name}.`);
for (let number = Number(first); ; number += 1) {
  const text = `text-${number}-${'x'.repeat(200)}`;
  store.rewriteDispatch(taskDir, dispatchId, {
    envelope: (envelope) => ({ ...envelope, title: text }),
    event: (event) => (event.id.startsWith('notice') ? event : { ...event, data: { text } }),
    notice: () => ({
      id: `notice-${String(number).padStart(6, '0')}`,
      type: 'system:notice',
      timestamp: '2026-03-01T10:00:00.000Z',
      data: { problem: text },
    }),
  });
  writeSync(1, `${number}\n`);
}
