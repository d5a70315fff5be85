/**
 * Command lines that have a secret in a wrong form or at a wrong place, one for each option, variable and field of a file
 * that may hold a key, token or password. `{s}` is the secret, `{dir}` a folder of the row with the files of `SECRET_FILES`.
 */
export interface SecretPlace {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const KEY = '-----BEGIN EC PRIVATE KEY-----\n{s}\n-----END EC PRIVATE KEY-----\n';
/** Nothing listens there. */
const API = ['--api', 'http://127.0.0.1:1'];
const AT = '{dir}/';

function identityFile(id: Readonly<Record<string, string>>): string {
  return JSON.stringify({ ztAPI: 'https://127.0.0.1:1', id });
}

function routerFile(identity: string, more = ''): string {
  return `v: 3\nidentity:\n${identity}ctrl:\n  endpoint: tls:127.0.0.1:1\n${more}`;
}

const PEM_LINES = '    -----BEGIN EC PRIVATE KEY-----\n    {s}\n    -----END EC PRIVATE KEY-----\n';
const CERTIFICATES = '  cert: {dir}/a.pem\n  ca: {dir}/a.pem\n';
const PROXY = 'proxy:\n  type: http\n  address: 127.0.0.1:1\n  password: ';

export const SECRET_FILES: Readonly<Record<string, string>> = {
  'bare.json': identityFile({ key: KEY, cert: 'a', ca: 'a' }),
  'body.json': identityFile({ key: '{s}', cert: 'a', ca: 'a' }),
  'file.json': identityFile({ key: 'file:{s}', cert: 'a', ca: 'a' }),
  'pem.json': identityFile({ key: 'pem:{s}', cert: 'pem:{s}', ca: 'pem:{s}' }),
  'cert.json': identityFile({ key: KEY, cert: '{s}', ca: '{s}' }),
  'half.json': `{"ztAPI":"https://127.0.0.1:1","id":{"key":"${'{s}'}`,
  'list.json': JSON.stringify({ ztAPI: ['{s}'], id: ['{s}'] }),
  'secret.txt': '{s}',
  'url.txt': 'postgres://u:{s}@[',
  'bare.yml': routerFile(`${CERTIFICATES}  key: |\n${PEM_LINES}`),
  'body.yml': routerFile(`${CERTIFICATES}  key: "{s}"\n  server_key: "{s}"\n`),
  'form.yml': routerFile(
    `${CERTIFICATES}  key: "pem:{s}"\n  server_cert: {dir}/a.pem\n  server_key: "engine:{s}"\n`,
  ),
  'list.yml': routerFile(`${CERTIFICATES}  key: ["{s}"]\n`),
  'map.yml': routerFile(`${CERTIFICATES}  key: {pem: "{s}"}\n`),
  'name.yml': routerFile(`${CERTIFICATES}  key: a\n  kye: "{s}"\n  secret: "{s}"\n`),
  'proxy.yml': routerFile(`${CERTIFICATES}  key: a\n`, `${PROXY}["{s}"]\n`),
  'half.yml': routerFile(`${CERTIFICATES}  key: "{s}\n`),
  'tab.yml': routerFile(`${CERTIFICATES}  key: {s}: {s}\n`),
};

const HETZNER = ['--acme-dns-provider', 'hetzner'];
/** A secret where its file belongs, and as a setting of its own. */
const DNS_SETTINGS = [
  [...HETZNER, '--acme-dns-setting', 'token-file={s}'],
  [...HETZNER, '--acme-dns-setting', 'token={s}'],
  [...HETZNER, '--acme-dns-setting', '{s}'],
];

const FLAGS: readonly SecretPlace[] = [
  { args: ['whoami', '--token', '{s}'] },
  { args: ['whoami', '--tokne={s}'] },
  { args: ['whoami', '{s}'] },
  { args: ['whoami', '--token', '{s}\n', '--account', 'a', ...API] },
  { args: ['whoami', '--client', 'c', '--client-secret', '{s}\u0001', ...API] },
  { args: ['whoami', '--api', 'ftp://u:{s}@127.0.0.1:1', '--account', 'a', '--token', 'b'] },
  { args: ['whoami', ...API], env: { FRONTDOOR_API_TOKEN: '{s}' } },
  { args: ['whoami', ...API], env: { FRONTDOOR_CLIENT_SECRET: '{s}', FRONTDOOR_CLIENT_ID: 'c\n' } },
  { args: ['login', '--client', 'c', '--client-secret', '{s}', '--profile', 'p', ...API] },
  {
    args: [
      'auth-providers',
      'create',
      '--name',
      'x',
      '--type',
      'OIDC',
      '--data',
      '{"client_secret":"{s}',
      ...API,
    ],
  },
  {
    args: [
      'agent',
      'start',
      '--enrollment-token',
      '{s}',
      '--api',
      'ftp://127.0.0.1',
      '--data-dir',
      `${AT}agent`,
    ],
  },
  { args: ['agent', 'start', '--enrollment-token', 'a.{s}.b', ...API, '--data-dir', `${AT}agent`] },
  { args: ['agent', 'start', '--enrollment-token-file', '{s}', ...API, '--data-dir', `${AT}agent`] },
  { args: ['control', '--database', 'postgres://u:{s}@[', '--data-dir', `${AT}control`] },
  { args: ['control', '--database', '{s}', '--data-dir', `${AT}control`] },
  { args: ['control', '--database-file', '{s}', '--data-dir', `${AT}control`] },
  { args: ['control', '--database-file', `${AT}url.txt`, '--data-dir', `${AT}control`] },
  { args: ['control', '--data-dir', `${AT}control`], env: { FRONTDOOR_DATABASE: 'mysql://u:{s}@h/d' } },
  { args: ['control', '--api-cert', `${AT}a.pem`, '--api-key', KEY, '--data-dir', `${AT}control`] },
  {
    args: [
      'control',
      '--api-cert',
      `${AT}a.pem`,
      '--api-key',
      `${AT}secret.txt`,
      '--data-dir',
      `${AT}control`,
    ],
  },
  { args: ['admins', 'create', '--username', 'a', '--password-file', '{s}', '--data-dir', `${AT}control`] },
  { args: ['gateway', '--tls-cert', `${AT}a.pem`, '--tls-key', KEY, '--data-dir', `${AT}gateway`] },
  { args: ['gateway', '--enrollment-jwt', '{s}', '--data-dir', `${AT}gateway`] },
  { args: ['gateway', '--enrollment-jwt', `${AT}secret.txt`, '--data-dir', `${AT}gateway`] },
  {
    args: [
      'gateway',
      '--acme-email',
      'a@example.com',
      '--acme-eab-kid',
      'k',
      '--acme-eab-key',
      '{s}',
      '--enrollment-jwt',
      `${AT}secret.txt`,
      '--data-dir',
      `${AT}gateway`,
      '--http-port',
      '0',
      '--https-port',
      '0',
    ],
  },
  ...DNS_SETTINGS.map((args) => ({ args: ['gateway', 'dns-check', 'a.example', ...args] })),
  { args: ['gateway', 'dns-check', 'a.example', ...HETZNER], env: { HCLOUD_TOKEN: '{s} {s}' } },
  { args: ['router', 'enroll', `${AT}body.yml`, '--jwt', '{s}'] },
  { args: ['router', 'enroll', `${AT}body.yml`, '--jwt', `${AT}secret.txt`] },
];

const identities = Object.keys(SECRET_FILES).filter((name) => name.endsWith('.json'));
const routers = Object.keys(SECRET_FILES).filter((name) => name.endsWith('.yml'));

export const SECRET_PLACES: readonly SecretPlace[] = [
  ...FLAGS,
  ...identities.map((name) => ({ args: ['tunnel', 'host', '--identity', `${AT}${name}`] })),
  ...routers.flatMap((name) => [
    { args: ['router', 'check', '--files', `${AT}${name}`] },
    { args: ['router', 'run', `${AT}${name}`] },
  ]),
];
