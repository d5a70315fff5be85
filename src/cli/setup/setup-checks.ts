/** The checks of `frontdoor setup`, which are the doctor's: names, ports, certificate authority and clock, disk. */
import { networkInterfaces } from 'node:os';
import { formatHostPort } from '#base';
import { directDialer, probeAddresses, probePort } from '#net';
import { findRunningProgram } from '#net/files';
import { LETS_ENCRYPT } from '../acme-options.ts';
import { failure, ok, PROBE_MS, skipped, warning, type Check, type CheckResult } from '../doctor/finding.ts';
import { machineChecks } from '../doctor/machine-checks.ts';
import { nameVerdict } from '../doctor/network-checks.ts';
import { portHolder } from '../doctor/port-holder.ts';
import { serverClockVerdict } from '../doctor/server-clock.ts';
import { anyShareOf } from '../doctor/surroundings.ts';
import { certificateFilesVerdict } from './setup-certificate.ts';
import type { SetupAnswers } from './setup-answers.ts';

const EVERY_INTERFACE = new Set(['0.0.0.0', '::']);

export function setupChecks(answers: SetupAnswers, acmeDirectory: unknown, version: string): Check[] {
  const { zone, apiName, acmeEmail, tlsCert, tlsKey, httpPort, httpsPort, dataDir } = answers;
  const names = [zone, apiName, anyShareOf(zone)];
  const directory = typeof acmeDirectory === 'string' ? acmeDirectory : LETS_ENCRYPT;
  return [
    ...names.map((name) => ({ name: `name ${name}`, run: () => ownNameVerdict(name) })),
    ...[httpPort, httpsPort].map((port) => ({ name: `port ${port}`, run: () => freeVerdict(port, answers) })),
    ...(tlsCert === undefined
      ? []
      : [
          {
            name: 'certificate',
            // Names that it has not get automatic ones, if there are any.
            run: () =>
              certificateFilesVerdict(
                { tlsCert, tlsKey, names: acmeEmail === undefined ? names : [] },
                Date.now(),
              ),
          },
        ]),
    ...(acmeEmail === undefined
      ? []
      : [{ name: 'certificate authority', run: () => serverClockVerdict(new URL(directory), directDialer) }]),
    ...machineChecks(version, dataDir).filter(({ name }) => name === 'disk'),
  ];
}

/** A name that leads to another machine may still be right: a router or load balancer forwards to this one. */
async function ownNameVerdict(name: string): Promise<CheckResult> {
  const missingRemedy = `create an A or AAAA record that leads ${name} to this machine`;
  const verdict = await nameVerdict(name, PROBE_MS, missingRemedy);
  if (verdict.state !== 'ok') return verdict;
  const addresses = await probeAddresses(name, PROBE_MS);
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
  if (addresses.some((address) => own.includes(address))) return verdict;
  return warning(
    `${name} leads to ${addresses.join(', ')}, which no interface of this machine has`,
    'correct the record, unless a router or load balancer with this address forwards to this machine',
  );
}

async function freeVerdict(port: number, { listen, dataDir }: SetupAnswers): Promise<CheckResult> {
  if (findRunningProgram(dataDir) !== undefined)
    return skipped('Frontdoor runs on the data directory already');
  const host = EVERY_INTERFACE.has(listen) ? '127.0.0.1' : listen;
  const { state } = await probePort(host, port, PROBE_MS);
  if (state !== 'open') return ok('free');
  const holder = await portHolder(port);
  return failure(
    `another program listens at ${formatHostPort(host, port)}${holder === undefined ? '' : `: ${holder}`}`,
    'stop that program, or choose another port',
  );
}
