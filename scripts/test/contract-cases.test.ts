import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storeConformanceCases } from '../../packages/store-conformance/src/index.ts';
import { root } from '../workspace.ts';

const text = readFileSync(join(root, 'docs/contract.md'), 'utf8');
const section = /\*\*The cases of each rule\.\*\*([\s\S]*?)\n## /.exec(text)?.[1] ?? '';
/** The rows of the tables of clauses: the clause and its cases. */
const clauses = [...section.matchAll(/^\| (?!.* \| cases \|$)(\S.*) \| (`.*`) \|$/gm)].map(
  ([, clause = '', cases = '']) => ({
    clause,
    named: [...cases.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  }),
);
const ids = storeConformanceCases.map(({ id }) => id);
const operations = ids.flatMap((id) => (id.startsWith('open/') ? [id.slice('open/'.length)] : []));

/** The cases with this name: itself, or one per operation. */
function casesOf(name: string): readonly string[] {
  if (!name.endsWith('OPERATION')) return ids.filter((id) => id === name);
  const family = name.slice(0, -'OPERATION'.length);
  return ids.filter((id) => operations.some((operation) => id === family + operation));
}

describe('the clauses of the store contract', () => {
  it('each name at least one case, and only cases that exist', () => {
    expect(clauses.length).toBeGreaterThan(30);
    for (const { clause, named } of clauses) {
      expect([clause, named.length]).not.toEqual([clause, 0]);
      expect([clause, named.filter((name) => casesOf(name).length === 0)]).toEqual([clause, []]);
    }
  });

  it('name every case of the kit, once', () => {
    const named = clauses.flatMap((one) => one.named.flatMap(casesOf));
    expect(ids.filter((id) => !named.includes(id))).toEqual([]);
    expect(named.filter((id, index) => named.indexOf(id) !== index)).toEqual([]);
  });

  it('have a table for each rule, and name the cases of the rule in one of them', () => {
    const rules = [...section.matchAll(/^\| (\d)\. .* \| cases \|$/gm)].map(([, rule]) => Number(rule));
    expect(rules).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(new Set(storeConformanceCases.map(({ rule }) => rule))).toEqual(new Set([...rules, null]));
  });
});
