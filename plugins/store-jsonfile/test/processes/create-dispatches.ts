import { openJsonFileStore } from '../../src/index.ts';
import { makeEnvelope } from '../envelope.ts';

/** Creates dispatches in one task, and prints a line when each is there. Arguments: root, task, prefix of ids, how many. */
const [, , root = '', taskDir = '', prefix = '', count = '0'] = process.argv;
const store = openJsonFileStore({ root });
for (let number = 0; number < Number(count); number += 1) {
  store.createDispatch(taskDir, makeEnvelope(`${prefix}${number}`));
  process.stdout.write(`${number}\n`);
}
