/** The option of gateways about ports of shares that do not speak HTTP. */
import { InvalidArgumentError, Option } from 'commander';
import type { SharePortRange } from '#domain/gateway-shapes';

export interface SharePortOptions {
  /** Undefined: no share has such a port at the gateway. */
  readonly tcpPorts?: SharePortRange;
  readonly udpPorts?: SharePortRange;
}

const FORM = 'must be a port or a range of ports from 1 to 65535, such as 20000-20099.';
const MAX_PORT = 65_535;

export function sharePortOptions(): readonly Option[] {
  return (['tcp', 'udp'] as const).map((protocol) =>
    new Option(
      `--${protocol}-ports <first-last>`,
      `ports for public shares with a ${protocol}:// target, each of which opens while a share has it; default: none, so that no share has one; for example 20000-20099`,
    ).argParser(parsePortRange),
  );
}

export function parsePortRange(text: string): SharePortRange {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (!(first >= 1 && last >= first && last <= MAX_PORT)) throw new InvalidArgumentError(FORM);
  return { first, last };
}
