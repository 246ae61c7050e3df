import { InMemorySessionStore } from '@anthropic-ai/claude-agent-sdk';
import { openDispatchStore } from '@hansard/dispatch';
import { createSessionStore } from '../../src/session-store.ts';
import { closedAtEnd, providers } from './open-stores.ts';
import { sessionStoreContract } from './session-store-contract.ts';

sessionStoreContract("the SDK's own", async () => new InMemorySessionStore(), { countsUuidsOnce: false });

for (const [name, open] of Object.entries(providers)) {
  sessionStoreContract(
    `Hansard's on ${name}`,
    async () => createSessionStore({ store: closedAtEnd(openDispatchStore(open())) }),
    { countsUuidsOnce: true },
  );
  sessionStoreContract(
    `Hansard's on ${name}, all in one task`,
    async () =>
      createSessionStore({ store: closedAtEnd(openDispatchStore(open())), taskDir: 'app/tasks/one' }),
    { countsUuidsOnce: true },
  );
}
