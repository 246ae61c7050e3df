import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { communicationConformance } from '@hansard/provider-conformance';
import { createMemoryStore } from '@hansard/store-memory';
import { canaryMapping } from '@hansard/testing';
import { describe, it } from 'vitest';
import { createStreamsWriter } from '../src/index.ts';

communicationConformance.define({
  name: 'comm-streams',
  describe,
  it,
  create: () => {
    const folder = mkdtempSync(join(tmpdir(), 'hansard-comm-streams-'));
    const store = openDispatchStore(createMemoryStore());
    return {
      provider: createStreamsWriter({ folder, mapping: canaryMapping, isExtended: false }),
      store,
      record: async (taskDir, { dispatchId, role }, events) => {
        const dispatch = await store.beginDispatch(taskDir, { dispatchId, role, fidelity: 'full' });
        await dispatch.append(events);
      },
      dispose: async () => {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
});
