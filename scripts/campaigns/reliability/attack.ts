/** What a round did, by its name in `docs/reliability.md`, such as `processes killed`. */
export type Figures = Readonly<Record<string, number>>;

/** An attack on a store, in rounds. */
export interface Attack {
  /** The figure that `--count` limits. */
  readonly unit: string;
  /** How many of them a campaign does without `--count`. */
  readonly count: number;
  /** The choices of a round depend on its seed alone. @throws if something acknowledged was lost, or damage was silent */
  readonly round: (seed: number) => Promise<Figures> | Figures;
}

export const storeNames = ['jsonfile', 'sqlite', 'postgres'] as const;
export type StoreName = (typeof storeNames)[number];

/** The stores of the campaign: those above, and one whose server alone is attacked. */
export const attackedNames = [...storeNames, 'redis'] as const;
export type AttackedName = (typeof attackedNames)[number];
