// Settings and secrets of DNS providers, as the command line gives them.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { OutwardDialer } from '#net';
import { DNS_PROVIDERS } from './dns-providers.ts';
import { openDnsProvider } from './open-dns-provider.ts';

const folder = mkdtempSync(join(tmpdir(), 'dns-settings-'));
after(() => rmSync(folder, { recursive: true }));

const SECRET = 'c2VjcmV0LXNlY3JldA==';
function fileOf(text: string, mode = 0o600): string {
  const file = join(folder, `secret-${mode.toString(8)}-${text.length}`);
  writeFileSync(file, text, { mode });
  return file;
}

async function open(
  provider: string,
  settings: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const opened = await openDnsProvider(
    { provider, settings },
    { folder, environment, outward: new OutwardDialer() },
  );
  await opened.close();
}

/** The message of the refusal, which repeats no secret. */
async function refusalOf(...args: Parameters<typeof open>): Promise<string> {
  let message = '';
  await assert.rejects(open(...args), (error: Error & { code?: string }) => {
    message = error.message;
    return error.code === 'acme-options';
  });
  assert.ok(!message.includes(SECRET), message);
  return message;
}

describe('the settings of a DNS provider', () => {
  it('are in the guide, with the variables of their secrets', () => {
    const guide = readFileSync('docs/guide/automatic-certificates.md', 'utf8');
    for (const [name, { settings, secret }] of Object.entries(DNS_PROVIDERS))
      for (const word of [...Object.keys(settings), secret?.fileSetting, ...(secret?.variables ?? [])])
        assert.ok(word === undefined || guide.includes(`\`${word}\``), `${name}: ${word}`);
  });

  it('open each provider with the values of their examples', async () => {
    const secrets: Readonly<Record<string, string>> = {
      'key-file': `key "frontdoor" {\n\talgorithm hmac-sha512;\n\tsecret "${SECRET}";\n};\n`,
      'token-file': `${SECRET}\n`,
      'credentials-file': `[default]\naws_access_key_id = AKIDEXAMPLE0000001\naws_secret_access_key = ${SECRET}\n`,
    };
    for (const [name, { settings, secret }] of Object.entries(DNS_PROVIDERS)) {
      const values = Object.fromEntries(
        Object.entries(settings).map(([each, { example }]) => [each, example]),
      );
      if (secret !== undefined) values[secret.fileSetting] = fileOf(secrets[secret.fileSetting]!);
      await open(name, values);
    }
  });

  it('that are missing, unknown or malformed are refused with what to give', async () => {
    assert.match(
      await refusalOf('clodflare', {}),
      /did you mean cloudflare\? the providers are rfc2136, acme-dns/,
    );
    assert.match(
      await refusalOf('acme-dns', {}),
      /needs --acme-dns-setting server=https:\/\/auth\.example\.com/,
    );
    const server = (value: string) => refusalOf('acme-dns', { server: value });
    for (const value of [
      'http://auth.example.com',
      'https://u:p@auth.example.com',
      'https://a.example/path',
      'a',
    ])
      assert.match(
        await server(value),
        /--acme-dns-setting server: must be an https URL without a path/,
        value,
      );
    const token = { 'token-file': fileOf(SECRET) };
    assert.match(
      await refusalOf('hetzner', { ...token, 'zone-di': 'x' }),
      /has no such setting: its settings are delegation, token-file$/,
    );
    assert.match(await refusalOf('cloudflare', { ...token, 'zone-di': 'x' }), /did you mean zone-id\?/);
    assert.match(await refusalOf('cloudflare', { ...token, 'zone-id': 'x' }), /zone-id: must be 32 hex/);
    assert.match(
      await refusalOf('cloudflare', { ...token, delegation: 'A.b,' }),
      /delegation: must be domains/,
    );
    const hint = await refusalOf('cloudflare', { token: SECRET });
    assert.match(hint, /no secret belongs there; give token-file=.*, or set CLOUDFLARE_API_TOKEN/);
  });

  it('take a secret from a file before the environment, and refuse one that others can read or that is none', async () => {
    assert.match(
      await refusalOf('route53', {}),
      /needs an access key: give .* or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment$/,
    );
    assert.match(await refusalOf('hetzner', { 'token-file': fileOf(SECRET, 0o644) }), /chmod 600/);
    assert.match(await refusalOf('hetzner', { 'token-file': `/nowhere/${SECRET}` }), /there is no such file/);
    const two = await refusalOf('hetzner', { 'token-file': fileOf(`${SECRET} ${SECRET}`) });
    assert.match(two, /holds no token: it must be one word/);
    await open('hetzner', {}, { HCLOUD_TOKEN: SECRET });
    await refusalOf('hetzner', { 'token-file': '/nowhere/x' }, { HCLOUD_TOKEN: SECRET });
    const aws = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE0000001' };
    assert.match(await refusalOf('route53', {}, aws), /needs AWS_SECRET_ACCESS_KEY beside it/);
    await open('route53', {}, { ...aws, AWS_SECRET_ACCESS_KEY: SECRET, AWS_SESSION_TOKEN: 's' });
    const profile = `aws_access_key_id = AKIDEXAMPLE0000001\naws_secret_access_key = ${SECRET}\n`;
    const several = { 'credentials-file': fileOf(`[a]\n${profile}[b]\n${profile}`) };
    assert.match(await refusalOf('route53', several), /the file needs one key/);
  });

  it('take a key of DNS updates in the forms of tsig-keygen and nsupdate, and name what is wrong with others', async () => {
    const withKey = (text: string) =>
      open('rfc2136', { server: '192.0.2.1:5353' }, { FRONTDOOR_TSIG_KEY: text });
    await withKey(`# made by hand\nkey frontdoor. { secret "${SECRET}"; algorithm hmac-sha256; };`);
    await withKey(`frontdoor:${SECRET}`);
    await withKey(`hmac-sha512:frontdoor:${SECRET}`);
    const refused = (text: string) =>
      refusalOf('rfc2136', { server: 'ns1.example.com' }, { FRONTDOOR_TSIG_KEY: text });
    assert.match(
      await refused(`hmac-md5:frontdoor:${SECRET}`),
      /a key for hmac-md5: the algorithms are hmac-sha256/,
    );
    for (const text of [
      SECRET,
      `frontdoor:${SECRET}!`,
      `key "a..b" { secret "${SECRET}"; };`,
      'key "a" { };',
    ])
      assert.match(await refused(text), /^FRONTDOOR_TSIG_KEY holds no key: write it with "tsig-keygen/, text);
  });
});
