import assert from 'node:assert/strict';
import { describeContractProblem, requiredMethods } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { caseFamily } from '../../run/conformance-case.ts';

export const capabilityCases = caseFamily('capabilities', [
  {
    name: 'contract-version',
    rule: null,
    title: 'the opened store states the version of the contract that it implements',
    run: async ({ store }) => {
      const problem = describeContractProblem(store.contract);
      assert.equal(problem, null, `the store ${problem}`);
    },
  },
  {
    name: 'as-stated',
    rule: null,
    title: 'the opened store states the capabilities that its author tests it with, as plain data',
    atEachDurability: true,
    run: async ({ store, capabilities }) => {
      sameContent(store.capabilities, capabilities, 'capabilities');
      sameContent(structuredClone(store.capabilities), capabilities, 'a copy of the capabilities');
    },
  },
  {
    name: 'methods-there',
    rule: null,
    title: 'every method of the contract exists, and each optional one exactly if its flag is set',
    run: async ({ store, capabilities }) => {
      const methods = store as unknown as Record<string, unknown>;
      for (const name of requiredMethods.DispatchStoreProvider)
        assert.equal(typeof methods[name], 'function', `${name} is missing`);
      const optional = {
        searchEvents: capabilities.search,
        watch: capabilities.watch,
        deleteDispatch: capabilities.deleteDispatch,
        rewriteDispatch: capabilities.rewrite,
      };
      for (const [name, claimed] of Object.entries(optional))
        assert.equal(
          typeof methods[name],
          claimed ? 'function' : 'undefined',
          `${name} does not match its flag`,
        );
      if (!capabilities.rewrite)
        assert.equal(typeof methods.removeRemains, 'undefined', 'removeRemains needs the flag `rewrite`');
    },
  },
  {
    name: 'claim-methods',
    rule: 6,
    title: 'a store with several writers can show the claims of dispatches, and break them',
    needs: ['writers'],
    run: async ({ store }) => {
      assert.equal(typeof store.findClaim, 'function', 'findClaim is missing');
      assert.equal(typeof store.findClaims, 'function', 'findClaims is missing');
      assert.equal(typeof store.breakClaim, 'function', 'breakClaim is missing');
    },
  },
  {
    name: 'integrity-methods',
    rule: 7,
    title: 'a store that detects changed bytes can verify a dispatch, and accept its loss',
    needs: ['integrity'],
    run: async ({ store }) => {
      assert.equal(typeof store.verifyDispatch, 'function', 'verifyDispatch is missing');
      assert.equal(typeof store.acceptLoss, 'function', 'acceptLoss is missing');
    },
  },
]);
