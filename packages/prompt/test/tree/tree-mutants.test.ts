import { join } from 'node:path';
import { branchedLog } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { type TreeClass, treeDifference } from './tree-difference.ts';

const home = join(import.meta.dirname, '../..');
const seeds = 600;

const tree = 'transcript-tree.ts';
const places = 'places.ts';

/** What is replaced in a source of the tree, once. */
const mutants: readonly (readonly [fault: string, file: string, piece: string, instead: string])[] = [
  ['a rewind cuts nothing', tree, 'this.#makeCurrent(next);\n    putOn', 'putOn'],
  [
    'a rewind does not keep the event that it names',
    tree,
    ": this.#entryNamed(place, keptThrough, 'keptThrough');",
    ": this.#entryNamed(place, keptThrough, 'keptThrough')?.before;",
  ],
  [
    'a rewind never returns to a branch',
    tree,
    'target === current.end ? current : (branchEnding(agent, target) ?? newBranch(agent, target))',
    'target === current.end ? current : newBranch(agent, target)',
  ],
  [
    'the branch that a rewind leaves is only parallel',
    tree,
    "leaving.state = 'abandoned'",
    "leaving.state = 'parallel'",
  ],
  [
    '`left` is ignored',
    tree,
    'const leaving = last == null ? current : (this.#branchWith(agent, last) ?? current);',
    'const leaving = current;',
  ],
  [
    'a rewind to nothing keeps what the agent inherits',
    tree,
    'const target = keptThrough === null ? null :',
    'const target = keptThrough === null ? agent.head :',
  ],
  [
    'a late record always extends the current branch',
    tree,
    "    putOn(place, branch);\n    return 'elsewhere';",
    "    return 'continues';",
  ],
  [
    'a late record makes its branch the current one',
    tree,
    "    putOn(place, branch);\n    return 'elsewhere';",
    "    this.#makeCurrent(branch);\n    putOn(place, branch);\n    return 'elsewhere';",
  ],
  [
    'a late record extends the branch that was extended first',
    tree,
    'other.extended - one.extended',
    'one.extended - other.extended',
  ],
  [
    'a late record opens a branch where it stands',
    tree,
    "if (this.#isOn(entry, current.end)) return 'continues';\n    const branch",
    "if (this.#isOn(entry, current.end)) { place.before = entry; return 'continues'; }\n    const branch",
  ],
  [
    'a prompt that stands elsewhere continues the current branch',
    tree,
    "if (place.kind === 'prompt') {",
    'if (false) {',
  ],
  [
    'a prompt never continues an abandoned branch',
    tree,
    'const branch = branchEnding(agent, entry) ?? newBranch(agent, entry);',
    'const branch = newBranch(agent, entry);',
  ],
  [
    'a message of a hook is a prompt',
    places,
    "return isPlainObject(source) && (source.kind === 'system' || source.hook !== undefined);",
    'return isPlainObject(source) && false;',
  ],
  ['a call that a rewind cuts stays open', tree, '    this.#takeBack(target, place);\n', ''],
  ['a call of the branch that is left stays open', tree, '    this.#takeBack(leaving.end, place);\n', ''],
  [
    'what is taken back was so before',
    tree,
    'agent.retracted.set(eventId, number)',
    'agent.retracted.set(eventId, 0)',
  ],
  [
    'every agent can take back events of others',
    tree,
    'if (place !== undefined && place.agent !== agent)',
    'if (false as boolean)',
  ],
  [
    'an inherited head is lost',
    tree,
    'return place?.agent.id === agentId ? entryOf(place) : undefined;',
    'return null;',
  ],
  [
    'a transcript inherits all of the other one',
    tree,
    'return place?.agent.id === agentId ? entryOf(place) : undefined;',
    'return place?.agent.id === agentId ? place.agent.current.end : undefined;',
  ],
  [
    'a link to a record means the end of the branch',
    tree,
    'if (named.agent === agent) return entry;',
    'if (named.agent === agent) return isEntry(named) ? entry : agent.current.end;',
  ],
  ['an entry after a missing one is known', tree, 'place.missing = agent.missing;', ''],
  [
    'an unknown rewind empties the transcript',
    tree,
    'if (target === undefined) {',
    "if (target === undefined && keptThrough === '') {",
  ],
  [
    'what a rewind left is current',
    tree,
    'entry.agent !== agent || current.has(entry)) continue;',
    "entry.agent !== agent || place.branch.state === 'abandoned') continue;",
  ],
  ['a left branch has all its events', tree, ' || current.has(entry)) continue;', ') continue;'],
  [
    'a branch ends with the last event of its transcript',
    tree,
    'if (isEntry(place)) return line.has(place);',
    'if (isEntry(place)) return branches.has(place.branch);',
  ],
  [
    'a branch has the records of the branches beside it',
    tree,
    'if (place.number > last.number || !branches.has(place.branch)) return false;',
    'if (place.number > last.number) return false;',
  ],
  [
    'a branch has later records',
    tree,
    'if (place.number > last.number || !branches.has(place.branch)) return false;',
    'if (!branches.has(place.branch)) return false;',
  ],
  ['the past has the branch of today', tree, 'if (entryOf(place) !== end) place.currentEnd = end;', ''],
];

async function treeWith(file: string, piece: string, instead: string): Promise<TreeClass> {
  const made = await importMutated(home, [`tree/${file}`, piece, instead], `tree/${tree}`);
  return (made as { TranscriptTree: TreeClass }).TranscriptTree;
}

/** The first seed whose log a tree reads wrong. */
function wrongSeed(Tree: TreeClass): number | null {
  for (let seed = 1; seed <= seeds; seed += 1) {
    try {
      if (treeDifference(branchedLog({ seed, length: 48 }), Tree) !== null) return seed;
    } catch {
      return seed;
    }
  }
  return null;
}

describe('the random logs', () => {
  it('are read right by an unchanged copy of the tree', async () => {
    expect(wrongSeed(await treeWith(tree, 'readonly #byId', 'readonly #byId'))).toBeNull();
  });

  it.each(mutants)(
    'catch that %s',
    async (_, file, piece, instead) => {
      expect(wrongSeed(await treeWith(file, piece, instead))).not.toBeNull();
    },
    60_000,
  );
});
