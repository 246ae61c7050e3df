import { join } from 'node:path';
import { branchedLog } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { type ComparedViews, wrongView } from './branched-views.ts';

const home = join(import.meta.dirname, '../..');
const seeds = 300;

const branched = 'knowledge/knowledge-of.ts';
const folds = 'knowledge/knowledge-fold.ts';
const index = 'log/log-index.ts';

/** What is replaced in a source of the views, once. */
const mutants: readonly (readonly [fault: string, file: string, piece: string, instead: string])[] = [
  [
    'an answer is given what came on every branch',
    'knowledge/knowledge-of.ts',
    'index.tree === null ? readStraight(index, root) : BranchedKnowledge.read(index, index.tree, root)',
    'readStraight(index, root)',
  ],
  [
    'the branches after an entry are folded on top of each other',
    branched,
    'if (this.#shared.has(before)) path = { ...path, fold: path.fold.fork() };',
    'if (this.#shared.has(before)) path = { ...path };',
  ],
  [
    'what was taken back stays in later prompts',
    branched,
    'isCut ||= before !== null && this.#tree.isOnPath(next.of.event.id, before.event.id);',
    '',
  ],
  [
    'an answer that was taken back before it came is in later prompts',
    branched,
    'this.#folds.set(node, isNeverShown ? path : this.#add(path, node));',
    'this.#folds.set(node, this.#add(path, node));',
  ],
  [
    'what was taken back during a call was never received',
    branched,
    '    settle({ ...path, fold: path.fold.fork() });\n',
    '',
  ],
  [
    'a recorded prompt is that of the branch on which its answer is',
    branched,
    'if (last === null || this.#isOnOwnPath(agentId, node, last)) return false;',
    'if (last !== null) return false;',
  ],
  [
    'a recorded prompt lacks what was taken back after it',
    branched,
    'by.position <= last.position || by.position >= node.position',
    'by.position >= 0',
  ],
  [
    'an agent does not know what it inherits',
    branched,
    'let path = known ?? newPath(this.#log, agentId);',
    'let path = known?.agentId === agentId ? known : newPath(this.#log, agentId);',
  ],
  [
    'a message that came during a call is before the answer',
    branched,
    'return this.#isUndecided(path, node) ? added : settle(added);',
    'return settle(added);',
  ],
  [
    'the record of a call is only on the branch that was current',
    branched,
    "if (this.#hasAny(added, blocks?.get(next.event.messageId ?? '')))",
    'if (this.#tree.isCurrent(next.event.id))',
  ],
  [
    'an answer waits for the calls that were open when it began',
    branched,
    'if (isNeverShown || (isGivenPath && (path.undecided.length > 0 || this.#isUndecided(path, node))))',
    'if (isNeverShown)',
  ],
  [
    'what an agent knows at some time is what it knows at the end',
    branched,
    'const path = this.#tree.currentPath(agentId, this.#log.index.nodes[position]?.event.id);',
    'const path = this.#tree.currentPath(agentId);',
  ],
  [
    'a path shares what no answer was given yet with the paths beside it',
    folds,
    'this.#waiting = isFirst ? [] : [...below.#waiting];',
    'this.#waiting = [];',
  ],
  [
    'a compaction of another branch replaces what this one has',
    folds,
    'this.#compactions = isFirst ? [] : [...below.#compactions];',
    'this.#compactions = isFirst ? [] : below.#compactions;',
  ],
  [
    'a result without its call on the path is in the prompt',
    'knowledge/given-answer.ts',
    'step === cutResult || ',
    '',
  ],
  [
    'a result answers the latest call with its id, on any branch',
    index,
    'const call = onPath ?? latest.get(callKey(event));',
    'const call = latest.get(callKey(event));',
  ],
  [
    'what a second program has is taken back',
    index,
    "return tree.standing(id) === 'abandoned' ? 'abandoned' : null;",
    "return tree.isCurrent(id) ? null : 'abandoned';",
  ],
  ['nothing is marked as taken back', index, "if (tree.isRetracted(id)) return 'retracted';", ''],
  [
    'an utterance is not marked',
    'log/sayings.ts',
    "const fate = kind === 'message' ? null : this.#fateOf({ event, position });",
    'const fate = null as Fate | null;',
  ],
  [
    'those that heard it have it no more, either',
    'log/sayings.ts',
    'const fate = this.#fateOf(node);\n    const hearing',
    'const fate = saying.fate ?? null;\n    const hearing',
  ],
  [
    'a perspective has only the current branch',
    branched,
    'if (!this.#items.has(item.node)) this.#items.set(item.node, item);',
    'if (!this.#items.has(item.node) && this.#tree.isCurrent(item.node.event.id)) this.#items.set(item.node, item);',
  ],
  ['a cause is not marked', 'causes/causality.ts', '...(fate === null ? {} : { fate }),', ''],
  [
    'links that lead nowhere are not reported',
    index,
    '.concat(checkReferences(log.nodes, ids), tree?.problems ?? [])',
    '.concat(checkReferences(log.nodes, ids))',
  ],
];

async function viewsWith(file: string, piece: string, instead: string): Promise<ComparedViews> {
  return (await importMutated(home, [file, piece, instead], 'index.ts')) as ComparedViews;
}

/** The first seed whose log the views read wrong. */
function wrongSeed(views: ComparedViews): number | null {
  for (let seed = 1; seed <= seeds; seed += 1) {
    try {
      if (wrongView(branchedLog({ seed, length: 60, talks: true }), views) !== null) return seed;
    } catch {
      return seed;
    }
  }
  return null;
}

describe('the random logs of agents that talk', () => {
  it('are read right by an unchanged copy of the views', async () => {
    expect(
      wrongSeed(await viewsWith(index, 'fateOf,\n    eventWithId', 'fateOf,\n    eventWithId')),
    ).toBeNull();
  });

  it.each(mutants)('catch that %s', async (_, file, piece, instead) => {
    expect(wrongSeed(await viewsWith(file, piece, instead))).not.toBeNull();
  });
});
