import { describe, expect, it } from 'vitest';
import { renderContext } from '../../src/index.ts';
import { createTokenCounter, tokenEncodings } from '../../src/tokens.ts';
import { randomLog } from './make-agent-log.ts';

describe('a token counter', () => {
  it('counts like the encoding that it names', async () => {
    const counter = await createTokenCounter();
    expect(counter.id).toBe('gpt-tokenizer/o200k_base');
    expect(counter.count('The quick brown fox jumps over the lazy dog.')).toBe(10);
    expect(counter.count('')).toBe(0);
    for (const encoding of tokenEncodings)
      expect((await createTokenCounter({ encoding })).id).toBe(`gpt-tokenizer/${encoding}`);
    await expect(createTokenCounter({ encoding: 'none' as never })).rejects.toThrow(TypeError);
  });

  it('counts special tokens in a text as text', async () => {
    const { count } = await createTokenCounter();
    expect(count('<|endoftext|>')).toBeGreaterThan(1);
  });

  it('counts long runs in pieces, so that the time is proportional to the length', async () => {
    const { count } = await createTokenCounter();
    const counted = count('a'.repeat(200_000));
    expect(counted).toBeGreaterThan(24_000);
    expect(counted).toBeLessThan(27_000);
    expect(count('😀'.repeat(1_000))).toBe(count('😀'.repeat(128)) * 7 + count('😀'.repeat(104)));
  });

  it('keeps a faded context within its budget', async () => {
    const tokens = await createTokenCounter();
    const policy = { name: 'faded', budget: 4_000 } as const;
    const { manifest, messages } = renderContext(randomLog(3, 300), { policy, tokens });
    expect(manifest.tokens?.prompt).toBeLessThanOrEqual(4_000);
    expect(messages.reduce((sum, { text }) => sum + tokens.count(text), 0)).toBeLessThanOrEqual(4_000);
  });
});
