/** A shared key of DNS updates (TSIG), in the form of BIND's key files or of `nsupdate -y`. */
import { createHmac } from 'node:crypto';
import { Secret } from '#base';
import { encodeDnsName, type UpdateKey } from './dns-update-codec.ts';
import { refused, type ProviderSecret } from './provider-settings.ts';

/** By the names in DNS. */
const HASHES: Readonly<Record<string, string>> = {
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
};
const STATEMENT = /^\s*key\s+"?(?<name>[^\s"{};]+)"?\s*\{(?<body>[^{}]*)\}\s*;\s*$/;
const WORD = /^(?:(?<algorithm>hmac-[a-z0-9-]+):)?(?<name>[^\s:]+):(?<text>[A-Za-z0-9+/]+={0,2})$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** @throws FrontdoorError `acme-options`, without repeating the secret */
export function tsigKeyOf({
  source,
  file,
  variables,
}: ProviderSecret): UpdateKey & { readonly secret: Secret } {
  const text = (file ?? Object.values(variables)[0])?.reveal().replaceAll(/^\s*(?:#|\/\/).*$/gm, '') ?? '';
  const { name, algorithm = 'hmac-sha256', secret } = statementOf(text) ?? wordOf(text);
  if (name === undefined || secret === undefined || !BASE64.test(secret) || !isName(name))
    throw refused(
      `${source} holds no key: write it with "tsig-keygen NAME > FILE", or as hmac-sha256:NAME:SECRET with the secret in base64`,
    );
  const hash = HASHES[algorithm.toLowerCase()];
  if (hash === undefined)
    throw refused(
      `${source} holds a key for ${algorithm.slice(0, 30)}: the algorithms are ${Object.keys(HASHES).join(', ')}`,
    );
  const bytes = Buffer.from(secret, 'base64');
  return {
    name,
    algorithm: algorithm.toLowerCase(),
    hmac: (message) => createHmac(hash, bytes).update(message).digest(),
    secret: new Secret(secret),
  };
}

interface Fields {
  readonly name?: string | undefined;
  readonly algorithm?: string | undefined;
  readonly secret?: string | undefined;
}

function statementOf(text: string): Fields | undefined {
  const { name, body } = STATEMENT.exec(text)?.groups ?? {};
  if (name === undefined || body === undefined) return undefined;
  const valueOf = (field: string): string | undefined =>
    new RegExp(`(?:^|[;\\s])${field}\\s+"?([^\\s";]+)"?\\s*;`, 'i').exec(body)?.[1];
  return { name, algorithm: valueOf('algorithm'), secret: valueOf('secret') };
}

function wordOf(text: string): Fields {
  const { name, algorithm, text: secret } = WORD.exec(text.trim())?.groups ?? {};
  return { name, algorithm, secret };
}

function isName(name: string): boolean {
  try {
    encodeDnsName(name);
    return true;
  } catch {
    return false;
  }
}
