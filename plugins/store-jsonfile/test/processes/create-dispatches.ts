import { openJsonFileStore } from '../../src/index.ts';
import { makeEnvelope } from '../envelope.ts';

/** Creates dispatches in one task, and prints a line after each. Arguments: root, task, prefix of ids, number. */
const [, , root = '', taskDir = '', prefix = '', count = '0'] = process.argv;
const store = openJsonFileStore({ root });
for (let number = 0; number < Number(count); number += 1) {
  store.createDispatch(taskDir, makeEnvelope(`${prefix}${number}`));
  process.stdout.write(`${number}\n`);
}
