export interface TableFit {
  /** The columns of the terminal; undefined: as many as it needs. */
  readonly width: number | undefined;
  /**
   * Which cells are cut where the rows do not fit, by the name of their column: in this order, to no less than this. A
   * column that may be cut to nothing goes as a whole before it says nothing.
   */
  readonly cut: readonly {
    readonly column: string;
    readonly least: number;
    readonly keep?: 'start' | 'end';
  }[];
}
