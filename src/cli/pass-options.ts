/** Options of a gateway about connections that it passes on. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { MAX_PASS_RULES, parsePassRule, PASS_RULE_FORM, type PassRule } from '#domain/proxies';
import { repeated } from './value-parser.ts';

export interface PassOptions {
  readonly passTls?: readonly PassRule[];
}

interface GatewayPorts extends PassOptions {
  readonly workers: number;
  readonly tlsCert?: string;
  readonly tlsDir?: string;
  readonly acmeEmail?: string;
}

export function passTlsOption(): Option {
  return new Option(
    '--pass-tls <rule>',
    'TLS connections to pass on unchanged from the HTTPS port, by the name that a client asks for (SNI) or the protocol that it offers (ALPN): ' +
      `${PASS_RULE_FORM}; may be repeated; for example edge.example.com=10.0.0.5:443`,
  ).argParser(repeated(collectPassRules));
}

function collectPassRules(text: string, before: readonly PassRule[] = []): readonly PassRule[] {
  const rule = parsePassRule(text);
  if (rule === undefined) throw new InvalidArgumentError(`must be ${PASS_RULE_FORM}.`);
  if (before.length >= MAX_PASS_RULES)
    throw new InvalidArgumentError(`can be given ${MAX_PASS_RULES} times at most.`);
  return [...before, rule];
}

/** Refuses rules that could not be applied. */
export function checkPassOptions(command: Command, options: GatewayPorts): void {
  const { passTls, workers, tlsCert, tlsDir, acmeEmail } = options;
  if (passTls === undefined) return;
  if (workers > 1)
    command.error("error: option '--pass-tls <rule>' cannot be used with '--workers <count>' above 1");
  if (tlsCert === undefined && tlsDir === undefined && acmeEmail === undefined)
    command.error(
      "error: option '--pass-tls <rule>' needs the HTTPS port: give --tls-cert and --tls-key, --tls-dir, or --acme-email",
    );
}
