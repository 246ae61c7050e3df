import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, commandLine } from './command-line.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const line = commandLine();
afterAll(() => line[Symbol.dispose]());

const sections = readFileSync(join(root, 'docs/questions.md'), 'utf8')
  .split(/^## /m)
  .map((text) => ({
    question: text.split('\n')[0] ?? '',
    commands: [...text.matchAll(/^npx pnpm@12 hansard (.*)$/gm)].map(([, words = '']) => words),
  }));
const [introduction, ...questions] = sections;

/** What each answer must contain, from the scenario and the recording; each on a line of its own. */
const answers: Readonly<Record<string, readonly RegExp[]>> = {
  'Who heard this?': [
    / Jack +Hello, I'm Jack.* wrapped +said +altered +·$/,
    / Inner +You like that.* · +· +same +said$/,
  ],
  'Who never heard it?': [/^Jack\b/, /^agent_001\b/],
  'What did she know at that time?': [/ heard: It rains, and the café is nearly empty\./],
  'How do the deliveries of a text differ from it?': [/4711/, /\[a number\]/],
  'What did the hooks change?': [/Discretion.* altered/],
  'Why did she say that?': [/I'm Jill\. You should not tell that/, /Let Jack and Jill meet in a café\./],
  'What followed from it?': [/I'm Jill\. You should not tell that/],
  'What did she think, and not say?': [/A joke, then, and my name\./],
  'What did the model see in that call?': [/You are Jill\. You write crime stories/, /\[a number\]/],
  'Which calls failed?': [/Read \/workspace\/nope\.txt +error/, /Grep hello +error/],
  'Where did the tokens go?': [/^claude-sonnet-4-5 .* 300 +60 /, /^all .*\$0\.0018/],
  'Where is that mentioned?': [/the till opens with \[a number\]/],
};
/** What no answer may contain. */
const never: Readonly<Record<string, RegExp>> = {
  'Which calls failed?': /echo hello/,
  'Who never heard it?': /^(?:Jill|Inner)\b/m,
  'What did she know at that time?': /4711|Tomorrow at four/,
  'What did the model see in that call?': /4711/,
};

describe('the questions of docs/questions.md', () => {
  beforeAll(async () => {
    for (const name of ['apps', 'examples']) symlinkSync(join(root, name), join(line.cwd, name));
    for (const words of introduction?.commands ?? []) expect(await run(words)).toMatchObject({ code: 0 });
  }, 240_000);

  it('are the twelve that have answers here, each with one command', () => {
    expect(introduction?.commands).toHaveLength(2);
    expect(questions.map(({ question }) => question)).toEqual(Object.keys(answers));
    expect(questions.map(({ commands }) => commands.length)).toEqual(questions.map(() => 1));
    expect(questions).toHaveLength(12);
  });

  it.each(questions)('$question', async ({ question, commands: [words = ''] }) => {
    const { code, out, err } = await run(words);
    expect([code, code === 0 ? '' : err]).toEqual([0, '']);
    for (const pattern of answers[question] ?? []) expect(out).toMatch(new RegExp(pattern, 'm'));
    const forbidden = never[question];
    if (forbidden !== undefined) expect(out).not.toMatch(forbidden);
  });
});

/** Runs a command as a shell would: words, quotes, and no terminal. */
function run(words: string): Promise<Answer> {
  return line.hansard(
    ...[...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain),
  );
}
