/**
 * A25: custom frontends whose hostname is not proven (without a record, with that of another organization, with name servers
 * that fail, with a proof that was lost), while DNS leads all of their names to the gateway. Nothing is served below them,
 * and no certificate is ordered; a proven one beside them is served all the time.
 */
import { httpGet } from '../support/world.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { openCertificateWorld, untilProof, type CertificateWorld, type Tenant } from './certificate-world.ts';

const DAY_MS = 86_400_000;
const UNPROVEN = ['without', 'foreign', 'failing', 'silent', 'leftover'] as const;

export const UNPROVEN_NAME_ROW: BatteryRow = {
  id: 'A25',
  title: 'hostnames without a proof are not served, and get no certificate',
  hasOwnProduct: true,
  run: async ({ quick, note }) => {
    const tally = new Tally();
    const parts = await openCertificateWorld();
    try {
      const [owner, other] = [await parts.tenant('owner'), await parts.tenant('other')];
      await owner.share('app');
      await other.share('theirs');
      const rounds = quick ? 1 : 5;
      for (let round = 0; round < rounds; round += 1) await checkRound(tally, parts, owner, other, round);
      await checkLoss(tally, parts, owner);
      const certified = parts.certified();
      note(`certificates: ${certified.join(', ')}`);
      for (const name of certified)
        tally.check(/^app\.(proven|kept|lost)-?\d*\./.test(name), 'ordered for a proven name', () => name);
    } finally {
      await parts.stop();
    }
    return tally;
  },
};

async function checkRound(
  ...[tally, parts, owner, other, round]: [
    ...[tally: Tally, parts: CertificateWorld, owner: Tenant, other: Tenant, round: number],
  ]
): Promise<void> {
  const { names } = parts;
  const hostnameOf = (kind: string): string => `${kind}-${round}.a25-${round}.example`;
  const recordOf = (kind: string): string => `_frontdoor-challenge.${hostnameOf(kind)}`;
  const valueOf = ({ organizationId }: Tenant): string => `frontdoor-organization=${organizationId}`;
  // A wildcard of an earlier use leads every name to the gateway.
  names.names.set(`*.a25-${round}.example`, { addresses: ['127.0.0.1'] });
  names.names.set(recordOf('foreign'), { txt: [valueOf(other)] });
  names.names.set(recordOf('failing'), { failure: 'SERVFAIL' });
  names.names.set(recordOf('silent'), { failure: 'SILENCE' });
  names.names.set(recordOf('leftover'), { alias: 'share.localhost' });
  names.names.set(recordOf('proven'), { txt: [valueOf(owner)] });
  // The claim of another, which came first, blocks nobody.
  await other.claim(hostnameOf('proven'));
  const proven = await owner.claim(hostnameOf('proven'));
  for (const kind of UNPROVEN) await owner.claim(hostnameOf(kind));
  await untilProof(owner, proven, 'PROVEN');
  const served = await parts.visit(`app.${hostnameOf('proven')}`);
  tally.check(served.certificate === 'public' && served.status === 200, 'a proven name is served', () =>
    JSON.stringify(served),
  );
  for (const kind of UNPROVEN) await checkNotServed(tally, parts, `app.${hostnameOf(kind)}`, kind);
  await checkNotServed(tally, parts, `theirs.${hostnameOf('proven')}`, 'of another organization');
}

async function checkNotServed(
  ...[tally, parts, host, kind]: [tally: Tally, parts: CertificateWorld, host: string, kind: string]
): Promise<void> {
  const seen = await parts.visit(host);
  tally.check(
    seen.certificate !== 'public' && seen.status !== 200,
    `${kind}: no certificate, no service`,
    () => JSON.stringify(seen),
  );
  const plain = await httpGet(parts.httpPort, host, '/');
  tally.check(plain.status === 404, `${kind}: not served on HTTP`, () => String(plain.status));
}

async function checkLoss(tally: Tally, parts: CertificateWorld, owner: Tenant): Promise<void> {
  const { names } = parts;
  const record = { txt: [`frontdoor-organization=${owner.organizationId}`] };
  for (const name of ['lost', 'kept'])
    names.names.set(`_frontdoor-challenge.${name}.a25-end.example`, record);
  const [lost, kept] = [await owner.claim('lost.a25-end.example'), await owner.claim('kept.a25-end.example')];
  await untilProof(owner, lost, 'PROVEN');
  await untilProof(owner, kept, 'PROVEN');
  const before = await parts.visit('app.lost.a25-end.example');
  tally.check(before.certificate === 'public', 'served while it is proven', () => JSON.stringify(before));
  names.names.delete('_frontdoor-challenge.lost.a25-end.example');
  // The name servers of this one fail, which is no denial.
  names.names.set('_frontdoor-challenge.kept.a25-end.example', { failure: 'SERVFAIL' });
  parts.setAhead(1.3 * DAY_MS);
  await untilProof(owner, lost, 'MISSING');
  const missing = await parts.visit('app.lost.a25-end.example');
  tally.check(missing.certificate === 'public', 'served for three days', () => JSON.stringify(missing));
  parts.setAhead(4.6 * DAY_MS);
  await untilProof(owner, lost, 'PENDING');
  const after = await parts.visit('app.lost.a25-end.example');
  tally.check(after.status !== 200, 'lost: not served', () => JSON.stringify(after));
  const plain = await httpGet(parts.httpPort, 'app.lost.a25-end.example', '/');
  tally.check(plain.status === 404, 'lost: not served on HTTP', () => String(plain.status));
  tally.check((await owner.proofOf(kept)) === 'PROVEN', 'name servers that fail take no proof away');
}
