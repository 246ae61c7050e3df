import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { HonoRequest, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { viewerErrors } from '../viewer-errors.ts';

export interface GuardOptions {
  readonly token: string;
  /** The address that the server listens at, such as `127.0.0.1:4711`, and its other names. The first one names the cookie. */
  readonly hosts: () => readonly string[];
  /** Codes that are valid once instead of the token. */
  readonly codes: OneTimeCodes;
  /** The paths that take a POST, and nothing else. */
  readonly postPaths: readonly RegExp[];
  /** Absent: all. */
  readonly checks?: readonly Check[];
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
 * only those of its own page, which was opened with the address that has the token: the others are refused by `guardChecks`. `/?t=TOKEN`,
 * or `/?once=CODE` once, sets the cookie and leads to `/`, so that the token leaves the address bar.
 */
export function guard({
  token,
  hosts,
  codes,
  postPaths,
  checks = guardChecks,
}: GuardOptions): MiddlewareHandler {
  return async (context, next) => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    const { req } = context;
    const isPost = postPaths.some((path) => path.test(req.path));
    // Cookies are shared by all ports of a host: two viewers must not end each other's sessions.
    const cookie = `hansard-${hosts()[0]?.split(':').at(-1)}`;
    const hasToken = isEqual(getCookie(context, cookie) ?? '', token);
    const given = { req, hosts: hosts(), isPost, hasToken };
    const refusal = checks.find((check) => check.refuses(given));
    if (refusal === undefined || refusal.name === 'token') {
      const { t = '', once = '' } = req.path === '/' ? req.query() : {};
      // A program that only looks whether there is a page does not use up a code.
      if (isEqual(t, token) || (req.method === 'GET' && codes.take(once))) {
        setCookie(context, cookie, token, { httpOnly: true, sameSite: 'Strict', path: '/' });
        return context.redirect('/', 303);
      }
    }
    if (refusal !== undefined) return refused(refusal);
    await next();

    function refused({ status, text }: Check): Response {
      if (!isPost) return context.text(text, status);
      return context.json({ code: 'VIEW_REQUEST_REFUSED', message: text }, status);
    }
  };
}

/** A request, and the addresses of the viewer. */
interface Given {
  readonly req: HonoRequest;
  readonly hosts: readonly string[];
  /** Whether its path takes a POST. */
  readonly isPost: boolean;
  readonly hasToken: boolean;
}

export interface Check {
  readonly name: string;
  readonly status: 401 | 403 | 405 | 415 | 421;
  readonly text: string;
  refuses(given: Given): boolean;
}

const ownPageOnly = 'The viewer answers its own page only.';

/** In this order. A program other than a browser can send any header; these checks are against other pages of the browser. */
export const guardChecks: readonly Check[] = [
  {
    name: 'method',
    status: 405,
    text: 'The viewer does not take this method here.',
    refuses: ({ req: { method }, isPost }) =>
      isPost ? method !== 'POST' : method !== 'GET' && method !== 'HEAD',
  },
  {
    // A name that leads to this machine (DNS rebinding).
    name: 'host',
    status: 421,
    text: 'The viewer has another address.',
    refuses: ({ req, hosts }) => !hosts.includes(req.header('host') ?? ''),
  },
  {
    name: 'site',
    status: 403,
    text: ownPageOnly,
    refuses: ({ req, isPost }) => {
      const site = req.header('sec-fetch-site') ?? 'same-origin';
      return site !== 'same-origin' && (isPost || site !== 'none');
    },
  },
  {
    name: 'origin',
    status: 403,
    text: ownPageOnly,
    refuses: ({ req, hosts, isPost }) => {
      const origin = req.header('origin');
      if (isPost) return origin !== `http://${req.header('host')}`;
      return origin !== undefined && !hosts.some((host) => origin === `http://${host}`);
    },
  },
  {
    // Another page cannot send this header without asking first, which is an OPTIONS request and refused.
    name: 'header',
    status: 403,
    text: ownPageOnly,
    refuses: ({ req, isPost }) => isPost && req.header('x-hansard') !== 'page',
  },
  {
    name: 'token',
    status: 401,
    text: 'Open the address that `hansard view` printed.',
    refuses: ({ hasToken }) => !hasToken,
  },
  {
    // A form of another page cannot send this type.
    name: 'content type',
    status: 415,
    text: 'What is sent must be application/json.',
    refuses: ({ req, isPost }) =>
      isPost && req.header('content-type')?.split(';')[0]?.trim() !== 'application/json',
  },
];

function isEqual(given: string, token: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(token)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** 128 bits, as `readTokenFile` makes them, are 22 characters. */
const tokenPattern = /^[A-Za-z0-9_-]{22,200}$/;

/** The token of a viewer in a file that only its owner can read. Makes the file if it is missing. @throws VIEW_TOKEN_FILE_UNUSABLE */
export function readTokenFile(path: string): { readonly token: string; readonly isNew: boolean } {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    const token = randomBytes(16).toString('base64url');
    writeFileSync(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
    return { token, isNew: true };
  }
  if (!stats.isFile()) throw unusable(path, `${path} is not a file.`);
  // Windows has no such modes.
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
    throw unusable(
      path,
      `Other users of this machine can read or change ${path}, so its token must be replaced.`,
    );
  const token = readFileSync(path, 'utf8').trim();
  if (tokenPattern.test(token)) return { token, isNew: false };
  throw unusable(path, `${path} has no token, which is 22 to 200 letters, digits, "-" and "_".`);
}

function unusable(file: string, message: string) {
  return viewerErrors.error('VIEW_TOKEN_FILE_UNUSABLE', message, { details: { file } });
}
