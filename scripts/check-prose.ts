import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareWithCeilings, lowered } from './prose/ceilings.ts';
import { findHits } from './prose/find-hits.ts';
import { prosePatterns } from './prose/patterns.ts';
import { groupOf, proseFiles } from './prose/prose-files.ts';
import { root } from './workspace.ts';

/**
 * Checks comments, messages and documents for constructions that the house style avoids. `ceilings.json` has how many are
 * allowed in each package; a count may only fall. Arguments:
 *
 * - none: compares with the ceilings, and lists the places of each package that is above its own;
 * - a path or several: lists every place below them;
 * - `--count`: prints how many places each construction has;
 * - `--write`: lowers the ceilings to what was counted. It never raises one.
 */
const args = process.argv.slice(2);
const ceilingsPath = join(root, 'scripts/prose/ceilings.json');
const hits = findHits(root, proseFiles(root));
const print = (places: typeof hits) => {
  for (const { file, line, pattern, found, better } of places)
    console.log(`${file}:${line}: ${pattern}: "${found}" → ${better}`);
};
const counted: Record<string, number> = {};
for (const file of proseFiles(root)) counted[groupOf(file)] = 0;
for (const { file } of hits) counted[groupOf(file)] = (counted[groupOf(file)] ?? 0) + 1;

if (args[0] === '--count') {
  for (const { id } of prosePatterns)
    console.log(`${String(hits.filter(({ pattern }) => pattern === id).length).padStart(5)} ${id}`);
  console.log(`${String(hits.length).padStart(5)} in all`);
} else if (args[0] === '--write') {
  const ceilings = JSON.parse(readFileSync(ceilingsPath, 'utf8'));
  writeFileSync(ceilingsPath, `${JSON.stringify(lowered(ceilings, counted), null, 2)}\n`);
} else if (args.length > 0) {
  print(hits.filter(({ file }) => args.some((path) => file === path || file.startsWith(`${path}/`))));
} else {
  const problems = compareWithCeilings(JSON.parse(readFileSync(ceilingsPath, 'utf8')), counted);
  for (const { group, message, isAbove } of problems) {
    if (isAbove) print(hits.filter(({ file }) => groupOf(file) === group));
    console.error(message);
  }
  console.log(
    problems.length === 0
      ? `Prose: ${hits.length} places left, each package at its ceiling.`
      : `Prose: ${problems.length} packages differ from their ceilings.`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}
