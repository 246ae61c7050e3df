import type { HookProvider } from '@hansard/provider';
import type { Random } from './random.ts';
import type { TruthRecord } from './truth-record.ts';

/** Denies, alters and allows; what it makes of a text may have the old words in it, or those of somebody else. */
export function randomHook(name: string, random: Random, truth: TruthRecord): HookProvider {
  return {
    contract: 1,
    name,
    decide(question) {
      if (question.on === 'tool_result') return { decision: 'allow' };
      if (random.chance(0.7)) return { decision: 'allow' };
      if (question.on === 'tool_call') {
        if (random.chance(0.7)) {
          truth.decide('tool_call', 'alter');
          return { decision: 'alter', input: { by: name } };
        }
        truth.decide('tool_call', 'deny');
        const reason = 'not now';
        // What the agent gets in place of a result.
        truth.result(question.agentId ?? '', `Error: Action blocked by hook '${name}': ${reason}`, []);
        return { decision: 'deny', reason };
      }
      if (random.chance(0.4)) {
        truth.decide('delivery', 'deny');
        return { decision: 'deny', reason: 'a secret' };
      }
      truth.decide('delivery', 'alter');
      const text = random.pick([
        `Nobody should believe this: ${question.text}`,
        `${question.text}!`,
        random.words(),
      ]);
      return { decision: 'alter', text };
    },
  };
}
