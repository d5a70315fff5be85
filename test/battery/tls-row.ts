/**
 * H8: every TLS listener of the product, by sslscan where it is installed and by handshakes of our own: 1.2 and 1.3
 * alone, no cipher without forward secrecy and authentication, no renegotiation, no compression, the right certificate.
 */
import { spawn } from 'node:child_process';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { within } from '../support/deadline.ts';
import { portOf } from '../support/separate.ts';
import { findCommand } from '../support/child-process.ts';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { RawOrigin } from './raw-origin.ts';
import { askToRenegotiate } from './renegotiation.ts';

const NAME = 'h8-raw';
const SCAN_MS = 60_000;
const WEAK = [
  'AES128-SHA',
  'AES256-SHA',
  'AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-ECDSA-AES256-SHA384',
  'ECDHE-RSA-AES128-SHA',
  'DHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-NULL-SHA',
  'AECDH-AES128-SHA',
  'PSK-AES128-CBC-SHA',
  'ARIA128-GCM-SHA256',
  'AES128-CCM',
];

export const TLS_ROW: BatteryRow = {
  id: 'H8',
  title: 'every TLS listener speaks 1.2 and 1.3 alone, with good ciphers and the right certificate',
  run: async (context, product) => {
    const tally = new Tally();
    const origin = await RawOrigin.start();
    try {
      await product.share(NAME, origin.port);
      for (const [listener, port] of listenersOf(product)) {
        await runHandshakes(tally, listener, port);
        await runRenegotiation(tally, listener, port, context.note);
        if (!context.quick) await runScan(tally, listener, port, context.note);
      }
      await runCertificate(tally, product);
    } finally {
      await origin.close();
    }
    return tally;
  },
};

function listenersOf(product: BatteryProduct): [listener: string, port: number][] {
  const { control, router } = product.parts;
  const { apiUrl, edgeApiUrl, ctrlAddress } = control.ready;
  return [
    ['gateway', product.securePort],
    ['Management API', Number(portOf(apiUrl))],
    ['edge API', Number(portOf(edgeApiUrl))],
    ['ctrl', Number(portOf(ctrlAddress))],
    ['router', router.ready.edgePort],
  ];
}

/** The handshake's protocol; undefined: it was refused. */
async function shake(port: number, options: ConnectionOptions): Promise<TLSSocket | undefined> {
  const { promise, resolve } = Promise.withResolvers<TLSSocket | undefined>();
  let socket: TLSSocket;
  try {
    socket = connectTls({
      port,
      host: '127.0.0.1',
      servername: hostOf(NAME),
      // Compares the handshakes: the listeners have different authorities.
      rejectUnauthorized: false,
      ...options,
    });
  } catch {
    return undefined;
  }
  socket.once('secureConnect', () => resolve(socket));
  socket.once('error', () => resolve(undefined));
  socket.once('close', () => resolve(undefined));
  return within('the end of a handshake', promise).catch(() => undefined);
}

async function runHandshakes(tally: Tally, listener: string, port: number): Promise<void> {
  const allow = 'ALL:COMPLEMENTOFALL@SECLEVEL=0';
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    const old = await shake(port, { minVersion: version, maxVersion: version, ciphers: allow });
    tally.check(old === undefined, `${listener}: no ${version}`);
    old?.destroy();
  }
  for (const cipher of WEAK) {
    const weak = await shake(port, { maxVersion: 'TLSv1.2', ciphers: `${cipher}@SECLEVEL=0` });
    tally.check(weak === undefined, `${listener}: no ${cipher}`);
    weak?.destroy();
  }
  const good = await shake(port, { minVersion: 'TLSv1.3' });
  tally.check(good?.getProtocol() === 'TLSv1.3', `${listener}: TLS 1.3`);
  good?.destroy();
  const older = await shake(port, { maxVersion: 'TLSv1.2' });
  const isFine = older === undefined || /GCM|CHACHA20/.test(older.getCipher().name);
  tally.check(isFine, `${listener}: TLS 1.2 with an authenticated cipher, or none`);
  older?.destroy();
}

async function runRenegotiation(
  tally: Tally,
  listener: string,
  port: number,
  note: (line: string) => void,
): Promise<void> {
  const asked = await askToRenegotiate(port, hostOf(NAME));
  if (asked === undefined) {
    note('openssl is not in PATH: renegotiation is left out');
    return;
  }
  tally.check(!asked.hasCompression, `${listener}: no compression`);
  tally.check(!asked.isGranted, `${listener}: no renegotiation`, () => asked.text.slice(-300));
}

async function runScan(
  tally: Tally,
  listener: string,
  port: number,
  note: (line: string) => void,
): Promise<void> {
  const command = findCommand('sslscan');
  if (command === undefined) {
    note('sslscan is not in PATH: its scan is left out');
    return;
  }
  const child = spawn(command, ['--no-colour', `--sni-name=${hostOf(NAME)}`, `127.0.0.1:${port}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: SCAN_MS,
  });
  let text = '';
  child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  for (const old of ['SSLv2', 'SSLv3', 'TLSv1.0', 'TLSv1.1']) {
    tally.check(new RegExp(`${old}\\s+disabled`).test(text), `${listener}: sslscan finds no ${old}`);
  }
  tally.check(/TLSv1\.3\s+enabled/.test(text), `${listener}: sslscan finds TLS 1.3`);
  const accepted = [...text.matchAll(/^(?:Preferred|Accepted)\s+(\S+)\s+\d+\s+bits\s+(\S+)/gm)].map(
    (found) => found[2]!,
  );
  const bad = accepted.filter(
    (name) => !/GCM|CHACHA20|CCM/.test(name) || /NULL|EXP|anon|RC4|DES|MD5/.test(name),
  );
  tally.check(accepted.length > 0 && bad.length === 0, `${listener}: sslscan finds good ciphers alone`, () =>
    JSON.stringify(bad),
  );
  tally.check(
    !/renegotiation supported|Insecure session renegotiation/i.test(text.replace(/not supported/gi, '')),
    `${listener}: sslscan finds no renegotiation`,
  );
  tally.check(!/Compression enabled/i.test(text), `${listener}: sslscan finds no compression`);
  tally.check(
    !/ vulnerable/i.test(text.replace(/not vulnerable/gi, '')),
    `${listener}: sslscan finds no Heartbleed`,
  );
  note(`${listener}: ${accepted.join(' ')}`);
}

async function runCertificate(tally: Tally, product: BatteryProduct): Promise<void> {
  for (const servername of [hostOf(NAME), hostOf(NAME).toUpperCase(), 'other.share.localhost']) {
    const socket = await shake(product.securePort, { servername, ca: product.ca, rejectUnauthorized: true });
    const names = socket?.getPeerCertificate().subjectaltname ?? '';
    tally.check(
      names.includes('*.share.localhost'),
      `the gateway’s certificate for ${servername}`,
      () => names,
    );
    tally.check(socket?.alpnProtocol !== 'h2', `no HTTP/2 for ${servername}`);
    socket?.destroy();
  }
  for (const servername of ['x'.repeat(300), `a${'.b'.repeat(120)}.share.localhost`, 'ä.share.localhost']) {
    const odd = await shake(product.securePort, { servername });
    odd?.destroy();
  }
  const still = await shake(product.securePort, {});
  tally.check(still !== undefined, 'the gateway lives through odd server names');
  still?.destroy();
}
