import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import * as tls from 'node:tls';
import { FrontdoorError } from '#base';
import { makeTestAuthority, type TestIdentity } from '../../test/support/certificates.ts';
import { certificatesOfPem, checkPeerChain, issuersOf } from './certificate-chain.ts';

const root = await makeTestAuthority('root');
const middle = await root.intermediate('middle');
const other = await makeTestAuthority('other');
const DAY_MS = 86_400_000;

function leafOf({ cert }: TestIdentity): X509Certificate {
  return new X509Certificate(cert);
}

function check(leaf: X509Certificate, chain: readonly string[], ca: string, now = Date.now()) {
  return checkPeerChain(
    leaf,
    chain.map((pem) => new X509Certificate(pem)),
    ca,
    now,
  );
}

describe('the certificate of a peer', () => {
  test('is believed when it leads to an anchor, over certificates that the peer brings or that are anchors', async () => {
    const direct = leafOf(await root.issue('direct'));
    const below = leafOf(await middle.issue('below'));
    assert.equal(check(direct, [], root.ca), undefined);
    assert.equal(check(below, [middle.ca], root.ca), undefined);
    assert.equal(
      check(below, [], middle.ca),
      undefined,
      'an intermediate of the bundle is an anchor by itself',
    );
    assert.equal(check(below, [], root.ca + middle.ca), undefined);
    assert.equal(check(below, [other.ca, root.ca, middle.ca], root.ca), undefined, 'in any order');
  });

  test('may be one for servers alone: OpenZiti asks for no purpose', async () => {
    const leaf = leafOf(await root.issue('server', { purposes: ['server'] }));
    assert.equal(check(leaf, [], root.ca), undefined);
  });

  test('is not believed from another authority, even with our authorities as filler', async () => {
    const stranger = leafOf(await other.issue('stranger'));
    const why = 'the certificate does not chain to a trusted authority';
    assert.equal(check(stranger, [], root.ca), why);
    assert.equal(check(stranger, [root.ca, middle.ca, other.ca], root.ca), why);
    assert.equal(check(leafOf(await middle.issue('below')), [], root.ca), why, 'with a link missing');
  });

  test('is refused from another authority with the name of Frontdoor', async () => {
    const namesake = await makeTestAuthority('root');
    assert.notEqual(check(leafOf(await namesake.issue('x')), [namesake.ca], root.ca), undefined);
  });

  test('is not believed when a leaf of Frontdoor signed it', async () => {
    const below = leafOf(await middle.issue('below'));
    const plain = (await root.issue('middle')).cert;
    assert.notEqual(check(below, [plain], root.ca), undefined);
  });

  test('is not believed before and after its time, nor when its authority’s is over', async () => {
    const expired = leafOf(await root.issue('old', { days: -0.5 }));
    const early = leafOf(await root.issue('early', { startsInDays: 1 }));
    const long = leafOf(await middle.issue('long', { days: 5_000 }));
    assert.match(
      check(expired, [], root.ca)!,
      /^the certificate has expired \(it was valid until .* clock of this machine/,
    );
    assert.match(
      check(early, [], root.ca)!,
      /^the certificate is not valid yet \(it is valid from .* clock of this machine/,
    );
    assert.equal(check(long, [middle.ca], root.ca), undefined);
    assert.notEqual(check(long, [middle.ca], root.ca, Date.now() + 4_000 * DAY_MS), undefined);
  });

  test('costs little however many certificates that name each other come with it', async () => {
    const below = leafOf(await middle.issue('below'));
    const filler = Array.from({ length: 200 }, () => middle.ca);
    const before = process.cpuUsage();
    assert.notEqual(check(below, filler, other.ca), undefined);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_000_000, `${user + system} µs`);
  });

  test('comes with what the peer sent behind it, over TLS', async () => {
    const client = await middle.issue('client');
    const server = await root.issue('server');
    const listener = tls.createServer({ ...server, requestCert: true, rejectUnauthorized: false });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as { port: number };
    const accepted = once(listener, 'secureConnection') as Promise<[tls.TLSSocket]>;
    const socket = tls.connect({
      ...client,
      cert: `${client.cert}\n${middle.ca}`,
      ca: root.ca,
      port,
      host: '127.0.0.1',
    });
    const [peer] = await accepted;
    const leaf = peer.getPeerX509Certificate()!;
    const chain = issuersOf(leaf);
    assert.equal(checkPeerChain(leaf, chain, root.ca, Date.now()), undefined);
    assert.notEqual(checkPeerChain(leaf, [], root.ca, Date.now()), undefined);
    socket.destroy();
    listener.close();
  });
});

test('a bundle without a certificate is refused, and what cannot be read in it is left out', () => {
  assert.throws(
    () => certificatesOfPem('nothing'),
    (error) => error instanceof FrontdoorError && error.code === 'no-certificate',
  );
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  assert.equal(certificatesOfPem(`some text\n${broken}${root.ca}`).length, 1);
});
