/**
 * A19: names that a tenant gave up. Another organization asks for each at once and is refused; requests of the former
 * owner's clients reach nobody in the meantime; the former owner takes the name back at once; what an administrator releases
 * everyone may take. The end of the rest itself is tested with a clock (resting-name-operations.test.ts).
 */
import { callAgent } from '#cli';
import { httpGet } from '../support/world.ts';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { RawOrigin } from './raw-origin.ts';
import { startSecondTenant, type SecondTenant } from './second-tenant.ts';

const SHARE = { shareMode: 'public', backendMode: 'proxy' } as const;

export const RESTING_NAME_ROW: BatteryRow = {
  id: 'A19',
  title: 'names stay with their organization after their end',
  run: async (context, product) => {
    const tally = new Tally();
    const [own, foreign] = [await RawOrigin.start(), await RawOrigin.start()];
    const other = await startSecondTenant(product, 'a19');
    try {
      for (let round = 0; round < (context.quick ? 2 : 20); round += 1) {
        const ends = { 'deleted through the API': deleteByApi, 'released by its agent': releaseByAgent };
        for (const [how, end] of Object.entries(ends))
          await checkShare(tally, product, other, {
            name: `a19-${round}-${how.length}`,
            how,
            end,
            own,
            foreign,
          });
        await checkHostname(tally, product, other, `a19-${round}.example.test`);
      }
      tally.check(foreign.begun === 0, 'no request of the former owner’s clients reaches another’s service');
    } finally {
      await other.stop();
      await Promise.all([own.close(), foreign.close()]);
    }
    return tally;
  },
};

interface Given {
  readonly name: string;
  readonly how: string;
  readonly end: (product: BatteryProduct, name: string) => Promise<void>;
  readonly own: RawOrigin;
  readonly foreign: RawOrigin;
}

async function deleteByApi({ parts }: BatteryProduct, name: string): Promise<void> {
  await parts.call('DELETE', `/shares/${name}`);
}

async function releaseByAgent({ parts }: BatteryProduct, name: string): Promise<void> {
  await callAgent(parts.agentSocket, { op: 'release', name }, 20_000);
}

async function checkShare(
  tally: Tally,
  product: BatteryProduct,
  other: SecondTenant,
  given: Given,
): Promise<void> {
  const { name, how, end, own, foreign } = given;
  await product.share(name, own.port);
  await end(product, name);
  const { environmentId } = other;
  const target = `http://127.0.0.1:${foreign.port}`;
  const ask = () => other.call('POST', '/shares', { ...SHARE, name, environmentId, target });
  const taken = await Promise.all([ask(), ask(), ask()]);
  for (const { status, json } of taken) {
    const answered = `${status} ${JSON.stringify(json)}`;
    const wanted = `409 {"error":"conflict","message":"Share ${name} already exists"}`;
    tally.check(answered === wanted, `${how}: refused as a name in use`, () => answered);
  }
  const agent = await callAgent(
    other.agentSocket,
    { op: 'share', mode: 'public', target, name, grants: [] },
    20_000,
  ).then(
    () => 'taken',
    () => 'refused',
  );
  tally.check(agent === 'refused', `${how}: refused to an agent`);
  const { status } = await httpGet(product.parts.port, hostOf(name), '/secret');
  tally.check(status === 404 || status === 503, `${how}: its clients reach nobody`, () => String(status));
  await product.share(name, own.port);
  tally.check(true, `${how}: the former owner takes it back`);
  await end(product, name);
  const released = await other.administer('DELETE', `/resting-names/${hostOf(name)}`);
  tally.check(released.status === 204, `${how}: released`, () => released.text);
  const last = await ask();
  tally.check(last.status === 201, `${how}: taken after its release`, () => last.text);
}

async function checkHostname(
  tally: Tally,
  { parts }: BatteryProduct,
  other: SecondTenant,
  hostname: string,
): Promise<void> {
  const frontends = (await parts.call('GET', '/frontends')).json as { id: string }[];
  const frontendId = frontends[0]!.id;
  const make = () => parts.call('POST', '/custom-frontends', { hostname, frontendId });
  const made = await make();
  const { id } = made.json as { id: string };
  // A mere claim would not rest.
  await other.administer('POST', `/hostname-claims/${id}/grant`);
  await parts.call('DELETE', `/custom-frontends/${id}`);
  for (const asked of [hostname, `a.${hostname}`, 'example.test']) {
    const answer = await other.call('POST', '/custom-frontends', { hostname: asked, frontendId });
    tally.check(answer.status === 409, `the hostname ${asked} is refused`, () => answer.text);
  }
  const back = await make();
  tally.check(back.status === 201, 'the former owner takes its hostname back', () => back.text);
  await parts.call('DELETE', `/custom-frontends/${(back.json as { id: string }).id}`);
}
