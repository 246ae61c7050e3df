import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dayMs = 86_400_000;

interface Work {
  readonly title: string;
  readonly folder: string;
  readonly model: string;
  readonly prompts: readonly string[];
}

const works: readonly Work[] = [
  {
    title: 'Rotate the refresh token',
    folder: '/home/mira/shop-api',
    model: 'claude-sonnet-4-5',
    prompts: [
      'Users are logged out after 15 minutes. Please find out why and rotate the refresh token instead.',
      'Good. Does the **mobile** client still work with this?',
      'Then add a test for the second case, and show me the diff.',
    ],
  },
  {
    title: 'Why does the parser drop the last line?',
    folder: '/home/mira/csv-tools',
    model: 'claude-opus-4-1',
    prompts: ['The parser drops the last line of a file without a newline. Fix it.'],
  },
  {
    title: 'Make the nightly import three times faster',
    folder: '/home/mira/shop-api',
    model: 'claude-opus-4-1',
    prompts: [
      'The nightly import takes 40 minutes. Profile it and make it faster.',
      'Now the same for orders.',
    ],
  },
  {
    title: 'Translate the checkout: 注文を確認する, تأكيد الطلب',
    folder: '/home/mira/storefront',
    model: 'claude-haiku-4-5',
    prompts: ['Translate the checkout to Japanese (注文を確認する) and Arabic (تأكيد الطلب). 🙂'],
  },
  {
    title: 'Upgrade to Node 24 and fix what breaks in the build',
    folder: '/home/mira/storefront',
    model: 'claude-sonnet-4-5',
    prompts: ['Upgrade to Node 24.', 'Two tests fail on CI, see the log.'],
  },
];

const answer = `The access token lives 15 minutes, and **nothing renews it**: \`session.ts\` reads the refresh token but never sends it.

### What I changed

1. \`refresh()\` now rotates the token and stores the new one.
2. A reuse of an *old* refresh token ends the session ([RFC 6819](https://www.rfc-editor.org/rfc/rfc6819)).
3. The clock tolerance is 30 s.

| case | before | after |
|---|---:|---:|
| idle 20 min | logged out | stays |
| stolen token | stays | logged out |
| clock 10 s late | logged out | stays |

\`\`\`ts
export async function refresh(token: string): Promise<Session> {
  const { userId, family } = await verify(token);
  return issue(userId, { family }); // A new token of the same family.
}
\`\`\`

> The mobile client keeps the old token for one more request, so the server accepts it for 10 s.

I did not touch the login page.`;

/** Writes sessions of Claude Code of the 30 days before `now`, in milliseconds since 1970, as the product would, and returns the folder. Equal each time but for the dates. */
export function writeSessions(folder: string, now: number): string {
  let seed = 7;
  const random = (most: number) => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed % most;
  };
  for (let number = 0; number < 46; number += 1) {
    const work = works[number % works.length] as Work;
    // Fewer on two days of seven.
    const day = number === 0 ? 0 : Math.floor((number * 30) / 46);
    const start = now - day * dayMs - (day % 7 > 4 ? 5 : 2) * 3_600_000 - random(90) * 60_000;
    const title =
      number < works.length ? work.title : `${work.title}, part ${Math.floor(number / works.length) + 1}`;
    const lines = new Transcript(
      work,
      `5e55${String(number).padStart(4, '0')}-0000-4000-8000-000000000000`,
      start,
      random,
    );
    for (const prompt of work.prompts) lines.turn(prompt, number === 0);
    lines.titled(title);
    const place = join(folder, work.folder.replaceAll('/', '-'));
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `${lines.sessionId}.jsonl`), lines.text());
  }
  return folder;
}

class Transcript {
  readonly sessionId: string;
  readonly #work: Work;
  readonly #random: (most: number) => number;
  readonly #lines: object[] = [];
  #time: number;
  #last: string | null = null;

  constructor(work: Work, sessionId: string, start: number, random: (most: number) => number) {
    this.#work = work;
    this.sessionId = sessionId;
    this.#time = start;
    this.#random = random;
  }

  text(): string {
    return this.#lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  }

  titled(title: string): void {
    this.#lines.push({ type: 'ai-title', aiTitle: title, sessionId: this.sessionId });
  }

  turn(prompt: string, isLong: boolean): void {
    this.#add('user', { role: 'user', content: prompt }, 1_000);
    this.#add('attachment', undefined, 5, {
      attachment: {
        type: 'hook_success',
        hookName: 'UserPromptSubmit',
        hookEvent: 'UserPromptSubmit',
        content: 'ok',
        exitCode: 0,
        command: 'lint',
        durationMs: 31,
      },
    });
    this.#assistant([{ type: 'thinking', thinking: '', signature: 'c2ln' }]);
    this.#assistant([{ type: 'text', text: 'Let me look at how the session is renewed.' }]);
    const paths = ['src/session.ts', 'src/login/refresh-token.ts', 'test/session.test.ts'];
    for (const path of paths)
      this.#call(
        'Read',
        { file_path: `${this.#work.folder}/${path}` },
        `     1\timport { verify } from './verify.ts';\n     2\t`,
      );
    this.#call(
      'Bash',
      { command: 'pnpm vitest run test/session.test.ts', description: 'Run the tests of the session' },
      'Exit code 1\n FAIL  test/session.test.ts > renews\nAssertionError: expected 401 to be 200',
      true,
    );
    this.#assistant([
      {
        type: 'thinking',
        thinking: 'The test fails because the refresh token is read but never sent. I must rotate it.',
        signature: 'c2ln',
      },
    ]);
    const old_string = 'const token = await read();\nreturn token;';
    const new_string = 'const token = await read();\nconst fresh = await rotate(token);\nreturn fresh;';
    this.#call(
      'Edit',
      { file_path: `${this.#work.folder}/src/session.ts`, old_string, new_string },
      'The file has been updated.',
    );
    this.#call(
      'Edit',
      {
        file_path: `${this.#work.folder}/src/login/refresh-token.ts`,
        old_string: 'ttl: 15',
        new_string: 'ttl: 30',
      },
      'The file has been updated.',
    );
    this.#call(
      'Bash',
      { command: 'pnpm vitest run', description: 'Run all tests' },
      ' Test Files  41 passed (41)\n      Tests  312 passed (312)',
    );
    this.#assistant([
      { type: 'text', text: isLong || this.#random(2) === 0 ? answer : 'Done. All 312 tests pass.' },
    ]);
    this.#lines.push({
      type: 'file-history-snapshot',
      messageId: this.#last,
      snapshot: { messageId: this.#last, trackedFileBackups: {}, timestamp: this.#stamp() },
      isSnapshotUpdate: false,
    });
  }

  #call(name: string, input: object, output: string, isError = false): void {
    const id = `toolu_${this.#lines.length}${this.sessionId.slice(0, 8)}`;
    this.#assistant([{ type: 'tool_use', id, name, input }]);
    this.#add(
      'user',
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: output, is_error: isError }],
      },
      200 + this.#random(4_000),
    );
  }

  #assistant(content: readonly object[]): void {
    const usage = {
      input_tokens: 12 + this.#random(900),
      output_tokens: 60 + this.#random(900),
      cache_read_input_tokens: 18_000 + this.#lines.length * 400,
      cache_creation_input_tokens: this.#random(3_000),
    };
    const id = `msg_${this.#lines.length}${this.sessionId.slice(0, 8)}`;
    this.#add(
      'assistant',
      {
        id,
        type: 'message',
        role: 'assistant',
        model: this.#work.model,
        content,
        stop_reason: 'end_turn',
        usage,
      },
      900 + this.#random(6_000),
    );
  }

  #add(type: string, message: object | undefined, afterMs: number, more: object = {}): void {
    this.#time += afterMs;
    const uuid = `${this.sessionId.slice(0, 8)}-0000-4000-9000-${String(this.#lines.length).padStart(12, '0')}`;
    this.#lines.push({
      parentUuid: this.#last,
      isSidechain: false,
      userType: 'external',
      cwd: this.#work.folder,
      sessionId: this.sessionId,
      version: '2.1.159',
      gitBranch: 'main',
      type,
      ...(message === undefined ? {} : { message }),
      ...more,
      uuid,
      timestamp: this.#stamp(),
    });
    this.#last = uuid;
  }

  #stamp(): string {
    return new Date(this.#time).toISOString();
  }
}
