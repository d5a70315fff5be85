/** Bearer tokens for tests: an issuer's keys, valid tokens, and known kinds of forgeries. */
import {
  createHmac,
  generateKeyPairSync,
  sign as signBytes,
  type KeyObject,
  type SignKeyObjectInput,
} from 'node:crypto';
import type { GatewayProvider, GatewayTokenIssuer } from '#domain/gateway-shapes';
import { providerOf } from '../testing/access-world.ts';

const ISSUER = 'https://idp.example';
const AUDIENCE = 'client-1';
export const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const rsaOther = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');

export function jwkOf(key: KeyObject, more: object): Record<string, unknown> {
  return { ...(key.export({ format: 'jwk' }) as Record<string, unknown>), ...more };
}

export const RSA_JWK = jwkOf(rsa.publicKey, { kid: 'rsa', alg: 'RS256', use: 'sig' });
export const KEYS = [
  RSA_JWK,
  jwkOf(ec.publicKey, { kid: 'ec' }),
  jwkOf(ed.publicKey, { kid: 'ed', use: 'sig' }),
];

export function issuerOf(more: Partial<GatewayTokenIssuer> = {}): GatewayProvider {
  return providerOf('idp', {
    tokens: {
      issuer: ISSUER,
      audience: AUDIENCE,
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      keys: KEYS,
      ...more,
    },
  });
}

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const LOADED_S = Math.floor(Date.now() / 1_000);
/** The clock stands still, so that a token is judged at the second for which it was made. */
export const nowS = (): number => LOADED_S;
const RS256 = { alg: 'RS256', kid: 'rsa', typ: 'JWT' };
export const claimsOf = (more: object = {}): object => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'machine-7',
  exp: nowS() + 600,
  ...more,
});

export function signed(
  header: unknown,
  claims: unknown,
  key: KeyObject | SignKeyObjectInput,
  hash: string | null = 'sha256',
): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${signBytes(hash, Buffer.from(text), key).toString('base64url')}`;
}

/** Signs with the issuer's RSA key. */
export const token = (claims: unknown = claimsOf(), header: unknown = RS256): string =>
  signed(header, claims, rsa.privateKey);

export function hmacToken(header: object, secret: string | Buffer): string {
  const text = `${encode(header)}.${encode(claimsOf())}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

export function validTokens(): Readonly<Record<string, string>> {
  const ecKey = { key: ec.privateKey, dsaEncoding: 'ieee-p1363' as const };
  return {
    RS256: token(),
    'without typ': token(claimsOf(), { alg: 'RS256', kid: 'rsa' }),
    'typ at+jwt': token(claimsOf(), { alg: 'RS256', kid: 'rsa', typ: 'at+jwt' }),
    ES256: signed({ alg: 'ES256', kid: 'ec' }, claimsOf(), ecKey),
    EdDSA: signed({ alg: 'EdDSA', kid: 'ed' }, claimsOf(), ed.privateKey, null),
    'one audience in a list': token(claimsOf({ aud: [AUDIENCE] })),
    'several audiences, made out to us': token(claimsOf({ aud: ['x', AUDIENCE], azp: AUDIENCE })),
    'no key id, one key of the kind': signed({ alg: 'ES256' }, claimsOf(), ecKey),
    'ended a moment ago': token(claimsOf({ exp: nowS() - 30 })),
    'good in a moment': token(claimsOf({ nbf: nowS() + 30 })),
    'issued in a moment': token(claimsOf({ iat: nowS() + 30 })),
    'all times': token(claimsOf({ iat: nowS(), nbf: nowS() - 5 })),
  };
}

export function forgedTokens(): Readonly<Record<string, string>> {
  const all: Record<string, string> = {};
  const parts = token().split('.');
  const [head = '', body = '', signature = ''] = parts;
  for (const alg of ['none', 'None', 'NONE', 'nOnE']) {
    all[`alg ${alg}`] = `${encode({ alg })}.${body}.`;
    all[`alg ${alg} with the signature`] = `${encode({ alg, kid: 'rsa' })}.${body}.${signature}`;
    all[`alg ${alg} with a byte`] = `${encode({ alg })}.${body}.AA`;
  }
  const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
  const pkcs1 = rsa.publicKey.export({ type: 'pkcs1', format: 'pem' });
  const secrets: Readonly<Record<string, string | Buffer>> = {
    PEM: pem,
    'PEM cut': pem.trim(),
    'PEM with spaces': ` \n${pem}`,
    'PEM with BOM': `\ufeff${pem}`,
    'PEM in CRLF': pem.replaceAll('\n', '\r\n'),
    'PKCS#1': pkcs1,
    DER: rsa.publicKey.export({ type: 'spki', format: 'der' }),
    JWK: JSON.stringify(RSA_JWK),
    modulus: Buffer.from(RSA_JWK['n'] as string, 'base64url'),
    nothing: '',
    zero: Buffer.alloc(32),
    audience: AUDIENCE,
  };
  for (const [name, secret] of Object.entries(secrets)) {
    for (const alg of ['HS256', 'RS256'])
      all[`${alg} made as HMAC of ${name}`] = hmacToken({ alg, kid: 'rsa' }, secret);
  }
  const other = jwkOf(rsaOther.publicKey, {});
  const foreign = (header: object): string =>
    signed({ ...RS256, ...header }, claimsOf(), rsaOther.privateKey);
  all['jwk in the header'] = foreign({ jwk: other });
  all['jwk in the header, right key'] = token(claimsOf(), { ...RS256, jwk: RSA_JWK });
  all['jku in the header'] = foreign({ jku: 'https://evil.example/jwks.json' });
  all['x5u in the header'] = foreign({ x5u: 'https://evil.example/x' });
  all['x5c in the header'] = foreign({ x5c: ['AA=='] });
  const kids = [
    '/dev/null',
    '../../../../dev/null',
    "' UNION SELECT 'x'--",
    'rsa\0',
    'rsa ',
    'RSA',
    '',
    '__proto__',
    'constructor',
  ];
  for (const kid of kids) {
    all[`kid ${JSON.stringify(kid)}`] = foreign({ kid });
    all[`kid ${JSON.stringify(kid)} with HMAC of nothing`] = hmacToken({ alg: 'HS256', kid }, '');
  }
  for (const kid of [7, null, ['rsa'], { kid: 'rsa' }, true])
    all[`kid as ${JSON.stringify(kid)}`] = token(claimsOf(), { ...RS256, kid });
  all['crit'] = token(claimsOf(), { ...RS256, crit: ['exp'], exp: 1 });
  all['unknown crit'] = token(claimsOf(), { ...RS256, crit: ['x-unknown'], 'x-unknown': 1 });
  all['empty crit'] = token(claimsOf(), { ...RS256, crit: [] });
  all['b64'] = token(claimsOf(), { ...RS256, b64: false, crit: ['b64'] });
  all['zip'] = token(claimsOf(), { ...RS256, zip: 'DEF' });
  all['JWE'] = `${encode({ alg: 'RSA-OAEP', enc: 'A256GCM', kid: 'rsa' })}.AAAA.AAAA.AAAA.AAAA`;
  all['enc in a JWS'] = token(claimsOf(), { ...RS256, enc: 'A256GCM' });
  all['five parts'] = `${token()}.AAAA.AAAA`;
  all['four parts'] = `${token()}.`;
  all['two parts'] = `${head}.${body}`;
  all['no signature'] = `${head}.${body}.`;
  for (const typ of ['logout+jwt', 'dpop+jwt', 'secevent+jwt', 'JWE', 'jwt+x', 7, ''])
    all[`typ ${typ}`] = token(claimsOf(), { ...RS256, typ });
  const json = JSON.stringify(claimsOf());
  all['doubled sub'] = token(json.replace('{', '{"sub":"admin",'));
  all['doubled exp'] = token(json.replace('{', '{"exp":99999999999,'));
  all['doubled iss by an escape'] = token(json.replace('{', '{"\\u0069ss":"https://evil.example",'));
  all['doubled alg'] = token(claimsOf(), '{"alg":"RS256","kid":"rsa","alg":"RS256"}');
  all['doubled name inside'] = token(json.replace('{', '{"a":[{"b":1,"b":2}],'));
  const iss: readonly unknown[] = [
    [ISSUER],
    'https://evil.example',
    `${ISSUER}/`,
    ISSUER.toUpperCase(),
    `${ISSUER}.evil.example`,
    '',
    null,
    { 0: ISSUER },
    `${ISSUER}\0`,
  ];
  for (const value of iss) all[`iss ${JSON.stringify(value)}`] = token(claimsOf({ iss: value }));
  const aud: readonly unknown[] = [
    'other',
    '',
    null,
    [],
    ['other'],
    [[AUDIENCE]],
    { 0: AUDIENCE },
    ['other', AUDIENCE],
    `${AUDIENCE} other`,
    AUDIENCE.toUpperCase(),
    [AUDIENCE, 7],
    7,
    true,
  ];
  for (const value of aud) all[`aud ${JSON.stringify(value)}`] = token(claimsOf({ aud: value }));
  all['several audiences, made out to another'] = token(claimsOf({ aud: [AUDIENCE, 'x'], azp: 'x' }));
  const times: readonly unknown[] = [
    '9999999999',
    9_999_999_999.5,
    -1,
    null,
    [9_999_999_999],
    {},
    true,
    '',
    'never',
    253_402_300_800,
  ];
  for (const value of times) all[`exp ${JSON.stringify(value)}`] = token(claimsOf({ exp: value }));
  for (const value of times.filter((time) => time !== -1))
    all[`nbf ${JSON.stringify(value)}`] = token(claimsOf({ nbf: value }));
  all['exp 1e99'] = token(json.replace(/"exp":\d+/, '"exp":1e99'));
  all['exp Infinity'] = token(json.replace(/"exp":\d+/, '"exp":1e999'));
  const { exp: _exp, ...endless } = claimsOf() as { exp: number };
  all['no exp'] = token(endless);
  all['expired'] = token(claimsOf({ exp: nowS() - 61 }));
  all['expired long ago'] = token(claimsOf({ exp: 1 }));
  all['not good yet'] = token(claimsOf({ nbf: nowS() + 62 }));
  all['issued ten minutes ahead'] = token(claimsOf({ iat: nowS() + 600 }));
  for (const sub of [undefined, '', 7, null, ['a'], 'x'.repeat(600)])
    all[`sub ${JSON.stringify(sub)?.slice(0, 9)}`] = token(claimsOf({ sub }));
  all['another tenant’s key'] = signed(RS256, claimsOf(), rsaOther.privateKey);
  all['another algorithm of the same key'] = signed(
    { ...RS256, alg: 'RS512' },
    claimsOf(),
    rsa.privateKey,
    'sha512',
  );
  all['RSA-PSS by a key for RS256'] = signed({ ...RS256, alg: 'PS256' }, claimsOf(), {
    key: rsa.privateKey,
    padding: 6,
  });
  all['ES256 in DER'] = signed({ alg: 'ES256', kid: 'ec' }, claimsOf(), ec.privateKey);
  all['ES256 of zeros'] =
    `${encode({ alg: 'ES256', kid: 'ec' })}.${body}.${Buffer.alloc(64).toString('base64url')}`;
  all['ES256 by the RSA key'] = signed({ alg: 'ES256', kid: 'rsa' }, claimsOf(), rsa.privateKey);
  all['RS256 with the EC key’s id'] = token(claimsOf(), { alg: 'RS256', kid: 'ec' });
  all['no alg'] = token(claimsOf(), { kid: 'rsa' });
  all['alg in a list'] = token(claimsOf(), { ...RS256, alg: ['RS256'] });
  all['alg with a space'] = token(claimsOf(), { ...RS256, alg: 'RS256 ' });
  all['claims as a list'] = token([claimsOf()]);
  all['claims as text'] = token('"x"');
  all['claims that are no JSON'] = token('{');
  all['claims with BOM'] = token(`\ufeff${json}`);
  all['too large'] = token(claimsOf({ padding: 'x'.repeat(8_192) }));
  all['bytes that are no UTF-8'] =
    `${head}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.${signature}`;
  for (const text of [
    '',
    '.',
    '..',
    '...',
    ' ',
    'ey',
    'null',
    `${token()} `,
    ` ${token()}`,
    `${token()}=`,
    `"${token()}"`,
    token().replaceAll('.', '..'),
    token().replace('.', '.\n'),
  ])
    all[`text ${JSON.stringify(text.slice(0, 8))} of ${text.length}`] = text;
  all['claims of another, signature of this'] = `${head}.${encode(claimsOf({ sub: 'admin' }))}.${signature}`;
  all['plain base64'] = parts
    .map((part) => Buffer.from(part, 'base64url').toString('base64'))
    .join('.')
    .replace(/[A-Za-z]$/, '+');
  return all;
}
