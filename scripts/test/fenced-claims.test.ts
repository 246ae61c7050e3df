import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';
import { InboxClaim, ProviderDispatch } from '../../packages/dispatch/src/store/provider-dispatch.ts';
import type { FencedClaim as FileClaim } from '../../plugins/store-jsonfile/src/dispatch/dispatch-claims.ts';
import type { FencedClaim as PostgresClaim } from '../../plugins/store-postgres/src/claims.ts';
import type { FencedClaim as RedisClaim } from '../../plugins/store-redis/src/claims.ts';
import { scripts } from '../../plugins/store-redis/src/server/scripts.ts';
import type { FencedClaim as SqliteClaim } from '../../plugins/store-sqlite/src/writer-leases.ts';
import { root } from '../workspace.ts';

/** The calls by which a store replaces, rewrites, repairs or removes what a dispatch has. */
const changing: Readonly<Record<string, RegExp>> = {
  jsonfile: /\bfiles\.(?:rename|remove|removeFolder|truncate)$|\.truncate$|\brestoreClosing$/,
  sqlite:
    /statements\.(?:setEnvelope|setStartedAt|deleteDispatch|deleteEvents|deleteEventIds|deleteSearchText|copyEvent|insertLoss|moveLosses|deleteLosses)\.run$/,
  postgres:
    /statements\.(?:setEnvelope|deleteDispatch|deleteEvents|deleteOwnEvents|deleteWords|insertEvents|insertLoss|moveLosses|deleteLosses)$/,
  redis:
    /^script$|^scripts\.(?:setEnvelope|remove|unstage)$|^\[(?:\.\.\.\[)?'(?:DEL|UNLINK|SET|H(?:SET|DEL)|X(?:ADD|DEL|TRIM)|Z(?:ADD|REM)|RENAME|EVAL)'/,
};

/** The other functions with such a call, each with the reason why it needs no `FencedClaim`. */
const others: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  jsonfile: {
    'lines/open-file.ts truncate': 'of an open file, whose only caller repairs a claimed dispatch',
    'lines/open-file.ts replaceFile':
      'files of the store beside its dispatches: records of tasks, listings, heartbeats',
    'lines/open-file.ts createFile': 'a new dispatch: a link that never replaces a file',
    'lines/open-file.ts openNew': 'the name of a temporary file, which no dispatch has as its own',
    'dispatch/dispatch-writer.ts restoreClosing':
      'of the open file of a writer, or of the one that `prepareAppend` repairs',
    'dispatch/dispatch-claims.ts discard':
      'the folder of a deletion: its callers have the claim, and its name has the lease of one opening',
    'dispatch/dispatch-handle.ts prepareAppend':
      'its only caller has the claim of the file that it opened for writing',
    'dispatch/dispatch-writer.ts removeTorn': 'the open file of a writer, which was opened with a claim',
    'locks/writer-locks.ts tryToTake': 'a lock that this opening released before',
    'locks/writer-locks.ts removeLost': 'locks, after the claim was recorded',
    'locks/writer-locks.ts remove': 'a lock of this opening',
    'locks/writer-locks.ts removeAll': 'heartbeats of this opening',
    'store-remains.ts remove': 'the unfinished record of a task, under the lock of task.json',
  },
  sqlite: {
    'events/renewal.ts copyEvents': 'rows under a new number, which `renew` gave',
    'events/renewal.ts copyWholeEvents': 'rows under a new number, which `renew` gave',
  },
  postgres: {
    'events/renewal.ts flush': 'rows under a new number, which `renew` gave',
  },
  redis: {
    'claims.ts remove': 'the script takes the dispatch over in the step that removes it',
    'claims.ts end': 'the lease of this opening',
    'claims.ts renew': 'the lease of this opening',
    'dispatch-table.ts update': 'the script compares the writer in the step that writes',
    'events/renewal.ts drop': 'a number that no dispatch has, or the script removes nothing',
    'remains.ts removeRemains': 'a number that no dispatch has, or the script removes nothing',
    'server/scripts.ts the file': 'the text of a script, which the test below reads',
    'server/server.ts repeatable': 'whatever script its callers run',
  },
};

interface Place {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The functions of a file that make such a call and neither take nor make a `FencedClaim`. */
function unfenced(file: string, source: string, calls: RegExp): string[] {
  const functions: Place[] = [];
  const named: Place[] = [];
  const found: number[] = [];
  const name = (text: string, { start, end }: { start: number; end: number }) =>
    named.push({ name: text, start, end });
  const add = ({ start, end }: { start: number; end: number }) => functions.push({ name: '', start, end });
  const textOf = ({ start, end }: { start: number; end: number }) => source.slice(start, end);
  new Visitor({
    FunctionDeclaration: (node) => {
      add(node);
      name(node.id?.name ?? '', node);
    },
    FunctionExpression: add,
    ArrowFunctionExpression: add,
    MethodDefinition: (node) => name(textOf(node.key).replace('#', ''), node),
    CallExpression: (node) => {
      const callee = textOf(node.callee);
      // PostgreSQL runs a statement by its text, and Redis a script or a command.
      const [first] = node.arguments;
      const runs = /\.run$|erver\.repeatable(?:Command)?$/.test(callee);
      const statement = first !== undefined && runs ? textOf(first) : '';
      if (calls.test(callee) || calls.test(statement)) found.push(node.start);
    },
  }).visit(parseSync(file, source).program);
  const isFenced = (at: number) =>
    functions.some(({ start, end }) => {
      if (at < start || at >= end) return false;
      const before = source.slice(start, at);
      return /FencedClaim|\(claim\) =>|\.takeOver\(|\.own\(|\.takeNew\(|#claim\b/.test(before);
    });
  return found
    .filter((at) => !isFenced(at))
    .map((at) => named.filter(({ start, end }) => at >= start && at < end).at(-1)?.name ?? 'the file')
    .filter((each, at, all) => all.indexOf(each) === at);
}

it.each(Object.keys(changing))(
  'store-%s changes a dispatch only with a claim that its takeover made',
  (store) => {
    const folder = join(root, `plugins/store-${store}/src`);
    const found = globSync('**/*.ts', { cwd: folder }).flatMap((file) =>
      unfenced(file, readFileSync(join(folder, file), 'utf8'), changing[store] as RegExp).map(
        (name) => `${file} ${name}`,
      ),
    );
    expect(found.toSorted()).toEqual(Object.keys(others[store] ?? {}).toSorted());
  },
);

it('a second way to a file or a row is found', () => {
  const wayAround = 'class Store { tidy(name: DispatchName) { this.files.rename(name.copy, name.file); } }';
  expect(unfenced('a.ts', wayAround, changing.jsonfile as RegExp)).toEqual(['tidy']);
  const withClaim = 'class Store { tidy(claim: FencedClaim) { this.files.rename(claim.copy, claim.file); } }';
  expect(unfenced('a.ts', withClaim, changing.jsonfile as RegExp)).toEqual([]);
  const rows =
    'async function tidy(session, number) { await session.run(statements.deleteEvents, [number]); }';
  expect(unfenced('a.ts', rows, changing.postgres as RegExp)).toEqual(['tidy']);
});

/** A change of a dispatch, and what compares the claim in the same step. */
const writes = /call\('(?:SET|DEL|UNLINK|HSET|HDEL|HINCRBY|XADD|ZADD|ZREM)'|\b(?:addEvents|index|unindex)\(/;
const fences =
  /if row\[\d\] ~= (?:token|ARGV\[3\] or row\[2\] ~= token)|'writer'\) == ARGV\[1\]|if refused > 0 then return/;
/** The scripts that need no claim, each with the reason. */
const withoutClaim = {
  create: 'a dispatch that does not exist',
  breakClaim: 'it ends a claim, and changes nothing else',
  unstage: 'a number that no dispatch has',
  putTask: 'the record of a task',
};

function unfencedScripts(all: Readonly<Record<string, { readonly text: string }>>): string[] {
  const [first = '', ...others] = Object.values(all).map(({ text }) => text);
  let shared = 0;
  while (others.every((text) => text[shared] === first[shared])) shared += 1;
  return Object.entries(all).flatMap(([name, { text }]) => {
    const body = text.slice(shared);
    const [written, fenced] = [body.search(writes), body.search(fences)];
    return written >= 0 && (fenced < 0 || fenced > written) ? [name] : [];
  });
}

it('each script of store-redis compares the claim before it changes a dispatch', () => {
  expect(unfencedScripts(scripts).toSorted()).toEqual(Object.keys(withoutClaim).toSorted());
  for (const name of ['release', 'claim', 'setEnvelope', 'append', 'stage', 'switchTo', 'remove'] as const) {
    const text = scripts[name].text.replace(fences, '');
    expect(unfencedScripts({ ...scripts, [name]: { text } }), name).toContain(name);
  }
});

it.each([
  ['jsonfile', 'dispatch/dispatch-claims.ts', 'DispatchClaims'],
  ['sqlite', 'writer-leases.ts', 'WriterLeases'],
  ['postgres', 'claims.ts', 'Claims'],
  ['redis', 'claims.ts', 'Claims'],
])('only the file of its claims can make a claim of store-%s', (store, file, maker) => {
  const source = readFileSync(join(root, `plugins/store-${store}/src`, file), 'utf8');
  expect(source).toContain('\nclass Fenced {');
  expect(source).toContain('\nexport type FencedClaim = Fenced;\n');
  // Each is made inside the class that decides about claims.
  const made = [...source.matchAll(/new Fenced\(/g)].map(({ index }) => index);
  expect(made.length).toBeGreaterThan(0);
  expect(made.every((at) => at > source.indexOf(`export class ${maker} {`))).toBe(true);
});

it('a letter is rewritten and removed only with the claim of its dispatch', async () => {
  const folder = join(root, 'packages/dispatch/src');
  const changing = /\.(?:rewriteDispatch|deleteDispatch)\(/g;
  const found = globSync('**/*.ts', { cwd: folder }).flatMap((file) => {
    const source = readFileSync(join(folder, file), 'utf8');
    return [...source.matchAll(changing)].map(
      ({ index }) => `${file} ${source.slice(index - 15, index).trim()}`,
    );
  });
  // Only here are the methods of a provider called, behind the check below.
  expect(found.filter((each) => each.includes('provider'))).toEqual([
    'store/provider-dispatch.ts return provider',
    'store/provider-dispatch.ts return provider',
  ]);
  const calls: string[] = [];
  const method =
    (name: string) =>
    (taskDir: string): undefined =>
      void calls.push(`${name} ${taskDir}`);
  const provider = {
    capabilities: { rewrite: true, deleteDispatch: true },
    ...Object.fromEntries(
      ['claimDispatch', 'releaseDispatch', 'deleteDispatch', 'rewriteDispatch'].map((name) => [
        name,
        method(name),
      ]),
    ),
  } as unknown as ConstructorParameters<typeof ProviderDispatch>[0];
  const place = { taskDir: '_hansard/inbox/D', dispatchId: 'letter_1' };
  const letter = new ProviderDispatch(provider, place);
  const rewrite = { envelope: <T>(one: T) => one, event: <T>(one: T) => one };
  expect(() => letter.delete()).toThrow(TypeError);
  expect(() => letter.rewrite(rewrite)).toThrow(TypeError);
  expect(calls).toEqual([]);
  const claim = await InboxClaim.take(provider, { taskDir: 'lab/maps', dispatchId: 'D' });
  await claim.rewrite(place, rewrite);
  await claim.delete(place);
  await claim.release();
  expect(calls).toEqual([
    'claimDispatch lab/maps',
    'rewriteDispatch _hansard/inbox/D',
    'deleteDispatch _hansard/inbox/D',
    'releaseDispatch lab/maps',
  ]);
  // @ts-expect-error: only `take` makes one.
  expect(() => new InboxClaim(provider, null)).not.toThrow();
});

/** Everything of an object but its private fields. */
type Public<Claim> = Pick<Claim, keyof Claim>;

it('no other object is a claim, whatever it has (checked by the compiler)', () => {
  const forge = (
    file: Public<FileClaim>,
    row: Public<SqliteClaim>,
    locked: Public<PostgresClaim>,
    held: Public<RedisClaim>,
  ) => {
    // @ts-expect-error: it lacks the private field.
    const one: FileClaim = file;
    // @ts-expect-error: it lacks the private field.
    const two: SqliteClaim = row;
    // @ts-expect-error: it lacks the private field.
    const three: PostgresClaim = locked;
    // @ts-expect-error: it lacks the private field.
    const four: RedisClaim = held;
    return [one, two, three, four];
  };
  expect(forge).toBeTypeOf('function');
});
