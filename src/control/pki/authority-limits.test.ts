// Limits in certificates of authorities, and paths through authorities that have some.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { loadX509 } from '#sdk';
import { authorityLimitsOf } from './authority-limits.ts';
import { authorityOf, makeAuthority } from './certificate-authority.ts';
import { endsPath, pathAbove } from './issuing-path.ts';

const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;
const NAME_CONSTRAINTS = '2.5.29.30';
/** No name below `example` is permitted. */
const LIMIT = Uint8Array.of(0x30, 0x0d, 0xa1, 0x0b, 0x30, 0x09, 0x82, 0x07, ...Buffer.from('example'));

async function authority(maxBelow: number | undefined, limit?: Uint8Array<ArrayBuffer>) {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(SIGNING, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=limited',
    keys,
    signingAlgorithm: SIGNING,
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + HOUR_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true, maxBelow, true),
      ...(limit === undefined ? [] : [new x509.Extension(NAME_CONSTRAINTS, true, limit)]),
    ],
  });
  const keyPem = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return authorityOf({
    certificatePem: certificate.toString('pem'),
    keyPem: `-----BEGIN PRIVATE KEY-----\n${keyPem}\n-----END PRIVATE KEY-----\n`,
  });
}

test('the length of paths and limits of names are read', async () => {
  for (const maxBelow of [undefined, 0, 3, 200]) {
    const { certificate } = await authority(maxBelow);
    assert.deepEqual(authorityLimitsOf(certificate), { maxBelow, limitsNames: false });
  }
  const { certificate } = await authority(undefined, LIMIT);
  assert.deepEqual(authorityLimitsOf(certificate), { maxBelow: undefined, limitsNames: true });
});

test('a certificate in another form than DER counts as one that limits names, and nothing throws', async () => {
  const { certificate } = await authority(3, LIMIT);
  const { raw } = certificate;
  for (let length = 0; length < raw.length; length += 1) {
    const cut = { raw: raw.subarray(0, length) } as X509Certificate;
    assert.equal(authorityLimitsOf(cut).limitsNames, true);
    const indefinite = Buffer.from(raw);
    indefinite[length] = 0x80;
    authorityLimitsOf({ raw: indefinite } as unknown as X509Certificate);
  }
});

test('a path leads through authorities within their length, and through none that limits names', async () => {
  const nowMs = Date.now();
  for (const [maxBelow, limit, isFound] of [
    [undefined, undefined, true],
    [0, undefined, true],
    [undefined, LIMIT, false],
  ] as const) {
    const link = await authority(maxBelow, limit);
    const cert = await link.signLeaf({
      commonName: 'leaf',
      spki: new Uint8Array(link.certificate.publicKey.export({ type: 'spki', format: 'der' })),
      uses: ['client'],
      names: [],
      notBeforeMs: nowMs - 1_000,
      notAfterMs: nowMs + HOUR_MS,
    });
    const path = pathAbove(new X509Certificate(cert), [link.certificate], nowMs);
    assert.equal(path.length, isFound ? 2 : 1);
    // It signed itself, so it also issued the link.
    assert.equal(endsPath(path.slice(1), link.certificate, nowMs), isFound && maxBelow !== 0);
    assert.deepEqual(pathAbove(link.certificate, [link.certificate], nowMs), [], 'an authority is no leaf');
  }
  const other = authorityOf(await makeAuthority({ commonName: 'limited', lifetimeDays: 1, nowMs }));
  assert.deepEqual(endsPath([], other.certificate, nowMs), false);
});
