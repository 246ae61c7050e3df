export const digits = '0123456789';
export const hex = `${digits}abcdef`;
export const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
export const lower = upper.toLowerCase();
export const alnum = `${digits}${upper}${lower}`;
export const url64 = `${alnum}_-`;
export const base64 = `${alnum}+/`;

/** Characters of an alphabet, and how many there can be at least and at most. Absent: exactly as many. */
export type Part = string | readonly [alphabet: string, least: number, most?: number];

/** How an issuer makes secrets, written without regular expressions: what the formats are tested against. */
export interface IssuedSecret {
  readonly kind: string;
  /** Names the format of the kind: its first anchor. */
  readonly anchor: string;
  readonly before?: string;
  readonly parts: readonly Part[];
  readonly behind?: string;
  /** Changes the generated text to what the issuer would issue: a checksum, or a letter and a digit. */
  readonly finish?: (secret: string) => string;
  /** A text of the format that the issuer would not issue. */
  readonly refused?: (secret: string) => string;
  /** Whether a text with other lengths is also found, in part or in whole. */
  readonly isLoose?: true;
}

export const mixed = (secret: string) => `${secret.slice(0, -2)}a1`;
export const lettersOnly = (secret: string) => secret.replace(/[0-9]/g, 'a');

function issued(kind: string, anchor: string, ...parts: Part[]): IssuedSecret {
  return { kind, anchor, parts };
}

/** Issued with a letter and a digit: other texts of the form are words. */
function mixedOf(kind: string, anchor: string, ...parts: Part[]): IssuedSecret {
  return { kind, anchor, parts, finish: mixed, refused: lettersOnly };
}

/** Issued at random: a text of one letter, or without digits, is a word. Its random part begins after the prefix. */
function randomOf(kind: string, anchor: string, prefix: string, ...parts: Part[]): IssuedSecret {
  const finish = (secret: string) => `${prefix}${spread(secret.slice(prefix.length))}`;
  return {
    kind,
    anchor,
    parts: [prefix, ...parts],
    finish,
    refused: (secret) => prefix + withoutDigits(secret.slice(prefix.length)),
  };
}

function withoutDigits(text: string): string {
  return text.replace(/[0-9]/g, /[a-z]/.test(text) ? 'a' : 'A');
}

/** Puts distinct letters and digits in turn at the beginning, so that no short text looks like a word by chance. */
export function spread(text: string): string {
  const isSmall = !/[A-Z]/.test(text);
  const isLarge = !/[a-z]/.test(text);
  const start = isLarge ? 'Q7H2K9W4Z3T5' : isSmall ? 'q7h2k9w4z3t5' : 'q7H2k9W4z3T5';
  return start.slice(0, text.length) + text.slice(start.length);
}

const uuid: readonly Part[] = [[hex, 8], '-', [hex, 4], '-', [hex, 4], '-', [hex, 4], '-', [hex, 12]];
const small = `${lower}${digits}`;
const large = `${upper}${digits}`;

const ofCode: readonly IssuedSecret[] = [
  issued('gitlab-token', 'GR1348941', 'GR1348941', [url64, 20, 50]),
  issued('atlassian-token', 'ATATT3', 'ATATT3', [`${url64}=`, 150, 250]),
  issued('atlassian-token', 'ATATT3', 'ATCTT3', [`${url64}=`, 150, 250]),
  mixedOf('atlassian-token', 'ATBB', 'ATBB', [alnum, 24, 40]),
  issued('gem-token', 'rubygems_', 'rubygems_', [hex, 48]),
  randomOf('crates-token', 'cio', 'cio', [alnum, 32]),
  issued('nuget-key', 'oy2', 'oy2', [small, 43]),
  issued('clojars-token', 'CLOJARS_', 'CLOJARS_', [small, 60]),
  issued('docker-swarm-token', 'SWMTKN-1-', 'SWMTKN-1-', [small, 50], '-', [small, 25]),
  issued('artifactory-token', 'AKCp', 'AKCp', [alnum, 65, 75]),
  issued('artifactory-token', 'cmVmd', 'cmVmd', [alnum, 59]),
  issued('circleci-token', 'CCIPAT_', 'CCIPAT_', [alnum, 20, 24], '_', [hex, 40]),
  issued('circleci-token', 'CCIPAT_', 'CCIPRJ_', [alnum, 20, 24], '_', [hex, 40]),
  issued('buildkite-token', 'bkua_', 'bkua_', [small, 40]),
  ...['pat.', 'sat.'].map((prefix) =>
    issued('harness-token', 'pat.', prefix, [url64, 22], '.', [hex, 24], '.', [alnum, 20]),
  ),
  randomOf('octopus-key', 'API-', 'API-', [large, 25, 27]),
  ...['sqa_', 'sqp_', 'squ_'].map((prefix) => issued('sonar-token', 'sqa_', prefix, [hex, 40])),
  issued('sourcegraph-token', 'sgp_', 'sgp_', [hex, 16], '_', [hex, 40]),
  issued('sourcegraph-token', 'sgp_', 'sgp_local_', [hex, 40]),
  issued('segment-token', 'sgp_', 'sgp_', [alnum, 64]),
  issued('postman-key', 'PMAK-', 'PMAK-', [hex, 24], '-', [hex, 34]),
  issued('readme-key', 'rdme_', 'rdme_', [small, 70]),
  ...['figd_', 'figo_', 'figu_', 'figr_'].map((prefix) =>
    issued('figma-token', 'figd_', prefix, [url64, 40, 60]),
  ),
  mixedOf('linear-key', 'n_oauth_', 'lin_oauth_', [alnum, 40, 80]),
  mixedOf('notion-token', 'ntn_', 'ntn_', [alnum, 40, 50]),
  randomOf('notion-token', 'secret_', 'secret_', [alnum, 43]),
  issued('airtable-token', 'pat', 'pat', [alnum, 14], '.', [hex, 64]),
  issued('typeform-token', 'tfp_', 'tfp_', [`${url64}.=`, 40, 70]),
  issued('trello-token', 'ATTA', 'ATTA', [hex, 64]),
  issued('wakatime-key', 'waka_', 'waka_', ...uuid),
  issued('contentful-token', 'CFPAT-', 'CFPAT-', [url64, 43]),
  issued('cursor-key', 'crsr_', 'crsr_', [hex, 64]),
  issued('cursor-key', 'key_', 'key_', [hex, 64]),
];

const ofClouds: readonly IssuedSecret[] = [
  issued('aws-bedrock-key', 'ABSK', 'ABSK', [base64, 100, 280], ['=', 0, 2]),
  ...[...digits].map((digit) =>
    issued('azure-client-secret', '0Q~', [alnum, 3], `${digit}Q~`, [`${url64}.~`, 31, 34]),
  ),
  issued('azure-devops-token', 'AZDO', [alnum, 76], 'AZDO', [alnum, 4]),
  issued('azure-ai-key', 'JQQJ99', [alnum, 52], 'JQQJ99', [alnum, 26]),
  mixedOf('google-api-key', 'AQ.Ab', 'AQ.Ab', [url64, 40, 80]),
  issued('google-oauth-token', 'ya29.', 'ya29.', [`${url64}.`, 30, 2000]),
  issued('google-oauth-token', '1//0', '1//0', [url64, 40, 200]),
  randomOf('alibaba-key', 'LTAI', 'LTAI', [alnum, 12, 26]),
  mixedOf('tencent-key', 'AKID', 'AKID', [alnum, 32]),
  issued('baidu-key', 'bce-v3', 'bce-v3/ALTAK-', [alnum, 20, 24], '/', [hex, 40]),
  mixedOf('yandex-key', 'AQVN', 'AQVN', [url64, 35, 38]),
  issued('cloudflare-token', 'v1.0-', 'v1.0-', [hex, 24], '-', [hex, 146]),
  ...['cfut_', 'cfat_', 'cfk_'].map((prefix) => issued('cloudflare-token', 'cfut_', prefix, [alnum, 40, 60])),
  mixedOf('heroku-key', 'HRKU-', 'HRKU-', [url64, 36, 70]),
  issued('fly-token', 'fo1_', 'fo1_', [url64, 43]),
  issued('fly-token', 'fm1', 'fm1r_', [base64, 100, 4000], ['=', 0, 3]),
  issued('fly-token', 'fm1', 'fm2_', [base64, 100, 4000], ['=', 0, 3]),
  ...[...'pcoub'].map((one) => issued('netlify-token', 'nfp_', `nf${one}_`, [alnum, 36])),
  ...[...'pirak'].map((one) => mixedOf('vercel-token', 'vcp_', `vc${one}_`, [alnum, 24, 70])),
  mixedOf('render-key', 'rnd_', 'rnd_', [alnum, 28, 36]),
  issued('scalingo-token', 'tk-us-', 'tk-us-', [url64, 48]),
  issued('supabase-key', 'sbp_', 'sbp_', [hex, 40]),
  issued('supabase-key', 'sbp_', 'sbp_v0_', [hex, 40]),
  issued('supabase-key', 'sb_secret_', 'sb_secret_', [url64, 31, 40]),
  issued('neon-key', 'napi_', 'napi_', [small, 60, 68]),
  issued('planetscale-token', 'pscale_', 'pscale_tkn_', [`${url64}.=`, 32, 64]),
  issued('mongodb-atlas-secret', 'mdb_sa_sk_', 'mdb_sa_sk_', [url64, 40]),
  issued('databricks-token', 'dapi', 'dapi', [hex, 32]),
  issued('databricks-token', 'dapi', 'dapi', [hex, 32], '-', [digits, 1]),
  issued('confluent-secret', 'cflt', 'cflt', [base64, 60]),
  issued('terraform-token', '.atlasv1.', [alnum, 14], '.atlasv1.', [`${url64}=`, 60, 70]),
  ...['hvs.', 'hvb.', 'hvr.'].map((prefix) => mixedOf('vault-token', 'hvs.', prefix, [url64, 24, 300])),
  issued('pulumi-token', 'pul-', 'pul-', [hex, 40]),
  randomOf('infracost-key', 'ico-', 'ico-', [alnum, 32]),
  issued('openshift-token', 'sha256~', 'sha256~', [url64, 43]),
  issued('rancher-token', 'token-', 'token-', [small, 5], ':', [small, 54]),
  issued('tailscale-key', 'tskey-', 'tskey-', [lower, 3, 10], '-', [alnum, 8, 24], '-', [alnum, 24, 48]),
  ...['pt', 'st', 'ct', 'sa', 'scim', 'audit'].map((type) =>
    issued('doppler-token', 'dp.pt.', `dp.${type}.`, [alnum, 40, 44]),
  ),
  issued('doppler-token', 'dp.pt.', 'dp.st.', ['_-', 1, 40], '.', [alnum, 40, 44]),
  issued('dynatrace-token', 'dt0', 'dt0', [lower, 1], [digits, 2], '.', [large, 24], '.', [large, 64]),
  issued('grafana-token', 'glsa_', 'glsa_', [alnum, 32], '_', [`${hex}ABCDEF`, 8]),
  issued('grafana-token', 'glc_', 'glc_', [base64, 32, 400], ['=', 0, 2]),
  issued('newrelic-key', 'NRAK-', 'NRAK-', [large, 27]),
  issued('newrelic-key', 'NRII-', 'NRII-', [url64, 32]),
  issued('newrelic-key', 'NRAL', [hex, 36], 'NRAL'),
  issued('sentry-token', 'sntryu_', 'sntryu_', [hex, 64]),
  issued('sentry-token', 'sntrys_', 'sntrys_eyJ', [`${base64}_=-`, 60, 500]),
  ...['phx_', 'phs_'].map((prefix) => mixedOf('posthog-key', 'phx_', prefix, [alnum, 40, 60])),
  ...['sdk-', 'api-'].map((prefix) => issued('launchdarkly-key', 'sdk-', prefix, ...uuid)),
  ...['pnu_', 'pnb_'].map((prefix) => issued('prefect-key', 'pnu_', prefix, [alnum, 36])),
];

const ofModels: readonly IssuedSecret[] = [
  issued('langfuse-key', 'sk-lf-', 'sk-lf-', ...uuid),
  randomOf('model-api-key', 'sk-', 'sk-', [alnum, 32, 64]),
  issued('huggingface-token', 'api_org_', 'api_org_', [upper + lower, 34]),
  issued('groq-key', 'gsk_', 'gsk_', [alnum, 52]),
  issued('xai-key', 'xai-', 'xai-', [alnum, 70, 90]),
  issued('perplexity-key', 'pplx-', 'pplx-', [alnum, 40, 60]),
  issued('nvidia-key', 'nvapi-', 'nvapi-', [url64, 60, 70]),
  issued('cerebras-key', 'csk-', 'csk-', [small, 48]),
  randomOf('fireworks-key', 'fw_', 'fw_', [alnum, 20, 32]),
  issued('together-key', 'tgp_v1_', 'tgp_v1_', [url64, 43]),
  issued('replicate-token', 'r8_', 'r8_', [alnum, 37]),
  issued('elevenlabs-key', 'sk_', 'sk_', [hex, 48]),
  issued('jina-key', 'jina_', 'jina_', [url64, 60]),
  randomOf('voyage-key', 'pa-', 'pa-', [url64, 43]),
  mixedOf('tavily-key', 'tvly-', 'tvly-', [url64, 28, 60]),
  issued('firecrawl-key', 'fc-', 'fc-', [hex, 32]),
  issued('pinecone-key', 'pcsk_', 'pcsk_', [alnum, 4, 8], '_', [alnum, 55, 70]),
  issued('langsmith-key', 'lsv2_', 'lsv2_pt_', [hex, 32], '_', [hex, 10]),
  issued('wandb-key', 'wandb_v1_', 'wandb_v1_', [`${alnum}_`, 60, 90]),
  issued('runpod-key', 'rpa_', 'rpa_', [alnum, 40, 60]),
  issued('e2b-key', 'e2b_', 'e2b_', [hex, 40]),
  issued('apify-token', 'apify_api_', 'apify_api_', [alnum, 36]),
  issued('browserbase-key', 'bb_live_', 'bb_live_', [url64, 27]),
  randomOf('mem0-key', 'm0-', 'm0-', [alnum, 40]),
];

const ofTrade: readonly IssuedSecret[] = [
  {
    ...issued('webhook-secret', 'whsec_', 'whsec_', [base64, 24, 64], ['=', 0, 2]),
    finish: (secret) => `${secret.slice(0, 6)}a1${secret.slice(8)}`,
    refused: lettersOnly,
  },
  ...['sq0atp-', 'sq0csp-'].map((prefix) => issued('square-token', 'sq0atp-', prefix, [url64, 22, 43])),
  mixedOf('square-token', 'EAAA', 'EAAA', [url64, 60]),
  mixedOf('facebook-token', 'EAA', 'EAA', [alnum, 80, 400]),
  issued('plaid-token', 'access-', 'access-sandbox-', ...uuid),
  issued('braintree-token', 'access_token$', 'access_token$production$', [small, 16], '$', [hex, 32]),
  ...['live_', 'test_'].map((prefix) => randomOf('payment-key', 'live_', prefix, [alnum, 30, 40])),
  issued('flutterwave-key', 'FLWSECK', 'FLWSECK_TEST-', [alnum, 32, 40], '-X'),
  issued('paddle-key', 'pdl_', 'pdl_live_apikey_', [small, 26], '_', [alnum, 22], '_', [alnum, 3]),
  issued(
    'mercadopago-token',
    'APP_USR-',
    'APP_USR-',
    [digits, 13, 20],
    '-',
    [digits, 6],
    '-',
    [hex, 32],
    '-',
    [digits, 6, 12],
  ),
  issued('duffel-token', 'duffel_', 'duffel_test_', [url64, 43]),
  ...['EZAK', 'EZTK'].map((prefix) => issued('easypost-key', 'EZAK', prefix, [alnum, 54])),
  issued('shippo-token', 'shippo_', 'shippo_live_', [hex, 40]),
  issued('salesforce-token', '00D', '00D', [alnum, 12, 15], '!', [`${alnum}_.`, 80, 130]),
  issued('hubspot-token', 'pat-', 'pat-na', [digits, 1], '-', ...uuid),
  issued('mapbox-token', 'sk.eyJ', 'sk.eyJ', [url64, 40, 300], '.', [url64, 22]),
  issued('maxmind-key', '_mmk', [alnum, 6], '_', [alnum, 29], '_mmk'),
  issued('dropbox-token', 'sl.', 'sl.', [url64, 130, 1300]),
  issued('frameio-token', 'fio-u-', 'fio-u-', [url64, 64]),
  mixedOf('adafruit-key', 'aio_', 'aio_', [alnum, 28]),
];

const ofMessages: readonly IssuedSecret[] = [
  issued('slack-token', 'xoxd-', 'xoxd-', [`${base64}%`, 60, 500], ['=', 0, 2]),
  {
    ...issued('discord-webhook', '/api/webhooks/', [url64, 60, 80]),
    before: 'https://discord.com/api/webhooks/123456789012345678/',
  },
  {
    ...issued('teams-webhook', 'IncomingWebhook/', [hex, 32], '/', ...uuid),
    before: 'https://a.webhook.office.com/webhookb2/b/IncomingWebhook/',
  },
  {
    ...issued('zapier-webhook', '.zapier.com', [digits, 5, 10], '/', [small, 6, 10]),
    before: 'https://hooks.zapier.com/hooks/catch/',
  },
  issued('telegram-token', ':AA', [digits, 8, 10], ':AA', [url64, 33]),
  mixedOf('twitter-token', 'AAAAAAAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAAAAAAA', [`${alnum}%`, 60, 120]),
  randomOf('twitch-token', 'oauth:', 'oauth:', [small, 30]),
  ...[...hex].map((one) => issued('twilio-key', 'SK0', `SK${one}`, [hex, 31])),
  ...['xkeysib-', 'xsmtpsib-'].map((prefix) =>
    issued('brevo-key', 'xkeysib-', prefix, [hex, 64], '-', [alnum, 16]),
  ),
  issued('mailersend-token', 'mlsn.', 'mlsn.', [hex, 64]),
  issued('mailgun-key', 'key-', 'key-', [hex, 32]),
  ...[...'123456789'].flatMap((one) =>
    [one, `${one}4`].map((region) => issued('mailchimp-key', '-us1', [hex, 32], `-us${region}`)),
  ),
  mixedOf('resend-key', 're_', 're_', [alnum, 8], '_', [alnum, 20, 28]),
  issued('intercom-token', 'dG9rO', 'dG9rO', [alnum, 40, 70], ['=', 0, 2]),
];

/** The tokens of issuers beside those of `issuedSecrets`. */
export const issuedTokens: readonly IssuedSecret[] = [
  ...ofCode,
  ...ofClouds,
  ...ofModels,
  ...ofTrade,
  ...ofMessages,
];
