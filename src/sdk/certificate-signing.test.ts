import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509';
import { FrontdoorError } from '#base';
import { makeTestAuthority } from '../../test/support/certificates.ts';
import { makeKeyRequest, makeRequestFor, parseCertificateBundle } from './certificate-signing.ts';

const DETAILS = {
  hosts: ['edge.example', '192.0.2.7', '2001:db8::7'],
  uris: ['https://edge.example/'],
  emails: ['ops@edge.example'],
  subject: {
    country: 'DE',
    province: 'BE',
    locality: 'Berlin',
    organization: 'Example',
    organizationalUnit: 'Edge',
  },
};

async function requestOf(csrPem: string): Promise<Pkcs10CertificateRequest> {
  const request = new Pkcs10CertificateRequest(csrPem);
  assert.equal(await request.verify(), true);
  return request;
}

test('a request is signed by its new key and asks for every name and field', async () => {
  const { keyPem, csrPem } = await makeKeyRequest('router-1', DETAILS);
  const request = await requestOf(csrPem);
  const spki = createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
  assert.deepEqual(Buffer.from(request.publicKey.rawData), spki);
  assert.deepEqual(
    ['C', 'ST', 'L', 'O', 'OU', 'CN'].map((field) => request.subjectName.getField(field)),
    [['DE'], ['BE'], ['Berlin'], ['Example'], ['Edge'], ['router-1']],
  );
  const extension = request.getExtension('2.5.29.17');
  const { names } = new SubjectAlternativeNameExtension(extension!.rawData);
  assert.deepEqual(
    names.toJSON().map(({ type, value }) => [type, value]),
    [
      ['dns', 'edge.example'],
      ['ip', '192.0.2.7'],
      ['ip', '2001:db8::7'],
      ['url', 'https://edge.example/'],
      ['email', 'ops@edge.example'],
    ],
  );
});

test('a client asks for its name alone, with another key each time', async () => {
  const [one, two] = [await makeKeyRequest('a'), await makeKeyRequest('a')];
  assert.notEqual(one.keyPem, two.keyPem);
  const request = await requestOf(one.csrPem);
  assert.equal(request.subject, 'CN=a');
  assert.equal(request.getExtension('2.5.29.17'), null);
});

test('an existing key of any kind that OpenZiti uses signs its own request, others are refused', async () => {
  const pairs = [
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ];
  for (const { privateKey, publicKey } of pairs) {
    const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const request = await requestOf(await makeRequestFor(keyPem, 'router-1', DETAILS));
    assert.deepEqual(
      Buffer.from(request.publicKey.rawData),
      publicKey.export({ type: 'spki', format: 'der' }),
    );
  }
  const foreign = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  await assert.rejects(makeRequestFor(foreign, 'x'), FrontdoorError);
});

test('an answer that is no bundle of certificates is an error', async () => {
  const authority = await makeTestAuthority();
  await assert.rejects(parseCertificateBundle('bm90IGEgYnVuZGxl'));
  await assert.rejects(parseCertificateBundle(new X509Certificate(authority.ca).raw.toString('base64')));
});
