import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { root } from './workspace.ts';

/** A command line that a message or a help text of the sources prints. */
export interface PrintedCommand {
  /** The words after `hansard`. A part that is computed is `${…}` with its source. */
  readonly words: string;
  readonly file: string;
  /** Whether it stands in a sentence, in backticks; otherwise it is an example of a help text. */
  readonly isHint: boolean;
}

const sources = '{packages,plugins,apps}/*/src/**/*.ts';

/** Every command line that Hansard prints: hints in backticks, and examples on lines of their own. Each once, in the order of the sources. */
export function printedCommands(): readonly PrintedCommand[] {
  const found = new Map<string, PrintedCommand>();
  for (const file of globSync(sources, { cwd: root }).sort()) {
    for (const text of textsOf(file, readFileSync(join(root, file), 'utf8'))) {
      for (const command of commandsIn(text))
        if (!command.words.startsWith('${')) found.set(command.words, { ...command, file });
    }
  }
  return [...found.values()];
}

function commandsIn(text: string): Pick<PrintedCommand, 'words' | 'isHint'>[] {
  const hints = [...text.matchAll(/`hansard ([^`]+)`/g)];
  const examples = [...text.matchAll(/^ {2}hansard ((?! {2}).+)$/gm)];
  return [
    ...hints.map(([, words = '']) => ({ words, isHint: true })),
    ...examples.map(([, words = '']) => ({ words, isHint: false })),
  ];
}

/** The texts of a source; of a template, with its expressions as they are written. The words of `withExamples` and `steps` are examples. */
function textsOf(file: string, source: string): string[] {
  const texts: string[] = [];
  new Visitor({
    CallExpression: ({ callee, arguments: given }) => {
      const name = source.slice(callee.start, callee.end);
      const [list] = given;
      const rows = name === 'steps' && list?.type === 'ArrayExpression' ? list.elements : [];
      const words = [
        ...(name === 'withExamples' ? given : []),
        ...rows.map((row) => (row?.type === 'ArrayExpression' ? row.elements[0] : null)),
      ];
      for (const word of words)
        if (word?.type === 'Literal' && typeof word.value === 'string') texts.push(`  hansard ${word.value}`);
    },
    Literal: ({ value }) => {
      if (typeof value === 'string') texts.push(value);
    },
    TemplateLiteral: ({ quasis, expressions }) => {
      const pieces = quasis.flatMap(({ value }, at) => {
        const expression = expressions[at];
        return [
          value.cooked ?? '',
          expression ? `\${${source.slice(expression.start, expression.end)}}` : '',
        ];
      });
      texts.push(pieces.join(''));
    },
  }).visit(parseSync(file, source).program);
  return texts;
}
