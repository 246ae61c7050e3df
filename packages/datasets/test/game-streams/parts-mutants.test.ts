import { join } from 'node:path';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { partReaders, partsDifference } from './parts-difference.ts';

type Fault = readonly [what: string, file: string, piece: string, instead: string];

const splitter = 'parts/text-parts.ts';
const home = join(import.meta.dirname, '../..');
const views = join(home, '../views');

/** Faults of the splitter, each with its piece of the code. */
const splitterFaults: readonly Fault[] = [
  [
    'a thought ends at its first end',
    splitter,
    'top.depth += tag.isEnd ? -1 : 1;',
    'top.depth += tag.isEnd ? -1 : 0;',
  ],
  [
    'tags count within thoughts',
    splitter,
    "role === 'unnamed' || (role === 'thinking' && name !== '')",
    "role === 'unnamed'",
  ],
  [
    'tags without a role are text',
    splitter,
    "tag.role === 'text') continue;",
    "tag.role === 'text' || tag.role === 'unnamed') continue;",
  ],
  ['an end without a beginning is passed over', splitter, 'this.#split.parts.length = 0;', ''],
  [
    'text before an end without a beginning is lost',
    splitter,
    'if (this.#demoted > 0)',
    'if (this.#demoted < 0)',
  ],
  [
    'a tag that never ends is speech',
    splitter,
    "this.#split.add('thinking', text, start);\n    if (!isAction",
    "this.#split.add('chat', text, start);\n    if (!isAction",
  ],
  [
    'a tag without a role is speech',
    splitter,
    "addPart(this.#split, role === 'unnamed' ? 'thinking' : role",
    "addPart(this.#split, role === 'unnamed' ? 'chat' : role",
  ],
  [
    'names of tags are compared with their case',
    splitter,
    "return name.normalize('NFKC').toLowerCase();",
    'return name;',
  ],
  [
    'text outside of tags is always speech',
    splitter,
    "const rest = rules.rest ?? 'thinking';",
    "const rest = 'chat';",
  ],
  [
    'text outside of tags is never speech',
    splitter,
    "const rest = rules.rest ?? 'thinking';",
    "const rest = 'thinking';",
  ],
  [
    'a tag without its last character is text',
    splitter,
    "if (role === 'unnamed') return null;\n    }",
    'return null;\n    }',
  ],
  [
    'thoughts in whispers are whispered',
    splitter,
    "tag.role === 'thinking' || tag.role === 'unnamed' || isWhisper",
    "tag.role === 'unnamed' || isWhisper",
  ],
  [
    'a key without a role is speech',
    splitter,
    "this.#split.add('thinking', textOf(value), start);\n    return undefined;",
    "this.#split.add('chat', textOf(value), start);\n    return undefined;",
  ],
  ['a key that is there twice counts once', splitter, 'if (twice !== undefined)', 'if (twice === null)'],
  ['JSON in speech is speech', splitter, '&& parsed(value) === null', ''],
  ['tags in the speech of an object are speech', splitter, '!isMarked(value) && ', ''],
  [
    'an object that can not be read is lost',
    splitter,
    "return this.#whole(text, 'unreadable', '')",
    'return this.#split',
  ],
  [
    'a heading without a role continues the section',
    splitter,
    "if (found !== null && section?.role !== 'text')",
    'if (found !== null && section !== null)',
  ],
  [
    'no line in bold is a heading',
    splitter,
    "const isBold = text.startsWith('**');",
    'const isBold = false;',
  ],
  [
    'a whisper is said to all',
    'parts/split-messages.ts',
    "if (kind === 'chat') return",
    "if (kind !== 'thinking') return",
  ],
  [
    'a delivery keeps the block that it names',
    'parts/split-messages.ts',
    'if (of === undefined || of === event.substance) return event;',
    'return event;',
  ],
  [
    'each block of a message is split alone',
    'parts/split-messages.ts',
    "split(blocks.join(''))",
    'split(event.data.text)',
  ],
];

/** Faults of what training data has of a text, each with its piece of the code. */
const wordFaults: readonly Fault[] = [
  ['thoughts stay', splitter, 'kept += this.#text.slice(at, start);', 'kept += this.#text.slice(at, end);'],
  [
    'the text of a tag that never ends stays',
    splitter,
    'this.#hide(pieces);\n  }\n\n  /** Writes',
    '}\n\n  /** Writes',
  ],
  ['text before an end without a beginning stays', splitter, 'this.#split.hide(0, this.#demoted);', ''],
  ['text outside of tags stays', splitter, "if (this.#rest === 'thinking') this.#hide(root.pieces);", ''],
  ['keys of thoughts stay', splitter, 'said.length < entries.length || ', ''],
  ['further keys of a whisper stay', splitter, 'Object.keys(others).length === 0', 'true'],
  [
    'an object that can not be read stays',
    splitter,
    'this.#split.hide(0, text.length);\n    return this.#split;\n  }\n\n  /** A value',
    'return this.#split;\n  }\n\n  /** A value',
  ],
  ['sections of thoughts stay', splitter, 'split.hide(heading, end);', '{}'],
  [
    'whispers are left out',
    splitter,
    "if (role === 'unnamed' || role === 'thinking') this.#split.hide",
    "if (role !== 'chat') this.#split.hide",
  ],
];

const streamFaults: readonly Fault[] = [
  [
    'whispers in texts are chat',
    'game-streams/message-watch.ts',
    "parts.every((part) => part.kind === 'chat')",
    "parts.every((part) => part.kind !== 'action')",
  ],
  [
    'whispers in texts have no line',
    'game-streams/message-watch.ts',
    "if (kind === 'whisper')",
    "if (kind === 'chat')",
  ],
  [
    'each block of a message is split alone',
    'game-streams/message-watch.ts',
    "texts.map(({ text }) => text).join('')",
    "texts[0]?.text ?? ''",
  ],
  [
    'thoughts in texts have no line',
    'game-streams/message-watch.ts',
    "part.kind === 'thinking' ? 'thinking' : 'text'",
    "'text'",
  ],
  [
    'only the block of a text can be named by a delivery',
    'game-streams/message-watch.ts',
    'this.#split === null ? said : texts',
    'said',
  ],
  [
    'faults are not counted',
    'game-streams/message-watch.ts',
    'addRedactions(this.faults',
    'addRedactions({}',
  ],
];

const seeds = Array.from({ length: 100 }, (_, at) => at + 1);

function firstProblem(readers: typeof partReaders): string | null {
  for (const seed of seeds) {
    const [problem] = partsDifference(seed, readers);
    if (problem !== undefined) return problem;
  }
  return null;
}

describe('the random games with texts in parts', () => {
  it('find nothing in what is not broken', async () => {
    const [, file = '', piece = ''] = splitterFaults[0] ?? [];
    const same = await importMutated(views, [file, piece, piece], 'parts/split-messages.ts');
    expect(firstProblem({ ...partReaders, ...(same as object) })).toBeNull();
  });

  it.each(splitterFaults)('notice that %s', async (_, file, piece, instead) => {
    const broken = await importMutated(views, [file, piece, instead], 'parts/split-messages.ts');
    expect(firstProblem({ ...partReaders, ...(broken as object) })).not.toBeNull();
  });

  it.each(wordFaults)('notice in the texts without thoughts that %s', async (_, file, piece, instead) => {
    const broken = await importMutated(views, [file, piece, instead], splitter);
    expect(firstProblem({ ...partReaders, ...(broken as object) })).not.toBeNull();
  });

  it.each(streamFaults)('notice in the streams that %s', async (_, file, piece, instead) => {
    const broken = await importMutated(home, [file, piece, instead], 'game-streams/create-game-streams.ts');
    expect(firstProblem({ ...partReaders, ...(broken as object) })).not.toBeNull();
  });
});
