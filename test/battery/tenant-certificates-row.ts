/**
 * A24: one organization asks for the certificates of 60 shares in the zone of all, and of names that the authority cannot
 * reach because a tarpit takes its connections, again and again. Meanwhile first visits of others get their certificate within
 * 15 s, and further visits are served. Then the authority refuses new orders (429): few of these reach it, no visitor
 * sees a certificate of the installation where one is on order, and all continues afterwards.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';
import {
  openCertificateWorld,
  untilProof,
  type CertificateWorld,
  type Tenant,
  type Visit,
} from './certificate-world.ts';

const ZONE = 'share.localhost';
const FIRST_VISIT_MS = 15_000;
/** The authority looks there for challenges of the tarpit's names. */
const TARPIT = '127.0.0.9';
const AT_ONCE = 60;
const VISITS = 100;

export const TENANT_CERTIFICATES_ROW: BatteryRow = {
  id: 'A24',
  title: 'one organization takes neither the certificates of others nor their turns',
  hasOwnProduct: true,
  run: async (context) => {
    const tally = new Tally();
    const parts = await openCertificateWorld();
    const tarpit = createServer(() => {}).listen(parts.httpPort, TARPIT);
    try {
      await once(tarpit, 'listening');
      const [hog, other, third] = [
        await parts.tenant('hog'),
        await parts.tenant('other'),
        await parts.tenant('third'),
      ];
      const flooded = await openHog(context, parts, hog);
      const firsts = namesOf('v', context.quick ? 3 : 10);
      await other.share(...firsts, 'late');
      await third.share('third', 'third-late');
      const stopping = new AbortController();
      const flood = floodUntil(parts, flooded, stopping.signal);
      await pause(context.quick ? 10_000 : 60_000);
      await checkOthers(tally, parts, [...firsts, 'third']);
      stopping.abort();
      await flood;
      const taken = parts.certified().filter((name) => /^n-\d+\.share\.localhost$/.test(name));
      context.note(`certificates of the one in the zone: ${taken.length}; orders: ${parts.proxy.passed}`);
      tally.check(taken.length <= 25, 'it has its part of the zone', () => String(taken.length));
      await checkLimit(tally, parts);
    } finally {
      tarpit.close();
      await parts.stop();
    }
    return tally;
  },
};

/** Returns the names that it asks for. */
async function openHog(
  { quick }: BatteryRowContext,
  parts: CertificateWorld,
  hog: Tenant,
): Promise<readonly string[]> {
  const tokens = namesOf('n', quick ? 30 : 60);
  await hog.share(...tokens);
  const zones = namesOf('c', quick ? 2 : 7).map((label) => `${label}.hog.example`);
  parts.names.names.set('_frontdoor-challenge.hog.example', {
    txt: [`frontdoor-organization=${hog.organizationId}`],
  });
  for (const zone of zones) await untilProof(hog, await hog.claim(zone), 'PROVEN');
  const foreign = zones.flatMap((zone) => tokens.map((token) => `${token}.${zone}`));
  for (const host of foreign) {
    const body = JSON.stringify({ host, addresses: [TARPIT] });
    await fetch(`${parts.pebble.namesUrl}/add-a`, { method: 'POST', body });
  }
  return [...tokens.map((token) => `${token}.${ZONE}`), ...foreign];
}

async function floodUntil(
  parts: CertificateWorld,
  hosts: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let at = 0;
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      const host = hosts[at % hosts.length]!;
      at += 1;
      await parts.visit(host);
      // Names that are refused answer at once.
      await pause(50);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function checkOthers(tally: Tally, parts: CertificateWorld, tokens: readonly string[]): Promise<void> {
  const isGood = ({ certificate, status }: Visit): boolean => certificate === 'public' && status === 200;
  for (const token of tokens) {
    const seen = await parts.visit(`${token}.${ZONE}`);
    tally.check(isGood(seen) && seen.tookMs < FIRST_VISIT_MS, `first visit of ${token} within 15 s`, () =>
      JSON.stringify(seen),
    );
  }
  for (let at = tokens.length; at < VISITS; at += 1) {
    const seen = await parts.visit(`${tokens[at % tokens.length]}.${ZONE}`);
    tally.check(isGood(seen), 'a further visit', () => JSON.stringify(seen));
  }
}

async function checkLimit(tally: Tally, parts: CertificateWorld): Promise<void> {
  const { proxy, world } = parts;
  proxy.isLimited = true;
  const seen = await parts.visit(`late.${ZONE}`);
  tally.check(seen.certificate === 'ended', 'a handshake whose order fails shows no other certificate', () =>
    JSON.stringify(seen),
  );
  const before = proxy.refused;
  for (let at = 0; at < 10; at += 1)
    await Promise.all([parts.visit(`third-late.${ZONE}`), parts.visit(`late.${ZONE}`)]);
  tally.check(proxy.refused === before, 'new names of all pause after a 429', () => String(proxy.refused));
  proxy.isLimited = false;
  // As SIGHUP does: an operator asks for a new attempt.
  await world.up.reload();
  for (const token of ['late', 'third-late']) {
    const late = await parts.visit(`${token}.${ZONE}`);
    tally.check(late.certificate === 'public', `${token} gets its certificate afterwards`, () =>
      JSON.stringify(late),
    );
  }
}

function namesOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
}
