import type { LogImporterProvider } from '@hansard/provider';
import { type LawCase, lawCases } from './cases.ts';
import { createChoices, type RandomChoices } from './random.ts';
import type { WrittenRecord } from './written-source.ts';

/** An importer that the kit tests. */
export interface ImporterUnderTest {
  readonly importer: LogImporterProvider;
  /**
   * Writes a random source: at least six records, in the order in which a program writes them. It shares no code with the importer. Texts come
   * from `random.text()`, so that the kit finds them again.
   */
  readonly write: (random: RandomChoices) => readonly WrittenRecord[];
  /**
   * The cases that the importer does not pass yet, each with the reason. Such a case must fail, and counts as passed. When it passes, the kit
   * says that the gap is closed.
   */
  readonly knownGaps?: Readonly<Record<string, string>>;
  /** How many sources each case is checked with. Absent: 10. */
  readonly seeds?: number;
  /** The first seed. Absent: `HANSARD_SEED` of the environment, otherwise another one in each run. */
  readonly seed?: number;
}

/** A case of the kit, as data. */
export interface ImporterConformanceCase {
  /** `family/name`; stable between versions of the kit. */
  readonly id: string;
  /** What the user of a conforming importer gets. */
  readonly title: string;
}

export interface ImporterConformanceResult {
  /** The id of the case. */
  readonly id: string;
  /** The error of the case, with the seed and the shortest source that shows it; null: it passed. */
  readonly error: Error | null;
}

/** The test runner: `describe` and `it` of vitest or `node:test`. */
export interface ImporterTestRunner {
  /** The name of the importer, for the titles. */
  readonly name: string;
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
}

/** Every case, in the order in which they run. */
export const importerConformanceCases: readonly ImporterConformanceCase[] = lawCases.map(({ id, title }) => ({
  id,
  title,
}));

/** Defines a test for each law of import. */
export function importerConformance({
  name,
  describe,
  it,
  ...subject
}: ImporterTestRunner & ImporterUnderTest): void {
  describe(`${name} keeps the laws of import`, () => {
    for (const one of lawCases)
      it(`${one.id}: ${one.title}`, async () => {
        const error = await runCase(one, subject);
        if (error !== null) throw error;
      });
  });
}

/**
 * Runs cases one after the other, without a test runner: all, or those with the ids in `only`. An unknown id is a TypeError.
 */
export async function runImporterConformance(
  subject: ImporterUnderTest,
  only?: readonly string[],
): Promise<readonly ImporterConformanceResult[]> {
  const named = [...(only ?? []), ...Object.keys(subject.knownGaps ?? {})];
  const unknown = named.filter((id) => !lawCases.some((one) => one.id === id));
  if (unknown.length > 0) throw new TypeError(`No case is called ${unknown.join(' or ')}.`);
  const results: ImporterConformanceResult[] = [];
  for (const one of lawCases)
    if (only?.includes(one.id) ?? true) results.push({ id: one.id, error: await runCase(one, subject) });
  return results;
}

const seedsOfCase = 10;
const fewestRecords = 6;

async function runCase(one: LawCase, subject: ImporterUnderTest): Promise<Error | null> {
  const reason = subject.knownGaps?.[one.id];
  const error = await checkSources(one, subject);
  if (reason === undefined) return error;
  return error === null ? new Error(`${one.id} passes: remove it from knownGaps ("${reason}").`) : null;
}

async function checkSources(
  one: LawCase,
  { importer, write, seeds = seedsOfCase, seed }: ImporterUnderTest,
): Promise<Error | null> {
  const first = firstSeed(seed);
  for (let at = first; at < first + seeds; at += 1) {
    const records = write(createChoices(at));
    if (records.length < fewestRecords)
      throw new TypeError(
        `The source of seed ${at} has ${records.length} records; a source needs ${fewestRecords}.`,
      );
    const errorOf = (source: readonly WrittenRecord[]) => failureOf(one, importer, source, at);
    const error = await errorOf(records);
    if (error === null) continue;
    const isSame = (other: Error | null) => other?.message.slice(0, 40) === error.message.slice(0, 40);
    const shortest = await shrink(records, async (source) => isSame(await errorOf(source)));
    const shown = shortest.map(({ file, text }) => `  ${file}: ${text}`).join('\n');
    return new Error(
      `${one.id}: ${((await errorOf(shortest)) ?? error).message}\nHANSARD_SEED=${at} repeats it. ${shortest.length} of ${records.length} records show it:\n${shown}`,
      { cause: error },
    );
  }
  return null;
}

async function failureOf(
  one: LawCase,
  importer: LogImporterProvider,
  records: readonly WrittenRecord[],
  seed: number,
): Promise<Error | null> {
  try {
    // Texts of the case must not be those of the source.
    await one.check({ importer, records, random: createChoices(seed + 50_000) });
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const mostAttempts = 60;

/** Removes records as long as the source still fails in the same way. The first record stays. */
async function shrink(
  records: readonly WrittenRecord[],
  isFailing: (records: readonly WrittenRecord[]) => Promise<boolean>,
): Promise<readonly WrittenRecord[]> {
  let shortest = records;
  let attempts = 0;
  for (let size = Math.floor(records.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = 1; at < shortest.length && attempts < mostAttempts; attempts += 1) {
      const without = [...shortest.slice(0, at), ...shortest.slice(at + size)];
      if (without.length >= fewestRecords && (await isFailing(without))) shortest = without;
      else at += size;
    }
  return shortest;
}

function firstSeed(given: number | undefined): number {
  const fromEnvironment = process.env.HANSARD_SEED;
  const seed = given ?? (fromEnvironment ? Number(fromEnvironment) : Date.now() % 40_000);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new TypeError(`A seed is a whole number from 0, not ${JSON.stringify(given ?? fromEnvironment)}.`);
  return seed;
}
