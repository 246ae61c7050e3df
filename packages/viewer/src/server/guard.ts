import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

export interface GuardOptions {
  readonly token: string;
  /** The address that the server listens at, such as `127.0.0.1:4711`, and its other names. The first one names the cookie. */
  readonly hosts: () => readonly string[];
  /** Codes that are valid once instead of the token. */
  readonly codes: OneTimeCodes;
}

/** Codes for addresses that others can see, such as those in the arguments of a program. Each is exchanged for the cookie once. */
export class OneTimeCodes {
  readonly #codes = new Set<string>();

  make(): string {
    const code = randomToken();
    this.#codes.add(code);
    return code;
  }

  /** Whether the code was valid; it no longer is. */
  take(given: string): boolean {
    const code = [...this.#codes].find((known) => isEqual(given, known));
    return code !== undefined && this.#codes.delete(code);
  }
}

/** 128 random bits. */
export function randomToken(): string {
  return randomBytes(16).toString('base64url');
}

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/**
 * Stands in front of every route. Any page in the browser, and any program of this machine, can send requests to the viewer. It answers
 * only those of its own page, which was opened with the address that has the token:
 * - 405 for a method other than GET and HEAD;
 * - 421 for another `Host`, which a name has that leads to this machine (DNS rebinding);
 * - 403 for a request that another site caused, by `Sec-Fetch-Site` or `Origin`;
 * - 401 without the token. `/?t=TOKEN`, or `/?once=CODE` once, sets the cookie and leads to `/`, so that the token leaves the address bar.
 */
export function guard({ token, hosts, codes }: GuardOptions): MiddlewareHandler {
  return async (context, next) => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    const refusal = refuse(context, hosts());
    if (refusal !== null) return context.text(refusal.text, refusal.status);
    // Cookies are shared by all ports of a host: two viewers must not end each other's sessions.
    const cookie = `hansard-${hosts()[0]?.split(':').at(-1)}`;
    const { t: given = '', once = '' } = context.req.path === '/' ? context.req.query() : {};
    // A program that only looks whether there is a page does not use up a code.
    if (isEqual(given, token) || (context.req.method === 'GET' && codes.take(once))) {
      setCookie(context, cookie, token, { httpOnly: true, sameSite: 'Strict', path: '/' });
      return context.redirect('/', 303);
    }
    if (!isEqual(getCookie(context, cookie) ?? '', token))
      return context.text('Open the address that `hansard view` printed.', 401);
    await next();
  };
}

interface Refusal {
  readonly status: 403 | 405 | 421;
  readonly text: string;
}

function refuse({ req }: Context, hosts: readonly string[]): Refusal | null {
  if (req.method !== 'GET' && req.method !== 'HEAD') return { status: 405, text: 'The viewer only reads.' };
  if (!hosts.includes(req.header('host') ?? ''))
    return { status: 421, text: 'The viewer has another address.' };
  const site = req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return { status: 403, text: 'The viewer answers its own page only.' };
  const origin = req.header('origin');
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`))
    return { status: 403, text: 'The viewer answers its own page only.' };
  return null;
}

function isEqual(given: string, token: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(token)];
  return left.length === right.length && timingSafeEqual(left, right);
}
