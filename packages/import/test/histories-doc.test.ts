import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { products } from '../src/importers/products.ts';
import { logImporters } from '../src/index.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/histories.md'), 'utf8');

const quoted = (names: readonly string[]) => [...new Set(names)].map((name) => `\`${name}\``).join(', ');

it('the page of histories has the folders of each product, and says whether it is read', () => {
  const rows = products
    .filter(({ whereItLies }) => whereItLies.length > 0)
    .map(({ readBy, title, whereItLies }) => {
      const folders = whereItLies.flatMap(({ home, below }) => below.map((name) => `${home}/${name}`));
      const variables = whereItLies.flatMap(({ variable }) => variable ?? []);
      const isRead = logImporters.some((importer) => importer.id === readBy);
      return `| ${title} | ${quoted(folders)} | ${quoted(variables) || '–'} | ${isRead ? 'yes' : 'no'} |`;
    });
  const [, table = ''] = page.split('|---|---|---|---|\n');
  expect(table.split('\n\n')[0]?.split('\n')).toEqual(rows);
});

it('the page of histories has the signature of Codex', () => {
  const codex = logImporters.find(({ id }) => id === 'codex');
  const [, section = ''] = page.split('## Codex');
  const [, list = ''] = /values of `type`: ([^.]*)\./.exec(section) ?? [];
  const kinds = [...list.matchAll(/`([a-z_]+)`/g)].map(([, kind]) => kind);
  expect(kinds).toHaveLength(8);
  const head = (type: string) => ({
    path: 'rollout.jsonl',
    text: `${JSON.stringify({ timestamp: '2026-03-01T09:30:00.000Z', type, payload: {} })}\n`,
    isCut: false,
  });
  expect(kinds.filter((kind) => !codex?.detect(head(kind ?? '')))).toEqual([]);
  expect(codex?.detect(head('message'))).toBe(false);
});

it('the page of histories has the signature of ATIF', () => {
  const [, member = '', start = ''] =
    /whose member `(\w+)` begins with `([^`]+)`/.exec(page.split('## ATIF')[1] ?? '') ?? [];
  const head = (text: string) => ({ path: 'trajectory.json', text, isCut: false });
  const importer = logImporters.find(({ id }) => id === 'atif');
  expect(importer?.detect(head(JSON.stringify({ [member]: `${start}1.7`, steps: [] })))).toBe(true);
  expect(importer?.detect(head(JSON.stringify({ [member]: 'other-v1', steps: [] })))).toBe(false);
});

/** The sample of a signature that the page has: JSON lines after **Signature.** */
const sampleOf = (section: string) =>
  /```jsonl\n([^`]*)```/.exec(page.split(`## ${section}\n`)[1] ?? '')?.[1] ?? '';

it.each([
  ['Gemini CLI', 'gemini-cli', ['sessionId', 'projectHash']],
  ['pi', 'pi', ['cwd', 'id']],
  ['Qwen Code', 'qwen-code', ['uuid', 'sessionId', 'parts']],
  ['GitHub Copilot CLI', 'copilot-cli', ['data', 'id', 'timestamp']],
] as const)('the page of histories has the signature of %s', (section, id, keys) => {
  const importer = logImporters.find((one) => one.id === id);
  const text = sampleOf(section);
  const detect = (start: string) => importer?.detect({ path: 'log', text: start, isCut: false });
  expect(detect(text)).toBe(true);
  for (const key of keys) expect([key, detect(text.replaceAll(`"${key}"`, '"other"'))]).toEqual([key, false]);
  expect(page.split(`## ${section}\n`)[1]).toContain(`The importer is called \`${id}\``);
});
