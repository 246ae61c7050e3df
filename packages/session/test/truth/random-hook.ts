import type { HookProvider } from '@hansard/provider';
import type { Random } from './random.ts';
import type { TruthRecord } from './truth-record.ts';

export interface HookSetting {
  readonly random: Random;
  readonly truth: TruthRecord;
  /** A call has the result that its agent will get. */
  readonly onFinished: (toolCallId: string) => void;
}

/** Denies, alters and allows; what it makes of a text may have the old words in it, or those of somebody else. */
export function randomHook(name: string, { random, truth, onFinished }: HookSetting): HookProvider {
  return {
    contract: 1,
    name,
    decide(question) {
      if (random.chance(0.7)) return { decision: 'allow' };
      if (question.on === 'tool_call') {
        if (random.chance(0.7)) {
          truth.alterCall(question.toolCallId);
          return { decision: 'alter', input: { by: name } };
        }
        const reason = 'not now';
        truth.denyCall(question.toolCallId, `Error: Action blocked by hook '${name}': ${reason}`);
        onFinished(question.toolCallId);
        return { decision: 'deny', reason };
      }
      if (question.on === 'utterance' || question.on === 'input') return { decision: 'allow' };
      const reason = 'a secret';
      if (random.chance(0.4)) {
        if (question.on === 'delivery') truth.decideDelivery('deny');
        else {
          truth.denyResult(question.toolCallId, `Error: Result withheld by hook '${name}': ${reason}`);
          onFinished(question.toolCallId);
        }
        return { decision: 'deny', reason };
      }
      if (question.on === 'delivery') truth.decideDelivery('alter');
      else truth.alterResult(question.toolCallId);
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
export function witness({ truth, onFinished }: HookSetting): HookProvider {
  return {
    contract: 1,
    name: 'witness',
    decide(question) {
      if (question.on === 'tool_result') {
        truth.passResult(question.toolCallId, question.text);
        onFinished(question.toolCallId);
      }
      return { decision: 'allow' };
    },
  };
}
