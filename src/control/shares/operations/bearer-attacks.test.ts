// Forged bearer tokens of our own issuer: each is made as an attacker could, or as a careless signer would.
import assert from 'node:assert/strict';
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign as signBytes,
  type KeyObject,
} from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { CompactEncrypt, exportJWK } from 'jose';
import { AUDIENCE, BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';
import { listSigningKeys, type SigningKey } from '../../credentials/oauth/mod.ts';

type Json = Record<string, unknown>;

let world: ApiWorld;
let key: SigningKey;
let signer: KeyObject;
let publicKey: KeyObject;
let credential: string;
before(async () => {
  world = await openApiWorld();
  [key] = (await listSigningKeys(world.store.db, world.secrets, 'bearer', world.clock.nowMs())) as [
    SigningKey,
  ];
  signer = createPrivateKey(key.privateKeyPem);
  publicKey = createPublicKey(key.publicKeyPem);
  const client = world.store.db.selectFrom('oauth_client').select('secret_id');
  const { secret_id } = await client.where('id', '=', world.first.clientId).executeTakeFirstOrThrow();
  credential = `secret ${secret_id}`;
});
after(() => world.close());

const nowSeconds = (): number => Math.floor(world.clock.nowMs() / 1_000);
const header = (changes: Json = {}): Json => ({ alg: 'ES256', kid: key.id, typ: 'at+jwt', ...changes });
const claims = (changes: Json = {}): Json => ({
  iss: BASE_URL,
  aud: AUDIENCE,
  sub: world.first.clientId,
  iat: nowSeconds(),
  exp: nowSeconds() + 60,
  scope: 'frontdoor.read',
  org: world.first.organizationId,
  caller: 'client',
  credential,
  ...changes,
});

function part(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** Signed with ES256, whatever the header says. */
function signed(head: unknown, body: unknown, by: KeyObject = signer): string {
  const text = `${part(head)}.${part(body)}`;
  const signature = signBytes('sha256', Buffer.from(text), { key: by, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

function withHmac(head: Json, secret: string | Uint8Array, hash = 'sha256'): string {
  const text = `${part(head)}.${part(claims())}`;
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
}

async function assertAllRefused(tokens: Readonly<Record<string, string>>): Promise<void> {
  const url = `/frontdoor/${world.first.frontdoorId}`;
  const good = await world.call('GET', url, { authorization: `Bearer ${signed(header(), claims())}` });
  assert.equal(good.status, 200, 'the forger’s tools work');
  for (const [name, token] of Object.entries(tokens)) {
    const answer = await world.call('GET', url, { authorization: `Bearer ${token}` });
    // A text that is not a token is recognized by its form.
    assert.ok([400, 401].includes(answer.status), `${name}: ${answer.status} ${answer.text}`);
  }
}

describe('forged bearer tokens', () => {
  it('without a signature are refused, for every form of the header', async () => {
    const body = part(claims());
    const tokens: Record<string, string> = {};
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', null, undefined]) {
      tokens[`${alg}, empty`] = `${part(header({ alg }))}.${body}.`;
      tokens[`${alg}, with one`] =
        `${part(header({ alg }))}.${body}.${signed(header(), claims()).split('.')[2]}`;
    }
    tokens['two parts'] = `${part(header())}.${body}`;
    tokens['zero signature'] = `${part(header())}.${body}.${Buffer.alloc(64).toString('base64url')}`;
    await assertAllRefused(tokens);
  });

  it('whose public key was taken for a shared secret are refused', async () => {
    const pem = key.publicKeyPem;
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const jwk = JSON.stringify(publicKey.export({ format: 'jwk' }));
    const published = JSON.stringify({
      ...(await exportJWK(publicKey)),
      kid: key.id,
      use: 'sig',
      alg: 'ES256',
    });
    const tokens: Record<string, string> = {};
    const secrets = {
      pem,
      trimmed: pem.trim(),
      ' pem': ` ${pem}`,
      bom: `\ufeff${pem}`,
      crlf: pem.replaceAll('\n', '\r\n'),
    };
    for (const [name, secret] of Object.entries({ ...secrets, spki, jwk, published, kid: key.id, nul: '\0' }))
      for (const [alg, hash] of [
        ['HS256', 'sha256'],
        ['HS384', 'sha384'],
        ['HS512', 'sha512'],
        ['ES256', 'sha256'],
      ] as const)
        tokens[`${alg} with ${name}`] = withHmac(header({ alg }), secret, hash);
    tokens['an empty secret'] = withHmac(header({ alg: 'HS256' }), '');
    await assertAllRefused(tokens);
  });

  it('that bring or name a key of their own are refused', async () => {
    const forger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = await exportJWK(forger.publicKey);
    const tokens: Record<string, string> = {
      'a stranger’s key': signed(header(), claims(), forger.privateKey),
    };
    const heads: Record<string, Json> = {
      jwk: { jwk },
      'jwk without kid': { jwk, kid: undefined },
      jku: { jku: 'http://127.0.0.1:1/jwks.json' },
      x5u: { x5u: 'http://127.0.0.1:1/cert.pem' },
      x5c: { x5c: [forger.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')] },
    };
    for (const [name, changes] of Object.entries(heads))
      tokens[name] = signed(header(changes), claims(), forger.privateKey);
    for (const kid of [
      '../../../../dev/null',
      "x' OR '1'='1",
      "' UNION SELECT 'x",
      '__proto__',
      'constructor',
      '',
      '\0',
      5,
      null,
      [key.id],
      { id: key.id },
    ])
      tokens[`kid ${JSON.stringify(kid)}`] = signed(header({ kid }), claims());
    const service = await world.store.db
      .selectFrom('signing_key')
      .select('id')
      .where('purpose', '!=', 'bearer')
      .execute();
    for (const { id } of service)
      tokens[`the key of another purpose ${id}`] = signed(header({ kid: id }), claims());
    await assertAllRefused(tokens);
  });

  it('of another form, algorithm or type are refused, though our key signed them', async () => {
    const good = signed(header(), claims());
    const [head, body, signature] = good.split('.') as [string, string, string];
    const encrypted = await new CompactEncrypt(Buffer.from(JSON.stringify(claims())))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.id, typ: 'at+jwt' })
      .encrypt(publicKey);
    const tokens: Record<string, string> = {
      JWE: encrypted,
      'five parts': `${good}.${body}.${signature}`,
      'four parts': `${good}.`,
      'a nested token': signed(header({ cty: 'JWT' }), `"${good}"`),
      'a list': signed(header(), [claims()]),
      'no object': signed(header(), 'null'),
      'no JSON': signed(header(), '{'),
      'a header that is no object': signed('[]', claims()),
      'unknown crit': signed(header({ crit: ['exp2'], exp2: 1 }), claims()),
      'empty crit': signed(header({ crit: [] }), claims()),
      'crit b64': signed(header({ crit: ['b64'], b64: false }), claims()),
      'DER signature': `${head}.${body}.${signBytes('sha256', Buffer.from(`${head}.${body}`), signer).toString('base64url')}`,
      'a signature with padding': `${good}==`,
      'a changed payload': `${head}.${part(claims({ scope: 'frontdoor.read frontdoor.admin' }))}.${signature}`,
      'a changed header': `${part(header({ x: 1 }))}.${body}.${signature}`,
    };
    for (const alg of ['ES384', 'ES512', 'ES256K', 'EdDSA', 'RS256', 'PS256', 'es256', 5])
      tokens[`alg ${alg}`] = signed(header({ alg }), claims());
    for (const typ of ['JWT', 'id+jwt', 'dpop+jwt', 'secevent+jwt', '', null, 5, undefined])
      tokens[`typ ${JSON.stringify(typ)}`] = signed(header({ typ }), claims());
    await assertAllRefused(tokens);
  });

  it('that are for others, of others, or of another time are refused, though our key signed them', async () => {
    const now = nowSeconds();
    const bad: readonly [claim: string, ...values: unknown[]][] = [
      ['iss', [BASE_URL], `${BASE_URL}/`, BASE_URL.toUpperCase(), 'http://elsewhere', '', null, { a: 1 }],
      ['aud', BASE_URL, `${AUDIENCE}/`, [BASE_URL], [[AUDIENCE]], { [AUDIENCE]: 1 }, [], '', null],
      ['exp', String(now + 60), `${now + 60}`, 'never', null, true, [now + 60], {}, now - 61, -1, 0],
      ['nbf', now + 61, String(now), 'x'],
      ['iat', now + 120, now - 3_700, String(now), null],
      ['sub', world.first.accountId, world.other.organizationId, '', null, 5, ['x'], "x' OR '1'='1"],
      ['org', world.other.organizationId, '', null, [world.first.organizationId], '*'],
      ['caller', 'account', 'issuer', 'root', '', null, ['client']],
      ['scope', ['frontdoor.read'], null, { read: true }],
    ];
    const tokens: Record<string, string> = {
      'an end that never comes': signed(header(), claims({ exp: 1e99, iat: now - 3_661 })),
    };
    for (const [claim, ...values] of bad) {
      for (const value of values)
        tokens[`${claim} ${JSON.stringify(value)}`] = signed(header(), claims({ [claim]: value }));
      if (claim !== 'nbf') tokens[`no ${claim}`] = signed(header(), claims({ [claim]: undefined }));
    }
    await assertAllRefused(tokens);
  });

  it('end an hour after they were issued, for any end that they state', async () => {
    const token = signed(header(), claims({ exp: 1e99 }));
    const statusOf = async () =>
      (await world.call('GET', '/caller', { authorization: `Bearer ${token}` })).status;
    assert.equal(await statusOf(), 200);
    world.clock.advance(3_659_000);
    assert.equal(await statusOf(), 200);
    world.clock.advance(2_000);
    assert.equal(await statusOf(), 401);
  });
});
