/**
 * The words of a query as an FTS5 expression, each quoted, so that nothing in a query is a command. What is neither a
 * letter nor a digit parts words, as it does in the index.
 * @returns null where no word is left
 */
export function searchExpression(query: string): string | null {
  const words = query.match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu);
  return words === null ? null : words.map((word) => `"${word}"`).join(' ');
}
