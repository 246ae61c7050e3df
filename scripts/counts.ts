import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Node, parseSync, Visitor } from 'oxc-parser';
import { root, workspacePackages } from './workspace.ts';

/** The most lines that a function may have, from its first parameter to its last brace. */
export const mostLines = 70;

export interface LongFunction {
  readonly file: string;
  readonly line: number;
  readonly lines: number;
}

export interface Counts {
  readonly sourceFiles: number;
  readonly sourceLines: number;
  /** Names in the lists of `index.ts` and the other entries of all packages. */
  readonly exportedNames: number;
  /** Source files that exactly one other source file imports. */
  readonly importedByOne: number;
  /** Those of them that an entry names, or another file loads when it is needed: they are public, or apart to be loaded late. */
  readonly importedByEntryOrLate: number;
  readonly longFunctions: readonly LongFunction[];
  readonly changesets: number;
  /** Files that make a fold of the facts of a log. */
  readonly foldsMadeIn: readonly string[];
  /** Files that word who heard something. */
  readonly hearingWordedIn: readonly string[];
}

const sourcePatterns = ['{packages,plugins,apps}/*/src/**/*.{ts,tsx}'];
const testPatterns = ['{packages,plugins,apps,examples}/*/{test,template}/**/*.{ts,tsx}'];
const otherPatterns = ['{scripts,benchmarks}/**/*.{ts,tsx}', 'examples/*/src/**/*.ts'];

/** Counts what the repository is made of. */
export function countRepository(): Counts {
  const sources = filesOf(sourcePatterns);
  const imported = importersOf(sources);
  const byOne = sources.filter((file) => imported.get(file)?.size === 1);
  const entries = new Set(workspacePackages().flatMap(({ folder }) => entriesOf(folder)));
  return {
    sourceFiles: sources.length,
    sourceLines: sources.reduce((sum, file) => sum + linesOf(file), 0),
    exportedNames: exportedNames().size,
    importedByOne: byOne.length,
    importedByEntryOrLate: byOne.filter((file) =>
      [...(imported.get(file) ?? [])].every((importer) => entries.has(importer) || loadsLate(importer, file)),
    ).length,
    longFunctions: longFunctions(),
    changesets: globSync('.changeset/*.md', { cwd: root }).filter((file) => !file.endsWith('README.md'))
      .length,
    hearingWordedIn: sources.filter((file) => wordsHearing(file, read(file))),
    foldsMadeIn: sources.filter((file) => /new (?:DispatchFacts|DispatchTotals)\(/.test(read(file))),
  };
}

/** Every function with more than `mostLines` lines; the callback of a `describe` is a group of tests and no function. */
export function longFunctions(): LongFunction[] {
  return filesOf([...sourcePatterns, ...testPatterns, ...otherPatterns]).flatMap((file) =>
    longFunctionsIn(file, read(file)),
  );
}

export function longFunctionsIn(file: string, source: string): LongFunction[] {
  const found: LongFunction[] = [];
  const groups = new Set<number>();
  const starts = lineStarts(source);
  const lineAt = (offset: number) => starts.findLastIndex((start) => start <= offset) + 1;
  const check = ({ start, end }: Node) => {
    const line = lineAt(start);
    const lines = lineAt(end) - line + 1;
    if (lines > mostLines && !groups.has(start)) found.push({ file, line, lines });
  };
  new Visitor({
    CallExpression: ({ callee, arguments: given }) => {
      const group = given.at(-1);
      if (group !== undefined && isDescribe(source.slice(callee.start, callee.end))) groups.add(group.start);
    },
    FunctionDeclaration: check,
    FunctionExpression: check,
    ArrowFunctionExpression: check,
  }).visit(parseSync(file, source).program);
  return found;
}

const hearing =
  /^(?:not )?heard (?:by|it)\b|\bwithheld from\b|^not known of\b|did not receive it|could have and did not/i;

/** Whether a text of a program says who heard something. */
export function wordsHearing(file: string, source: string): boolean {
  let isWorded = false;
  const check = (text: unknown) => {
    if (typeof text === 'string' && hearing.test(text.trim())) isWorded = true;
  };
  new Visitor({
    Literal: ({ value }) => check(value),
    TemplateElement: ({ value }) => check(value.raw),
    JSXText: ({ value }) => check(value),
  }).visit(parseSync(file, source).program);
  return isWorded;
}

function isDescribe(callee: string): boolean {
  return /^(?:describe|suite)\b/.test(callee);
}

function lineStarts(source: string): number[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Every name that an entry of a package exports, as `PACKAGE NAME`. */
function exportedNames(): Set<string> {
  const names = new Set<string>();
  for (const { folder, name } of workspacePackages()) {
    if (!/^(?:packages|plugins)\//.test(folder)) continue;
    for (const entry of entriesOf(folder))
      for (const exported of namesIn(entry)) names.add(`${name} ${exported}`);
  }
  return names;
}

/** The source files that other packages import by the name of this one. */
export function entriesOf(folder: string): string[] {
  const { exports = {} } = JSON.parse(read(join(folder, 'package.json')));
  return Object.values(exports as Record<string, unknown>).flatMap((entry) => {
    const source = (entry as Record<string, unknown> | null)?.['@hansard/source'];
    return typeof source === 'string' ? [join(folder, source)] : [];
  });
}

function namesIn(file: string): string[] {
  const { module } = parseSync(file, read(file));
  return module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ exportName }) => (exportName.name === null ? [] : [exportName.name])),
  );
}

/** For each file, the files of the same list that import it. */
function importersOf(files: readonly string[]): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>();
  for (const file of files) {
    const { module } = parseSync(file, read(file));
    const specifiers = [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) =>
        entries.map((entry) => entry.moduleRequest?.value ?? ''),
      ),
      ...[...read(file).matchAll(/import\('(\.[^']+)'\)/g)].map(([, specifier = '']) => specifier),
    ];
    for (const specifier of specifiers.filter((each) => each.startsWith('.'))) {
      const target = relative(root, resolve(root, dirname(file), specifier));
      importers.set(target, (importers.get(target) ?? new Set()).add(file));
    }
  }
  return importers;
}

function loadsLate(importer: string, file: string): boolean {
  return [...read(importer).matchAll(/import\('(\.[^']+)'\)/g)].some(
    ([, specifier = '']) => relative(root, resolve(root, dirname(importer), specifier)) === file,
  );
}

function filesOf(patterns: readonly string[]): string[] {
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((file) => !/(?:^|\/)(?:node_modules|dist|fixtures)\//.test(file))
    .sort();
}

function linesOf(file: string): number {
  return lineStarts(read(file)).length - 1;
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
