// Route 53 as its API reference shows it. The server applies the changes, as the service does: a set is deleted only as it is.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import {
  NEVER,
  openProviderApi,
  recordAt,
  type DnsApiAnswer,
  type DnsApiRequest,
  type ProviderApi,
} from './provider-api-fixture.ts';
import { Route53 } from './route53.ts';
import { xmlBlocks, xmlText } from './xml-text.ts';

const CREDENTIALS =
  '[default]\naws_access_key_id = AKIDEXAMPLE0000001\naws_secret_access_key = s3cr3t/of+aws\n';
const NAME = '_acme-challenge.share.example.com';
const XMLNS = 'xmlns="https://route53.amazonaws.com/doc/2013-04-01/"';
const zone = (id: string, name: string, isPrivate: boolean): string =>
  `<HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name><CallerReference>c</CallerReference><Config><Comment/><PrivateZone>${isPrivate}</PrivateZone></Config></HostedZone>`;
const failed = (status: number, code: string, message: string): DnsApiAnswer => ({
  status,
  body: `<?xml version="1.0"?>\n<ErrorResponse ${XMLNS}><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
});

/** The values of the only name, and what happens before a change is applied. */
class Service {
  values: readonly string[] = [];
  beforeChange: (() => void)[] = [];

  answer({ line, body }: DnsApiRequest): DnsApiAnswer {
    if (line.startsWith('GET /2013-04-01/hostedzonesbyname'))
      return {
        body: `<?xml version="1.0"?>\n<ListHostedZonesByNameResponse ${XMLNS}><HostedZones>${zone('PRIVATE', 'example.com', true)}${zone('Z1', 'example.com', false)}</HostedZones></ListHostedZonesByNameResponse>`,
      };
    if (line.startsWith('GET ')) return { body: this.#list() };
    this.beforeChange.shift()?.();
    return this.#change(body);
  }

  #list(): string {
    const set = this.values.map((value) => `<ResourceRecord><Value>${value}</Value></ResourceRecord>`);
    const name = this.values.length === 0 ? 'www.example.com' : NAME;
    return `<ListResourceRecordSetsResponse ${XMLNS}><ResourceRecordSets><ResourceRecordSet><Name>${name}.</Name><Type>TXT</Type><TTL>300</TTL><ResourceRecords>${set.join('')}</ResourceRecords></ResourceRecordSet></ResourceRecordSets></ListResourceRecordSetsResponse>`;
  }

  #change(body: string): DnsApiAnswer {
    let { values } = this;
    for (const change of xmlBlocks(body, 'Change')) {
      const own = xmlBlocks(change, 'ResourceRecord').map((record) => xmlText(record, 'Value')!);
      const isDelete = xmlText(change, 'Action') === 'DELETE';
      if (isDelete ? own.join() !== values.join() : values.length > 0)
        return {
          status: 400,
          body: `<?xml version="1.0"?>\n<InvalidChangeBatch ${XMLNS}><Messages><Message>[Tried to delete resource record set but the values provided do not match the current values]</Message></Messages><RequestId>r</RequestId></InvalidChangeBatch>`,
        };
      values = isDelete ? [] : own;
    }
    this.values = values;
    return {
      body: `<ChangeResourceRecordSetsResponse ${XMLNS}><ChangeInfo><Id>/change/C1</Id><Status>PENDING</Status></ChangeInfo></ChangeResourceRecordSetsResponse>`,
    };
  }
}

describe('the provider for Route 53', () => {
  let api: ProviderApi;
  let provider: Route53;
  let service: Service;
  let next: DnsApiAnswer[] = [];
  const open = async (settings = {}): Promise<void> => {
    service = new Service();
    api = await openProviderApi((request) => next.shift() ?? service.answer(request));
    provider = new Route53(api.context(CREDENTIALS, settings));
  };
  afterEach(async () => {
    next = [];
    await provider.close();
    api.close();
  });

  it('finds the public zone, signs each request, and adds and removes values beside others', async () => {
    await open();
    await provider.add(recordAt(NAME, 'v1'), NEVER);
    await provider.add(recordAt(NAME, 'v2'), NEVER);
    await provider.add(recordAt(NAME, 'v2'), NEVER);
    assert.deepEqual(service.values, ['"v1"', '"v2"']);
    await provider.remove(recordAt(NAME, 'v1'), NEVER);
    assert.deepEqual(service.values, ['"v2"']);
    await provider.remove(recordAt(NAME, 'v2'), NEVER);
    await provider.remove(recordAt(NAME, 'v2'), NEVER);
    assert.deepEqual(service.values, []);
    const lines = api.requests.map(({ line }) => line);
    assert.deepEqual(lines.slice(0, 5), [
      `GET /2013-04-01/hostedzonesbyname?dnsname=${NAME}&maxitems=20`,
      'GET /2013-04-01/hostedzonesbyname?dnsname=share.example.com&maxitems=20',
      'GET /2013-04-01/hostedzonesbyname?dnsname=example.com&maxitems=20',
      `GET /2013-04-01/hostedzone/Z1/rrset?maxitems=1&name=${NAME}&type=TXT`,
      'POST /2013-04-01/hostedzone/Z1/rrset/',
    ]);
    for (const { headers } of api.requests)
      assert.match(
        headers.authorization ?? '',
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE0000001\/\d{8}\/us-east-1\/route53\/aws4_request, SignedHeaders=accept;(?:content-type;)?host;x-amz-date, Signature=[0-9a-f]{64}$/,
      );
  });

  it('loses no value when two gateways change a set at the same time', async () => {
    await open({ 'zone-id': 'Z1' });
    service.beforeChange = [() => (service.values = ['"of another gateway"'])];
    await provider.add(recordAt(NAME, 'v1'), NEVER);
    assert.deepEqual(service.values, ['"of another gateway"', '"v1"']);
  });

  it('gives up when the set changes again and again', async () => {
    await open({ 'zone-id': 'Z1' });
    let changes = 0;
    service.beforeChange = Array.from({ length: 20 }, () => () => {
      changes += 1;
      service.values = [`"${changes}"`];
    });
    await assert.rejects(provider.add(recordAt(NAME, 'v1'), NEVER), {
      message: /did not change the TXT records of .*: \[Tried to delete .*InvalidChangeBatch \(HTTP 400\)$/,
    });
    assert.equal(changes, 8);
  });

  it('waits where the service asks for that with status 400, and names what a key lacks', async () => {
    await open({ 'zone-id': 'Z1' });
    next = [
      failed(400, 'Throttling', 'Rate exceeded'),
      failed(400, 'PriorRequestNotComplete', 'The request was rejected because another one is pending'),
    ];
    await provider.add(recordAt(NAME, 'v1'), NEVER);
    assert.deepEqual(api.pauses, [1_000, 2_000]);
    next = [
      failed(
        403,
        'AccessDenied',
        'User: arn:aws:iam::1:user/u is not authorized to perform: route53:ListResourceRecordSets',
      ),
    ];
    await assert.rejects(provider.add(recordAt(NAME, 'v3'), NEVER), {
      message: /^Route 53 refuses what token-file=\/etc\/token holds: User: .* it needs the right R$/,
    });
  });
});
