/** `frontdoor agent certificate`: shows the certificate of an https service, and the option that accepts it. */
import { Command } from 'commander';
import { FrontdoorError, messageOf } from '#base';
import { parseShareTarget } from '#domain';
import { schemeFacts } from '#domain/backend-modes';
import type { probeTls } from '#net';
import { runCommand, writeJson, type CliIo } from './cli-io.ts';

const TIMEOUT_MS = 10_000;
const HTTPS = 'https://';
/** A certificate is the service's text, and shown on a terminal. */
const NOT_SHOWN = /[^\x20-\x7e]/g;
const MAX_SHOWN_CHARS = 300;

export function targetCertificateCommand(io: CliIo): Command {
  return new Command('certificate')
    .description(
      'connect to an https service from this machine, and show its certificate with the option that accepts it',
    )
    .argument('<target>', 'HOST:PORT or https://HOST:PORT; for example 192.168.1.10:8006')
    .option('--json', 'print JSON')
    .action(async (given: string, { json = false }: { json?: boolean }) => {
      await runCommand(io, json, async () => {
        const target = given.includes('://') ? given : `${HTTPS}${given}`;
        const parsed = parseShareTarget(target);
        if (parsed === undefined || !('scheme' in parsed) || !schemeFacts(parsed.scheme).isTls)
          throw new FrontdoorError('invalid', 'value', 'the target must be HOST:PORT or https://HOST:PORT');
        const { leaf, problem = null } = await probe(parsed.host, parsed.port, target);
        const found = {
          target,
          fingerprint: leaf.fingerprint256,
          subject: shown(leaf.subject),
          names: shown(leaf.subjectAltName ?? ''),
          issuer: shown(leaf.issuer),
          validFrom: leaf.validFromDate.toISOString(),
          validTo: leaf.validToDate.toISOString(),
          problem,
        };
        if (json) return writeJson(io, found);
        const pin = found.fingerprint.replaceAll(':', '').toLowerCase();
        io.out(
          `fingerprint  ${found.fingerprint} (SHA-256)\n` +
            `subject      ${found.subject}\n` +
            `names        ${found.names}\n` +
            `issuer       ${found.issuer}\n` +
            `valid        ${found.validFrom} to ${found.validTo}\n` +
            `verified     ${problem === null ? 'yes' : `no (${problem})`}\n\n` +
            'If this is the certificate that the service itself shows, accept it, and no other, with:\n' +
            `  frontdoor agent share public ${target} --target-pin ${pin}\n`,
        );
      });
    });
}

async function probe(host: string, port: number, target: string): ReturnType<typeof probeTls> {
  const net = await import('#net');
  return net.probeTls(host, port, TIMEOUT_MS).catch((cause: unknown) => {
    const message = `${target} presented no certificate: ${messageOf(cause)}`;
    throw new FrontdoorError('unavailable', 'unreachable', message, { cause });
  });
}

function shown(text: string): string {
  return text.replaceAll('\n', ', ').replaceAll(NOT_SHOWN, '?').slice(0, MAX_SHOWN_CHARS);
}
