import type { Awaitable } from '@hansard/provider';

/** A case of a kit, as data. */
export interface ProviderConformanceCase<Scenario extends string = string> {
  /** `family/name`; stable between versions of the kit. */
  readonly id: string;
  /** What the user of a conforming provider gets. */
  readonly title: string;
  /** The situation in which the provider is opened for this case. `plain` applies to every provider. */
  readonly scenario: Scenario | 'plain';
}

/** What a fixture of any kit can have. */
export interface CommonFixture {
  /** Removes what the fixture made. The kit has closed the provider by then. */
  readonly dispose?: () => Awaitable<void>;
}

interface ProviderFixture extends CommonFixture {
  readonly provider: { close?(): Awaitable<void> };
}

/** A provider that a kit tests. */
export interface ProviderUnderTest<Scenario extends string, Fixture> {
  /** The situations beyond `plain` that `create` can arrange. They choose the cases. */
  readonly scenarios?: readonly Scenario[];
  /** Opens a fresh provider in a situation; called once for each case. */
  readonly create: (scenario: Scenario | 'plain') => Awaitable<Fixture>;
  /** How long each step may take, in milliseconds. Absent: 5,000. */
  readonly patienceMs?: number;
}

export interface ProviderConformanceResult {
  /** The id of the case. */
  readonly id: string;
  /** The error of the case; null: it passed. */
  readonly error: unknown;
}

/** The test runner, for `define…`. */
export interface TestRunner {
  /** The name of the provider, for the titles. */
  readonly name: string;
  /** `describe` and `it` of the test runner: those of vitest or `node:test`, or any that take a name and a function. */
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
}

export interface RunnableCase<Scenario extends string, Fixture> extends ProviderConformanceCase<Scenario> {
  run(fixture: Fixture, patienceMs: number): Awaitable<void>;
}

/** A case as the file of its family writes it. Without a scenario it applies to every provider. */
export interface NamedCase<Scenario extends string, Fixture>
  extends Pick<RunnableCase<Scenario, Fixture>, 'title' | 'run'> {
  readonly name: string;
  readonly scenario?: Scenario;
}

/** The cases of one file, their ids made of the family and their names. */
export function caseFamily<Scenario extends string, Fixture>(
  family: string,
  cases: readonly NamedCase<Scenario, Fixture>[],
): readonly RunnableCase<Scenario, Fixture>[] {
  return cases.map(({ name, scenario, title, run }) => {
    const situation: Scenario | 'plain' = scenario ?? 'plain';
    return { id: `${family}/${name}`, title, scenario: situation, run };
  });
}

const defaultPatienceMs = 5_000;

/** The cases for one provider type, and the two ways to run them: under a test runner, and without one. */
export class ConformanceKit<Scenario extends string, Fixture extends ProviderFixture> {
  /** Every case, in the order in which they run. */
  readonly cases: readonly ProviderConformanceCase<Scenario>[];
  readonly #cases: readonly RunnableCase<Scenario, Fixture>[];

  constructor(cases: readonly RunnableCase<Scenario, Fixture>[]) {
    this.#cases = cases;
    this.cases = cases.map(({ id, title, scenario }) => ({ id, title, scenario }));
  }

  /** Defines a test for each case that applies to a provider with these scenarios. */
  define({ name, describe, it, ...subject }: TestRunner & ProviderUnderTest<Scenario, Fixture>): void {
    const cases = this.#casesFor(subject);
    const [family = ''] = cases[0]?.id.split('/') ?? [];
    describe(`${name} keeps the contract of ${family}`, () => {
      for (const one of cases) it(`${one.id}: ${one.title}`, () => this.#run(one, subject));
    });
  }

  /**
   * Runs cases one after the other, without a test runner, and returns the result of each: all that apply to the provider, or those
   * with the ids in `only`. An unknown id is a TypeError.
   */
  async run(
    subject: ProviderUnderTest<Scenario, Fixture>,
    only?: readonly string[],
  ): Promise<readonly ProviderConformanceResult[]> {
    const cases = this.#casesFor(subject);
    const unknown = only?.filter((id) => !cases.some((one) => one.id === id)) ?? [];
    if (unknown.length > 0)
      throw new TypeError(`No case for a provider with these scenarios is called ${unknown.join(' or ')}.`);
    const results: ProviderConformanceResult[] = [];
    for (const one of cases) {
      if (only !== undefined && !only.includes(one.id)) continue;
      const error = await this.#run(one, subject).then(
        () => null,
        (reason: unknown) => reason,
      );
      results.push({ id: one.id, error });
    }
    return results;
  }

  #casesFor({
    scenarios = [],
  }: ProviderUnderTest<Scenario, Fixture>): readonly RunnableCase<Scenario, Fixture>[] {
    return this.#cases.filter(({ scenario }) => scenario === 'plain' || scenarios.includes(scenario));
  }

  /** Runs one case on a provider of its own, which is closed and removed afterwards, including after a failure. */
  async #run(
    one: RunnableCase<Scenario, Fixture>,
    { create, patienceMs = defaultPatienceMs }: ProviderUnderTest<Scenario, Fixture>,
  ): Promise<void> {
    const fixture = await create(one.scenario);
    const steps = [
      () => one.run(fixture, patienceMs),
      () => fixture.provider.close?.(),
      () => fixture.dispose?.(),
    ];
    const errors: unknown[] = [];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('\nand at the end: '));
    if (errors.length === 1) throw errors[0];
  }
}
