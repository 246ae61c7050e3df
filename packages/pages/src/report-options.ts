export interface ReportOptions {
  /**
   * Of how many events a dispatch may be to be shown from all sides; a longer one is shown as one line for each event,
   * written as it is read. Absent: 10,000.
   */
  readonly wholeUpTo?: number;
}
