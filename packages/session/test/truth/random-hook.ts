import type { HookProvider } from '@hansard/provider';
import type { Random } from './random.ts';
import type { TruthRecord } from './truth-record.ts';

/** Denies, alters and allows; what it makes of a text may have the old words in it, or those of somebody else. */
export function randomHook(name: string, random: Random, truth: TruthRecord): HookProvider {
  return {
    contract: 1,
    name,
    decide(question) {
      if (random.chance(0.7)) return { decision: 'allow' };
      if (question.on === 'tool_call') {
        if (random.chance(0.7)) {
          truth.decide('tool_call', 'alter');
          return { decision: 'alter', input: { by: name } };
        }
        const reason = 'not now';
        truth.denyCall(question.agentId ?? '', `Error: Action blocked by hook '${name}': ${reason}`);
        return { decision: 'deny', reason };
      }
      const reason = 'a secret';
      if (random.chance(0.4)) {
        if (question.on === 'delivery') truth.decide('delivery', 'deny');
        else truth.denyResult(`Error: Result withheld by hook '${name}': ${reason}`);
        return { decision: 'deny', reason };
      }
      if (question.on === 'delivery') truth.decide('delivery', 'alter');
      else truth.alterResult();
      const text = random.pick([
        `Nobody should believe this: ${question.text}`,
        `${question.text}!`,
        random.words(),
      ]);
      return { decision: 'alter', text };
    },
  };
}

/** Allows everything. It is asked last, so it sees the results that agents get. */
export function witness(truth: TruthRecord): HookProvider {
  return {
    contract: 1,
    name: 'witness',
    decide(question) {
      if (question.on === 'tool_result') truth.passResult(question.text);
      return { decision: 'allow' };
    },
  };
}
