/** The record of a failed request for people: the request, where and why it failed, the remedy, and the times. */
import { printable } from '#base/terminal';
import type { FailureAnswer, UnroutedFailureAnswer } from '#contract/schemas';

const HOPS: Readonly<Record<string, string>> = {
  client: 'at the client',
  gateway: 'in the gateway',
  control: 'in the control plane, or on the path to it',
  router: 'in a router, or on the path to it',
  agent: 'at the agent',
  service: 'in the private service, or between the agent and the service',
};

/** The gateway decided; the reason lies in what the client sent. */
const REFUSED = 'in the gateway, which refused what the client sent';

export function failureText(failure: FailureAnswer | UnroutedFailureAnswer): string {
  const { method, host, path, status, at, hop, cause, code, remedy, client, traceId, errorId } = failure;
  const [share, identity, decision] =
    'shareToken' in failure
      ? [shareText(failure.shareToken), failure.identity, failure.decision]
      : ['no share', null, ''];
  const outcome = status === 0 ? 'got no response' : `was answered with ${status}`;
  const lines: (readonly [string, string])[] = [
    ['Request', `${errorId}, at ${at}`],
    ...('gatewayName' in failure ? [['Gateway', printable(failure.gatewayName)] as const] : []),
    ['Where', hop === 'client' && status !== 0 ? REFUSED : (HOPS[hop] ?? printable(hop))],
    // Gateways of earlier versions give no cause besides the code.
    ['Why', cause === code ? printable(code) : `${printable(cause)} (${printable(code)})`],
    ['Next', printable(remedy)],
    ['Client', `${printable(client)}${identity === null ? '' : `, identified as ${printable(identity)}`}`],
    ...(decision === '' || decision === code ? [] : [['Access', printable(decision)] as const]),
    ['Times', timesText(failure.timingsMs)],
    ...(traceId === null ? [] : [['Trace', printable(traceId)] as const]),
  ];
  return (
    `${printable(method)} ${printable(host + path)} to ${share} ${outcome}.\n\n` +
    lines.map(([name, value]) => `${name.padEnd(9)}${value}\n`).join('')
  );
}

function shareText(token: string | null): string {
  return token === null ? 'a deleted share' : `the share ${printable(token)}`;
}

export function timesText(timings: FailureAnswer['timingsMs']): string {
  const { decided, circuit, firstByte, done } = timings;
  const steps: (readonly [string, number | null])[] = [
    ['decided', decided],
    ['circuit', circuit],
    ['first byte', firstByte],
    ['over', done],
  ];
  return steps
    .map(([name, ms]) => (ms === null ? `no ${name}` : `${name} after ${ms.toFixed(1)} ms`))
    .join(', ');
}
