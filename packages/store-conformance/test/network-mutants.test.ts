import { describe, expect, it } from 'vitest';
import { runStoreConformance, type StoreUnderTest, storeConformanceCases } from '../src/index.ts';
import { networkMutants } from './mutants/network.ts';
import { type HasFault, openNetworkStore, ReferenceServer } from './reference/network-store.ts';
import { referenceCapabilities } from './reference/reference-store.ts';

const answerMs = 400;

/** A network store, for the kit. */
function networkStore(fault: string | null): StoreUnderTest {
  const has: HasFault = (one) => one === fault;
  return {
    capabilities: referenceCapabilities,
    seed: 7,
    caseLimitMs: 30_000,
    create: async () => {
      const server = await ReferenceServer.start(has);
      const address = { host: '127.0.0.1', port: server.port };
      return {
        store: await openNetworkStore(address, answerMs),
        reopen: () => openNetworkStore(address, answerMs),
        hasServer: true,
        network: {
          ...address,
          open: (through) => openNetworkStore(through, answerMs, has),
          elsewhere: (through) => ({
            module: new URL('./reference/open-network.ts', import.meta.url),
            args: [{ ...through }, answerMs, fault],
          }),
          answerMs,
          slackMs: 1_500,
        },
        dispose: () => server.close(),
      };
    },
  };
}

const caseIds = storeConformanceCases.map(({ id }) => id).filter((id) => id.startsWith('network/'));

describe('a store behind a network', () => {
  it('passes each case of a network', async () => {
    const results = await runStoreConformance(networkStore(null), caseIds);
    expect(results.filter(({ status }) => status !== 'passed')).toEqual([]);
  });

  it.concurrent.each(networkMutants)('that %s fails %s', async (fault, caseId) => {
    const [result] = await runStoreConformance(networkStore(fault), [caseId]);
    expect(result?.status).toBe('failed');
    expect(String(result?.error)).not.toMatch(/^(?:Type|Range|Reference)Error/);
  });

  it('fails each case of a network with one of the mutants', () => {
    const named = new Set(networkMutants.map(([, caseId]) => caseId));
    expect(caseIds.filter((id) => !named.has(id))).toEqual(['network/random-outages']);
  });
});
