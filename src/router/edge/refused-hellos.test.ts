import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import { ManualClock } from '#base';
import { contentType } from '#wire';
import { ctrlMessages, parseRefusedHello, REFUSED_HELLO, type RefusedHello } from '#wire/ctrl';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { FakeControllers } from '../ctrl/testing/fake-controllers.ts';
import { RefusedHellos } from './refused-hellos.ts';

describe('refused hellos', () => {
  let certificate: X509Certificate;
  let controllers: FakeControllers;
  let refused: RefusedHellos;
  before(async () => {
    certificate = new X509Certificate((await (await makeTestAuthority()).issue('sdk')).cert);
  });
  beforeEach(() => {
    controllers = new FakeControllers();
    refused = new RefusedHellos({ routerId: 'r1', controllers, clock: new ManualClock() });
  });
  afterEach(() => refused.close());

  type Fake = ReturnType<FakeControllers['connect']>;
  const reported = (controller: Fake): (RefusedHello | undefined)[] =>
    controller
      .sentOf(contentType.alerts)
      .flatMap((frame) => ctrlMessages.alerts.decode(frame.body).alerts.map(parseRefusedHello));

  it('are reported once, counted, to one controller that takes them', () => {
    const takers = ['c1', 'c2'].map((id) => controllers.connect(id));
    for (const taker of takers) refused.onServerData({ [REFUSED_HELLO]: 'true' }, taker);
    for (let port = 1; port <= 3; port += 1)
      refused.add(certificate, `192.0.2.1:${port}`, 'api-session-of-another');
    refused.add(certificate, '192.0.2.1:4', 'no-api-session');
    refused.report();
    refused.report();
    const leaf = certificate.raw.toString('base64');
    const common = { certificate: leaf, address: '192.0.2.1' };
    assert.deepEqual(takers.flatMap(reported), [
      { ...common, reason: 'api-session-of-another', occurrences: 3 },
      { ...common, reason: 'no-api-session', occurrences: 1 },
    ]);
  });

  it('are not sent to a controller that did not announce support, as OpenZiti’s', () => {
    const controller = controllers.connect('c1');
    refused.onServerData({ instant: 'true', routerModel: 'true' }, controller);
    refused.add(certificate, '192.0.2.1:1', 'no-api-session');
    refused.report();
    assert.deepEqual(reported(controller), []);
  });

  it('of a flood of addresses are one message, the rest counted', () => {
    const controller = controllers.connect('c1');
    refused.onServerData({ [REFUSED_HELLO]: 'true' }, controller);
    for (let i = 0; i < 5_000; i += 1)
      refused.add(certificate, `10.0.${i >> 8}.${i & 255}:1`, 'no-api-session');
    refused.report();
    const all = reported(controller);
    assert.equal(all.length, 100);
    assert.deepEqual(all.at(-1), { certificate: '', address: '', reason: 'overflow', occurrences: 4_901 });
  });
});
