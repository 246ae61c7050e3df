// biome-ignore-all lint/suspicious/noTemplateCurlyInString: mutants replace pieces of sources.
import { join } from 'node:path';
import { logImporters } from '@hansard/import';
import type { Readers } from './world-difference.ts';

export type Fault = readonly [file: string, piece: string, instead: string];

/** A package, and what is replaced in a source of it, once. */
export interface Mutated {
  readonly home: string;
  readonly entry: string;
  /** The readers with the exports of the changed package. */
  readonly tools: (made: never) => Partial<Readers>;
  /** Each with the seed of a world that is then read wrong. */
  readonly faults: readonly (readonly [fault: string, seed: number, ...change: Fault])[];
}

export const homeOf = (name: string) => join(import.meta.dirname, '../../../../packages', name);

type OpenTranscript = typeof import('@hansard/claude').openClaudeTranscript;

/** The importers, with another reader of transcripts. */
function importersWith(openClaudeTranscript: OpenTranscript): Readers['importers'] {
  return logImporters.map((importer) =>
    importer.id !== 'claude-transcript'
      ? importer
      : {
          ...importer,
          async open(source, options) {
            const [opened] = await importer.open(source, options);
            const [file = '', ...subAgents] = source.files;
            const log = await openClaudeTranscript(file, { subAgents });
            if (opened === undefined) return [];
            return [
              {
                ...opened,
                read: (options) => log.read(options),
                summary: () => log.summary(),
                isInSeveralRecords: (id) => log.isInSeveralRecords?.(id) ?? false,
                continueAfter: (kept) => log.continueAfter(kept),
              },
            ];
          },
        },
  );
}

const branches = 'map/transcript-branches.ts';
const mapping = 'map/transcript-mapping.ts';
const tree = 'tree/transcript-tree.ts';

export const mutated: readonly Mutated[] = [
  {
    ...{ home: 'claude', entry: 'index.ts' },
    tools: (made: { openClaudeTranscript: OpenTranscript }) => ({
      importers: importersWith(made.openClaudeTranscript),
    }),
    faults: [
      [
        'a prompt never goes back',
        1,
        branches,
        'if (isHere && said >= lastPrompt) return stays;',
        'if (isHere) return stays;',
      ],
      [
        'a marker does nothing',
        4,
        branches,
        'if (rewound !== true) return;',
        'if (rewound !== undefined) return;',
      ],
      ['a marker is taken again', 32, branches, 'text === this.#followed', "text === ''"],
      [
        'a marker forgets what it cuts',
        36,
        branches,
        'const row = this.#rows.find(cut ?? undefined);',
        'const row = unknown;',
      ],
      [
        'a marker leaves a branch that was left before',
        5704,
        branches,
        'return isLive(branch) ? branch : this.#rows.current;',
        'return branch;',
      ],
      [
        'a prompt below a result on a left branch follows the call',
        8967,
        branches,
        'return isLeft ? entry : said;',
        'return said;',
      ],
      [
        'a prompt that names its parent does not show that rows are linked',
        7650,
        branches,
        "(record.type === 'assistant' || isPrompt) && parent > head",
        "record.type === 'assistant' && parent > head",
      ],
      [
        'a return to a part of an answer returns to its end',
        6327,
        branches,
        'const cut = next?.row ?? this.#rows.saidAfter(parent, branch);',
        'const cut = next?.row;',
      ],
      [
        'a boundary never goes back',
        4,
        branches,
        "if (compaction === 'boundary' && isOwnAnchor(record))",
        'if (false)',
      ],
      [
        'a late row stays on the current branch',
        1,
        branches,
        "if (move.kind === 'late') return",
        "if (move.kind === 'never') return",
      ],
      [
        'a prompt on a live branch goes back',
        67,
        branches,
        'return branch.isLive || branch.last > branch.leftAt;',
        'return branch.isLive && branch.start < 0;',
      ],
      [
        'a continued reading knows no branch',
        1,
        branches,
        'if (isHere && said >= lastPrompt) return stays;\n    if (this.#isPartial) return this.#beyond();',
        'if ((isHere && said >= lastPrompt) || this.#isPartial) return stays;',
      ],
      [
        'usage of other records is forgotten when it continues',
        40,
        mapping,
        'this.#state.inferences.again = facts.again;',
        '',
      ],
      [
        'late usage is a further call',
        2,
        'map/inferences.ts',
        '({ ...late, isMore: true as const })',
        '({ ...late })',
      ],
      ['late usage does not count', 2, 'map/inferences.ts', 'return [...more, ...this', 'return [...this'],
      ['a head that an agent repeats is its own', 4, mapping, 'this.#noteHead(record, uuid);', ''],
      [
        'a note ends the head that an agent repeats',
        13,
        'map/transcript-state.ts',
        '?? noteChecksum(record) ??',
        '??',
      ],
      [
        'an agent begins without the transcript that its file refers to',
        2,
        'map/records.ts',
        'agent.inherits = step.transcript.lastEventOf(through);',
        '',
      ],
      [
        'metadata that comes after the lines of its agent change nothing',
        3276,
        'continue/kept-reading.ts',
        'before.metadata !== metadataOf(file)',
        'before.metadata < 0',
      ],
      ['a fork names no origin', 3, mapping, 'if (origin === null ||', 'if (origin !== undefined ||'],
    ],
  },
  {
    ...{ home: 'facts', entry: 'copies.ts' },
    tools: ({ CopyFinder }: Pick<Readers, 'CopyFinder'>) => ({ CopyFinder }),
    faults: [
      [
        'the greatest name has it',
        1,
        'copies.ts',
        'sessionId <= this.#session(other).sessionId',
        'sessionId >= this.#session(other).sessionId',
      ],
      [
        'equal record ids prove nothing',
        1,
        'copies.ts',
        'for (const name of reading.evidence) {',
        'for (const name of [] as string[]) {',
      ],
      [
        'content does not matter',
        30,
        'copies.ts',
        'session === owner || areEqual(items, own)',
        'session === owner || items.length > 0',
      ],
      [
        'records have no place',
        1,
        'copies.ts',
        '(one.item.names as string[]).push(`p:${one.place} ${messageId}`);',
        ';',
      ],
      [
        'a rewind does not change the place',
        1,
        'copies.ts',
        'const after = isRewind ?',
        "const after = isRewind && event.id === '' ?",
      ],
      [
        'a return to a branch forgets the records after its last answer',
        2506,
        'copies.ts',
        'return this.#places.get(after) ??',
        "return { answer: this.#places.get(after)?.answer ?? '', between: null } ??",
      ],
      [
        'equal message ids are enough',
        15,
        'copies.ts',
        'related[session]} ${messageId}`;\n        const answer',
        '0} ${messageId}`;\n        const answer',
      ],
      ['the number of a block does not matter', 1, 'copies.ts', '[`a:${key} ${name}`]', '[`a:${key}`]'],
    ],
  },
  {
    ...{ home: 'prompt', entry: 'index.ts' },
    tools: ({ TranscriptTree, renderCalls }: Pick<Readers, 'TranscriptTree' | 'renderCalls'>) => ({
      TranscriptTree,
      renderCalls,
    }),
    faults: [
      [
        'a transcript inherits all of the other one',
        2,
        tree,
        'return place?.agent.id === agentId ? entryOf(place) : undefined;',
        'return place?.agent.id === agentId ? place.agent.current.end : undefined;',
      ],
      [
        'a late record makes its branch the current one',
        2,
        tree,
        "    putOn(place, branch);\n    return 'elsewhere';",
        "    this.#makeCurrent(branch);\n    putOn(place, branch);\n    return 'elsewhere';",
      ],
      [
        'a prompt that stands elsewhere continues the current branch',
        2,
        tree,
        "if (place.kind === 'prompt') {",
        'if (false) {',
      ],
    ],
  },
  {
    ...{ home: 'views', entry: 'index.ts' },
    tools: ({ createLogIndex, knowledgeOf }: Pick<Readers, 'createLogIndex' | 'knowledgeOf'>) => ({
      createLogIndex,
      knowledgeOf,
    }),
    faults: [
      [
        'an answer is given what came on every branch',
        1,
        'knowledge/knowledge-of.ts',
        'index.tree === null ? readStraight(index, root) : BranchedKnowledge.read(index, index.tree, root)',
        'readStraight(index, root)',
      ],
      [
        'those that heard it still have it',
        4,
        'log/sayings.ts',
        'const fate = this.#fateOf(node);\n    const hearing',
        'const fate = null as never;\n    const hearing',
      ],
      ['a report carries nothing', 4, 'log/log-index.ts', 'substanceAt[node.position] = carried;', ''],
    ],
  },
  {
    ...{ home: 'dispatch', entry: 'index.ts' },
    tools: ({ usageOf, openTaskSource }: Pick<Readers, 'usageOf' | 'openTaskSource'>) => ({
      usageOf,
      openTaskSource,
    }),
    faults: [
      [
        'what was found among all sessions holds among some',
        3,
        'usage/find-copies.ts',
        'const copies = kept?.among === group.name ? kept :',
        'const copies = kept !== undefined ? kept :',
      ],
      ['training rows have the copies', 1, 'open-task-source.ts', '?.copied ?? null', '?.copied && null'],
    ],
  },
  {
    ...{ home: 'datasets', entry: 'index.ts' },
    tools: ({ writeTrainingData }: Pick<Readers, 'writeTrainingData'>) => ({ writeTrainingData }),
    faults: [
      [
        'abandoned answers are trained',
        1,
        'training/training-source.ts',
        'records.isBranched ? await',
        'records.isBranched && records.events < 0 ? await',
      ],
    ],
  },
] as unknown as readonly Mutated[];
