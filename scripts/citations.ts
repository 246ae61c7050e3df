import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { passagesOf, proseFiles } from './language.ts';
import { root } from './workspace.ts';

/** A place that cites a section of `docs/design.md` (`D7`) or a record in `docs/decisions` (`decision 0007`). */
export interface Citation {
  readonly file: string;
  readonly line: number;
  readonly target: string;
}

/** Ids in quotes are data, such as the dispatch 'D1' of a test. */
const sectionPattern = /(?<![\w'"`+#.\-/])[DSUGH][1-9]\d?(?![\w'"`])/g;
const decisionPattern = /\bdecisions? (\d{4})/gi;
/** Documents that are not in the repository. */
const absentPattern = /\b(?:DESIGN|STYLE)\b|(?<![\w./])specs\/\w+/g;

/** Every citation in comments, messages and documents. */
export function citations(files: readonly string[] = proseFiles(root)): Citation[] {
  return files.flatMap((file) =>
    passagesOf(root, file).flatMap(({ line, text }) =>
      citationsIn(text).map((target) => ({ file, line, target })),
    ),
  );
}

/** The targets that a text cites. */
export function citationsIn(text: string): string[] {
  return [
    ...[...text.matchAll(sectionPattern)].map(([target]) => target),
    ...[...text.matchAll(decisionPattern)].map(([, number]) => `decision ${number}`),
    ...[...text.matchAll(absentPattern)].map(([target]) => target),
  ];
}

/** What can be cited: the sections of the design, and the records. */
export function citationTargets(): ReadonlySet<string> {
  const design = readFileSync(join(root, 'docs/design.md'), 'utf8');
  return new Set([
    ...[...design.matchAll(/^### <a id="([a-z]\d+)"><\/a>([A-Z]\d+): /gm)].map(([, , id = '']) => id),
    ...decisionFiles().map((name) => `decision ${name.slice(0, 4)}`),
  ]);
}

/** The records in `docs/decisions`, by name. */
export function decisionFiles(): string[] {
  return globSync('*.md', { cwd: join(root, 'docs/decisions') }).sort();
}
