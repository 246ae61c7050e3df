import type { ErrorRow } from '@hansard/events';
import { type ErrorSection, errorSections } from './error-families.ts';
import { workspacePackages } from './workspace.ts';

const head = `# Errors

<!-- Generated from the declarations in the sources: \`pnpm docs:errors\` writes this page. -->

Every error that Hansard throws on purpose has a \`code\` from a closed set, stable between major versions, a message about the
event and its place, \`advice\` on how to continue, \`details\` for programs, and the original error as \`cause\`.
Recognise an error by its family (\`storeErrors.is(error, 'STORE_LOCKED')\`), not by \`instanceof\`: the family also knows errors that
another copy of a package made. Wrong use by a programmer (a missing argument, a negative count) is a plain \`TypeError\` and
has no code. The options of a run or a session are checked before anything is created, and have a code.

The last column names the fields of \`details\`; one with a \`?\` is not always there. The \`details\` of a store may have more.
`;

/** The text of `docs/errors.md`. */
export function errorsDoc(): string {
  const names = new Map(workspacePackages().map(({ folder, name }) => [folder, name]));
  return [
    head,
    ...errorSections.map((section) => sectionText(section, names.get(section.folder) ?? '')),
  ].join('\n');
}

function sectionText(
  { title, table: name, family, before, after }: ErrorSection,
  packageName: string,
): string {
  const rows = Object.entries(family.rows).map(([code, row]) => tableRow(code, row));
  const table = ['| code | when | what to do | details |', '|---|---|---|---|', ...rows].join('\n');
  const heading = `## ${title}: \`${name}\` of \`${packageName}\``;
  return `${[heading, before, table, after].filter((part) => part !== undefined).join('\n\n')}\n`;
}

function tableRow(code: string, { when, advice, details = [] }: ErrorRow): string {
  const cells = [`\`${code}\``, when, advice, details.map((name) => `\`${name}\``).join(', ')];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`.replace(/ {2}\|$/, ' |');
}
