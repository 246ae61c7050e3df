/** What a text must contain. */
export interface TextPattern {
  /** As it was written. */
  readonly source: string;
  matches(text: string): boolean;
}

const longest = 1_000;
const expression = /^\/(.+)\/([ims]*)$/s;

/**
 * Reads a pattern: a plain text, found ignoring case, or between two slashes a regular expression in the syntax of RE2, with the
 * flags `i`, `m` and `s`. Its time grows with the length of the text alone, whatever the expression, so that it
 * cannot hang; RE2 has no backreferences and no lookahead. The library is loaded for the first regular expression.
 */
export async function parseTextPattern(
  source: string,
): Promise<{ readonly pattern: TextPattern } | { readonly problem: string }> {
  if (source === '') return { problem: 'An empty text is in everything' };
  if (source.length > longest) return { problem: `It is longer than ${longest} characters` };
  const [, body, flags = ''] = expression.exec(source) ?? [];
  if (body === undefined) {
    const wanted = source.toLowerCase();
    return { pattern: { source, matches: (text) => text.toLowerCase().includes(wanted) } };
  }
  const { RE2JS, RE2JSException } = await import('re2js');
  const bits = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL };
  let chosen = 0;
  for (const flag of flags) chosen |= bits[flag as keyof typeof bits];
  try {
    const compiled = RE2JS.compile(body, chosen);
    return { pattern: { source, matches: (text) => compiled.test(text) } };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { problem: error.message };
  }
}
