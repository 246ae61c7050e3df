import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exampleStoreCapabilities, openExampleStore } from '../dist/index.js';
import { fileFaults } from './file-faults.mjs';

/** How the kit opens the store: for its cases in this process, in another one, and after it has damaged the stored bytes. */
export default {
  capabilities: exampleStoreCapabilities,
  create() {
    const root = mkdtempSync(join(tmpdir(), 'store-example-'));
    return {
      store: openExampleStore({ root }),
      reopen: () => openExampleStore({ root }),
      elsewhere: { module: new URL('./open-store.mjs', import.meta.url), args: [root] },
      damage(taskDir, dispatchId) {
        const file = join(root, taskDir, 'dispatches', `${dispatchId}.log`);
        return { bytes: readFileSync(file), write: (bytes) => writeFileSync(file, bytes) };
      },
      faults: fileFaults,
      dispose: () => rmSync(root, { recursive: true }),
    };
  },
};
