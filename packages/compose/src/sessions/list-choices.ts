const most = 10;

/** The choices of an ambiguous name, each on a line of its own, at most ten of them. */
export function listChoices(lines: readonly string[], isMore = lines.length > most): string {
  return [...lines.slice(0, most), ...(isMore ? ['…'] : [])].map((line) => `\n  ${line}`).join('');
}
