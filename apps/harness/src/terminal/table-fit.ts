export interface TableFit {
  /** The columns of the terminal; undefined: no limit. */
  readonly width: number | undefined;
  /**
   * The columns that are cut if the rows do not fit, in this order, each to at least this width. A column with a least
   * width of 0 is removed when it would become unreadable.
   */
  readonly cut: readonly {
    readonly column: string;
    readonly least: number;
    readonly keep?: 'start' | 'end';
  }[];
}
