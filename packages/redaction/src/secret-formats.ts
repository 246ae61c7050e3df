/** A kind of secret with a form of its own. */
export interface SecretFormat {
  readonly kind: string;
  /** A part of every text in which the format occurs, in lower case. */
  readonly hint: string;
  /** Global. Takes linear time. Its group `secret`, or else the whole match, is the secret. */
  readonly expression: RegExp;
  /** Absent: every match is a secret. */
  readonly accepts?: (secret: string) => boolean;
}

const hasLetterAndDigit = (secret: string) => /[A-Za-z]/.test(secret) && /[0-9]/.test(secret);
const isNoExample = (secret: string) => !secret.includes('EXAMPLE');
/** Documentation writes these in the place of a password. */
const placeholder = /^(?:[$<{%[*]|x{3}|\.{3}|(?:your|my)?[-_]?(?:password|passwd|pass|pwd|secret|token)$)/i;
const isNoPlaceholder = (secret: string) => !placeholder.test(secret);

function format(
  kind: string,
  hint: string,
  source: string,
  accepts?: (secret: string) => boolean,
): SecretFormat {
  return { kind, hint, expression: new RegExp(source, 'g'), ...(accepts === undefined ? {} : { accepts }) };
}

/** A token of a prefix and a body, which is not a part of a longer word. */
function token(
  kind: string,
  hint: string,
  source: string,
  accepts?: (secret: string) => boolean,
): SecretFormat {
  return format(kind, hint, `(?<![A-Za-z0-9_-])${source}(?![A-Za-z0-9_-])`, accepts);
}

/**
 * The formats that are recognized, as they are widely published. Each begins with a literal text, so that a text
 * without it costs one search.
 */
export const secretFormats: readonly SecretFormat[] = [
  format(
    'private-key',
    'private key',
    '-----BEGIN (?:[A-Z]{1,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:(?:\\s|\\\\[nr]){1,8}[A-Za-z-]{2,30}: [^\\n\\\\]{0,200}){0,4}' +
      '[A-Za-z0-9+/=\\s\\\\]*(?:-----END (?:[A-Z]{1,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----)?',
    (secret) => /[A-Za-z0-9+/]{40}/.test(secret),
  ),
  token('jwt', 'eyj', 'eyJ[\\w-]{8}[\\w-]*\\.eyJ[\\w-]{8}[\\w-]*\\.[\\w-]{16}[\\w-]*'),
  token('aws-access-key', 'a', '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}', isNoExample),
  format(
    'aws-secret-key',
    'secret',
    '(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey)["\']?\\s{0,4}[:=]\\s{0,4}["\']?(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])',
    isNoExample,
  ),
  token('github-token', 'gh', 'gh[pousr]_[A-Za-z0-9]{36}'),
  token('github-token', 'github_pat_', 'github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}'),
  token('gitlab-token', 'glpat-', 'glpat-[\\w-]{20,64}', hasLetterAndDigit),
  token('slack-token', 'xox', 'xox[abeoprs]-[0-9]{8,14}-[A-Za-z0-9-]{16,200}'),
  token('slack-token', 'xapp-', 'xapp-[0-9]-[A-Z0-9]{8,14}-[0-9]{8,14}-[a-f0-9]{64}'),
  format(
    'slack-webhook',
    'hooks.slack.com',
    'hooks\\.slack\\.com/services/(?<secret>T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24})(?![A-Za-z0-9])',
  ),
  token('stripe-key', 'k_', '[sr]k_(?:live|test)_[A-Za-z0-9]{24,247}'),
  token('google-api-key', 'aiza', 'AIza[\\w-]{35}', hasLetterAndDigit),
  token('google-client-secret', 'gocspx-', 'GOCSPX-[\\w-]{28}'),
  token('anthropic-key', 'sk-ant-', 'sk-ant-[a-z]{3,5}[0-9]{2}-[\\w-]{80,120}'),
  token('openai-key', 't3blbkfj', 'sk-(?:(?:proj|svcacct|admin)-)?[\\w-]{20,100}T3BlbkFJ[\\w-]{20,100}'),
  token('npm-token', 'npm_', 'npm_[A-Za-z0-9]{36}', hasLetterAndDigit),
  token('pypi-token', 'pypi-', 'pypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[\\w-]{50,400}'),
  token('sendgrid-key', 'sg.', 'SG\\.[\\w-]{22}\\.[\\w-]{43}'),
  token('huggingface-token', 'hf_', 'hf_[A-Za-z]{34}'),
  format(
    'url-password',
    '://',
    '://[^\\s/?#@:"\'<>`]{0,100}:(?<secret>[^\\s/?#@"\'<>`]{1,200})@[A-Za-z0-9[]',
    isNoPlaceholder,
  ),
  format('azure-key', 'key=', '(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{43,86}={1,2})'),
];
