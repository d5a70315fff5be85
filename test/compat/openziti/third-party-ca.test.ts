// Authorities of other parties with OpenZiti's own program: `ziti edge` adds and verifies one, `ziti edge enroll` takes
// certificates of it, by a token for an identity and without one, and `ziti tunnel` dials with them through our router.
// ZITI_BIN names the binary (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openThirdParty, type ThirdParty } from '../../support/third-party.ts';
import { until } from '../../support/deadline.ts';
import { httpGet } from '../../support/world.ts';
import { runZiti, zitiBinary } from '../../support/ziti-command.ts';
import { enrollArgs } from './tunneler.ts';
import { openZitiEdgeWorld, type ZitiEdgeWorld } from './ziti-edge-world.ts';

const BINARY = zitiBinary() ?? '';
/** Time within which the end of an authority ends the dials of its identities. */
const CUT_MS = 5_000;
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;

let world: ZitiEdgeWorld;
let party: ThirdParty;

before(async () => {
  if (skip !== false) return;
  world = await openZitiEdgeWorld(BINARY);
  party = await openThirdParty('partner');
});
after(() => world?.close());

async function enroll(name: string, jwt: string, ...more: string[]): Promise<string> {
  const out = join(world.folder, `${name}.json`);
  const args = enrollArgs(world.write(`${name}.jwt`, jwt), out, ...more);
  const { status, output } = await runZiti(BINARY, world.folder, args);
  assert.equal(status, 0, output);
  return out;
}

async function enrollWithOwn(name: string, jwt: string, issuer = party): Promise<string> {
  const { cert, key } = await issuer.issue(name);
  const files = ['--cert', world.write(`${name}.cert`, cert), '--key', world.write(`${name}.key`, key)];
  return enroll(name, jwt, ...files);
}

test(
  'certificates of an authority that ziti edge added enroll by token and alone, and dial',
  { skip },
  async () => {
    const { edge, write, service } = world;
    const files = [
      '--cacert',
      write('ca.pem', party.certificatePem),
      '--cakey',
      write('ca.key', party.keyPem),
    ];
    const rights = ['--auth', '--ottca', '--autoca', '--role-attributes', 'partners'];
    await edge('create', 'ca', 'partner', join(world.folder, 'ca.pem'), ...rights);
    await edge('verify', 'ca', 'partner', ...files);
    assert.match(await edge('list', 'cas'), /partner/);

    const signing = ['--cert-file', write('signer.pem', (await party.issue('tokens')).cert), '--kid', 'k1'];
    await edge('create', 'ext-jwt-signer', 'tokens', 'https://tokens.example', ...signing, '-a', 'app');
    assert.match(await edge('list', 'ext-jwt-signers'), /tokens\.example/);

    const address = { protocol: 'tcp', address: '127.0.0.1', port: service.port };
    await edge('create', 'config', 'backend', 'host.v1', JSON.stringify(address));
    await edge('create', 'service', 'web', '--configs', 'backend');
    await edge('create', 'identity', 'ada', '--role-attributes', 'partners');
    await edge('create', 'enrollment', 'ottca', 'ada', 'partner');
    const listed = await edge('list', 'enrollments', '-j');
    const { data: open } = JSON.parse(listed) as { data: { method: string; jwt: string }[] };
    const ada = await enrollWithOwn('ada', open.find(({ method }) => method === 'ottca')!.jwt);
    const [ca] = (JSON.parse(await edge('list', 'cas', '-j')) as { data: { id: string }[] }).data;
    const machine = await enrollWithOwn('machine', await world.read(`cas/${ca!.id}/jwt`));
    assert.match(await edge('list', 'identities'), /partner-machine/);
    await enrollWithOwn('lower', await world.read(`cas/${ca!.id}/jwt`), await party.below('lower'));
    assert.match(await edge('list', 'identities'), /partner-lower/);

    const roles = (identities: string) => ['--service-roles', '@web', '--identity-roles', identities];
    await edge('create', 'service-policy', 'hosting', 'Bind', ...roles('@ada'));
    await edge('create', 'service-policy', 'dialing', 'Dial', ...roles('#partners'));
    const everyRouter = ['--semantic', 'AnyOf', '--edge-router-roles', '#all'];
    await edge('create', 'edge-router-policy', 'all', ...everyRouter, '--identity-roles', '#all');
    await edge('create', 'service-edge-router-policy', 'all', ...everyRouter, '--service-roles', '#all');
    world.tunnel(ada, 'host');
    const port = await world.proxy(machine, 'web');
    await edge('delete', 'ca', 'partner');
    const refused = async () => (await httpGet(port, 'web', '/').catch(() => ({ status: 0 }))).status !== 200;
    await until('the end of dials with the authority', refused, (isRefused) => isRefused, CUT_MS);
  },
);

test(
  'a certificate that names its identity dials, through an authority below the added one',
  { skip },
  async () => {
    const { edge, write, folder } = world;
    const hostJwt = join(folder, 'host.jwt');
    await edge('create', 'identity', 'host', '--jwt-output-file', hostJwt);
    const host = await enroll('host', readFileSync(hostJwt, 'utf8'), '--keyAlg', 'EC');
    await edge(
      'create',
      'service-policy',
      'more',
      'Bind',
      '--service-roles',
      '@web',
      '--identity-roles',
      '@host',
    );
    world.tunnel(host, 'host');
    const claims = await openThirdParty('claims');
    const ca = write('claims.pem', claims.certificatePem);
    const claim = ['-l', 'COMMON_NAME', '-m', 'PREFIX', '-x', 'person-', '-p', 'SPLIT', '-z', '.', '-d', '1'];
    await edge('create', 'ca', 'claims', ca, '--auth', ...claim);
    await edge('verify', 'ca', 'claims', '--cacert', ca, '--cakey', write('claims.key', claims.keyPem));
    await edge('create', 'identity', 'eve', '--external-id', 'eve', '--role-attributes', 'partners');
    const known = JSON.parse(readFileSync(join(folder, 'ada.json'), 'utf8')) as { id: object };
    const { cert, key } = await (await claims.below('claims below')).issue('person-team.eve');
    const id = { ...known.id, cert: `pem:${cert}`, key: `pem:${key}` };
    const port = await world.proxy(write('eve.json', JSON.stringify({ ...known, id })), 'web');
    assert.equal((await httpGet(port, 'web', '/')).status, 200);
    await edge('update', 'ca', 'claims', '--index', '0');
    const refused = async () => (await httpGet(port, 'web', '/').catch(() => ({ status: 0 }))).status !== 200;
    await until('the end of dials with the claim', refused, (isRefused) => isRefused, CUT_MS);
  },
);
