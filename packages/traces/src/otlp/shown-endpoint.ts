const hidden = '(hidden)';

/** The address of a receiver for messages: without the user, the password and the query, which can be secrets. */
export function shownEndpoint(endpoint: string): string {
  const at = endpoint.lastIndexOf('@');
  const scheme = endpoint.indexOf('://');
  const start = scheme < 0 || scheme > at ? 0 : scheme + '://'.length;
  const address = at < 0 ? endpoint : `${endpoint.slice(0, start)}${hidden}${endpoint.slice(at)}`;
  const query = address.search(/[?#]/);
  return query < 0 ? address : `${address.slice(0, query + 1)}${hidden}`;
}
