const longestLine = 200;

/** The first line of a text that says something, cut where it is long; undefined where there is none. */
export function inOneLine(text: string): string | undefined {
  const line = /\S[^\r\n]*/.exec(text)?.[0].trimEnd();
  return line === undefined || line.length <= longestLine ? line : `${line.slice(0, longestLine - 1)}…`;
}
